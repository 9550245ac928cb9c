/* SPDX-License-Identifier: MIT */
/* Masters that compute as well: the same results as by any line-up; a rank that serves and computes looks at messages
 * between its iterations; and where it drops its own worker it goes on serving. */
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/util/error.h"
#include "deploy/simulate/virtual/cluster.h"
#include "supermaster/ledger.h"
#include "supermaster/supermaster.h"
#include "tests/lib/cluster.h"
#include "tests/lib/suite.h"

#define US 1000.0

static double constant_cost(void *context, uint64_t iteration)
{
    (void)iteration;
    return *(double *)context;
}

/* So that requests come at any time. */
static double uneven_cost(void *context, uint64_t iteration)
{
    return *(double *)context * (double)(iteration * 7919 % 97) / 48;
}

static struct virtual_config computing(unsigned masters, unsigned workers, const char *technique, uint64_t count)
{
    struct virtual_config config = cluster_plain(masters, workers, technique, count);
    config.spec.masters_compute = true;
    config.spec.power = RUN_POWER_EQUAL;
    return config;
}

START_TEST(all_is_done_once)
{
    static const char *const techniques[] = {"ss", "gss", "dfss", "static", "awf-c", "af"};
    static double cost_ns = 20 * US;
    for (unsigned i = 0; i < 6 * 3 * 3 * 2; i++) {
        struct virtual_config config = computing(i / 6 % 3, 4 + i % 5, techniques[i % 6], 500);
        struct virtual_result result;
        config.cost_ns = constant_cost;
        config.context = &cost_ns;
        config.collect = i / 54;
        config.slice_iterations = i / 18 % 3 * 5;
        config.spec.break_after = i % 4;
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        ck_assert_int_eq(result.status, EXIT_STATUS_DONE);
        ck_assert_uint_eq(result.supermaster->ledger.digest, virtual_checksum(0, config.count));
        ck_assert_uint_eq(result.executed, config.count);
        ck_assert_uint_eq(result.wrong + result.stored_twice, 0);
        for (unsigned w = 0; w < config.workers; w++)
            ck_assert_uint_gt(result.supermaster->statistics[w].iterations, 0);
        virtual_free(cluster);
    }
}
END_TEST

/* The end of a run of ss with so many iterations between two looks. */
static uint64_t end_ns(uint64_t break_after, double *cost_ns)
{
    struct virtual_config config = computing(0, 8, "css:chunk=20", 4000);
    struct virtual_result result;
    config.cost_ns = uneven_cost;
    config.context = cost_ns;
    config.spec.break_after = break_after;
    config.spec.ask_ahead = ASK_AHEAD_OFF;
    virtual_free(cluster_ran(&config, &result));
    ck_assert_int_eq(result.status, EXIT_STATUS_DONE);
    return result.end_ns;
}

/* Others wait until the master has computed so much, be it that it looks seldom or that its iterations are long. */
START_TEST(others_wait_for_a_look)
{
    double short_ns = 50 * US, long_ns = 1000 * US;
    const uint64_t often = end_ns(1, &short_ns), seldom = end_ns(20, &short_ns);
    ck_assert_uint_gt(seldom, often + often / 10);
    ck_assert_uint_gt(end_ns(1, &long_ns), often * 20 / 2);
    ck_assert_uint_le(end_ns(0, &short_ns), often + often / 50);
}
END_TEST

static bool own_lies(void *context, unsigned rank, uint64_t iteration)
{
    (void)context;
    return rank == 0 && iteration % 10 == 3;
}

/* The supermaster finds out that it computes wrongly, and goes on without computing. */
START_TEST(a_server_drops_its_own_worker)
{
    static double cost_ns = 50 * US;
    struct virtual_config config = cluster_plain(0, 4, "ss", 300);
    struct virtual_result result;
    config.spec.masters_compute = true;
    config.spec.verify = 1;
    config.spec.verify_seed = 1;
    config.spec.verify_action = RUN_VERIFY_DROP_WORKER;
    config.lies = own_lies;
    config.cost_ns = constant_cost;
    config.context = &cost_ns;
    config.collect = true;
    struct virtual_cluster *cluster = cluster_ran(&config, &result);
    ck_assert_int_eq(result.status, EXIT_STATUS_DONE);
    ck_assert_uint_eq(result.wrong, 0);
    ck_assert_uint_eq(result.supermaster->losses.workers_lost, 1);
    ck_assert_uint_eq(result.supermaster->ledger.done, config.count);
    virtual_free(cluster);
}
END_TEST

/* Killed with its own worker: one loss is told, of the master, and the others do its part. */
START_TEST(a_computing_master_is_lost)
{
    static double cost_ns = 50 * US;
    for (unsigned event = 1; event < 60; event += 3) {
        struct virtual_config config = computing(2, 6, "fac2", 400);
        const struct virtual_fault fault = {.type = VIRTUAL_KILL, .rank = 1, .at_event = event};
        struct virtual_result result;
        config.cost_ns = constant_cost;
        config.context = &cost_ns;
        config.faults = &fault;
        config.fault_count = 1;
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        ck_assert_int_eq(result.status, EXIT_STATUS_DONE);
        ck_assert_uint_eq(result.supermaster->ledger.digest, virtual_checksum(0, config.count));
        ck_assert_uint_eq(result.supermaster->losses.masters_lost, result.hits);
        ck_assert_uint_eq(supermaster_loss_count(result.supermaster), result.hits);
        virtual_free(cluster);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("computing");
    TCase *tcase = tcase_create("runs");
    tcase_add_test(tcase, all_is_done_once);
    tcase_add_test(tcase, others_wait_for_a_look);
    tcase_add_test(tcase, a_server_drops_its_own_worker);
    tcase_add_test(tcase, a_computing_master_is_lost);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
