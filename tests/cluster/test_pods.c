/* SPDX-License-Identifier: MIT */
/* Pods: masters with their workers that join while others compute, and are lost again. */
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "deploy/simulate/virtual/cluster.h"
#include "deploy/simulate/virtual/inside.h"
#include "supermaster/ledger.h"
#include "supermaster/supermaster.h"
#include "tests/lib/cluster.h"
#include "tests/lib/suite.h"

#define MS UINT64_C(1000000)

enum { COUNT = 4000, WORKERS = 4 };

static const struct virtual_pod doubling[] = {{200 * MS, WORKERS, 1}};
static const struct virtual_pod several[] = {
    {0, 3, 1}, {50 * MS, 1, 2}, {100 * MS, 8, 0.5}, {101 * MS, 2, 1}, {100000 * MS, 4, 1}};

static double one_ms(void *context, uint64_t iteration)
{
    (void)context, (void)iteration;
    return 1e6;
}

static struct virtual_config config_of(unsigned masters, const char *technique, const struct virtual_pod *pods,
                                       unsigned pod_count)
{
    struct virtual_config config = cluster_plain(masters, masters > 0 ? WORKERS : 0, technique, COUNT);
    config.collect = config.in_order = true;
    config.pods = pods;
    config.pod_count = pod_count;
    config.is_elastic = true;
    config.spec.ask_ahead = ASK_AHEAD_AUTO;
    config.cost_ns = one_ms;
    return config;
}

static void assert_complete(const struct virtual_result *result)
{
    ck_assert_int_eq(result->status, EXIT_STATUS_DONE);
    ck_assert_uint_eq(result->wrong, 0);
    ck_assert_uint_eq(result->supermaster->ledger.done, COUNT);
    ck_assert_uint_eq(result->supermaster->ledger.digest, virtual_checksum(0, COUNT));
}

/* Four workers do 800 iterations in 200 ms, eight the rest in 400. */
START_TEST(a_pod_that_joins_takes_its_share)
{
    size_t count;
    const struct technique *const *techniques = sched_techniques(&count);
    for (size_t i = 0; i < count; i++) {
        struct virtual_config config = config_of(1, techniques[i]->name, doubling, 1);
        struct virtual_result result;
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        assert_complete(&result);
        ck_assert_uint_eq(result.supermaster->losses.count, 0);
        ck_assert_msg(result.end_ns < 640 * MS, "%s: %.1f ms", techniques[i]->name, (double)result.end_ns / 1e6);
        virtual_free(cluster);
    }
}
END_TEST

/* With and without masters at first, whatever measures the speeds; one comes too late. */
START_TEST(pods_may_join_a_launch_without_workers)
{
    static const enum run_power powers[] = {RUN_POWER_EQUAL, RUN_POWER_MEASURE};
    for (unsigned masters = 0; masters <= 2; masters++)
        for (unsigned i = 0; i < 2; i++) {
            struct virtual_config config = config_of(masters, "fac2", several, 5);
            struct virtual_result result;
            config.spec.power = powers[i];
            config.order_seed = 1 + i;
            struct virtual_cluster *cluster = cluster_ran(&config, &result);
            assert_complete(&result);
            ck_assert_uint_eq(result.supermaster->config.topology->workers, (masters > 0 ? WORKERS : 0) + 14);
            virtual_free(cluster);
        }
}
END_TEST

/* There is room for more workers than those that come: a larger pod was about to, and has not. */
START_TEST(room_that_nobody_took_is_kept)
{
    struct virtual_config config = config_of(1, "fac2", doubling, 1);
    struct virtual_cluster *cluster = cluster_new(&config);
    ck_assert_int_eq(supermaster_reserve(&cluster->supermaster, 10 * WORKERS), 0);
    const struct virtual_result result = virtual_run(cluster);
    assert_complete(&result);
    ck_assert_uint_eq(result.supermaster->config.topology->workers, 2 * WORKERS);
    virtual_free(cluster);
}
END_TEST

/* All ranks of pods are killed, at any moment. Nothing is lost or doubled, and the others go on. */
START_TEST(a_pod_may_be_lost)
{
    for (uint64_t at = 1; at < 400; at += 7)
        for (unsigned only_master = 0; only_master < 2; only_master++) {
            struct virtual_fault faults[1 + WORKERS];
            struct virtual_config config = config_of(1, "gss", doubling, 1);
            struct virtual_result result;
            const unsigned first = 2 + WORKERS;
            for (unsigned i = 0; i <= WORKERS; i++)
                faults[i] = (struct virtual_fault){
                    .type = VIRTUAL_KILL, .rank = first + i, .at_ns = (200 + at) * MS + at * 1000};
            config.faults = faults;
            config.fault_count = only_master ? 1 : 1 + WORKERS;
            config.fault_seed = at;
            config.spec.power = at % 2 != 0 ? RUN_POWER_MEASURE : RUN_POWER_EQUAL;
            struct virtual_cluster *cluster = cluster_ran(&config, &result);
            assert_complete(&result);
            virtual_free(cluster);
        }
}
END_TEST

/* It gives back what it has not begun: no loss, and nothing is computed twice. */
START_TEST(a_pod_may_leave)
{
    for (uint64_t at = 1; at < 300; at += 7) {
        const struct virtual_pod pods[] = {{100 * MS, WORKERS, 1, (100 + at) * MS + at * 1000}};
        struct virtual_config config = config_of(1, at % 2 != 0 ? "gss" : "awf-c", pods, 1);
        struct virtual_result result;
        config.no_speculation = true; /* else the end of the loop may be computed twice */
        config.order_seed = at;
        config.spec.power = at % 3 != 0 ? RUN_POWER_MEASURE : RUN_POWER_EQUAL;
        config.order_seed = at;
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        assert_complete(&result);
        ck_assert_uint_eq(result.supermaster->losses.count, 0);
        ck_assert_uint_eq(result.executed, COUNT);
        ck_assert_uint_eq(result.supermaster->losses.workers_left, WORKERS);
        virtual_free(cluster);
    }
}
END_TEST

static struct virtual_fault problem_of(unsigned rank, uint64_t at_ns)
{
    return (struct virtual_fault){.type = VIRTUAL_PROBLEM, .rank = rank, .at_ns = at_ns};
}

/* The others do what it cannot: no loss, whichever of its ranks has a problem, also where all have one. */
START_TEST(a_pod_that_is_unfit_is_left_out)
{
    const unsigned pod = 2 + WORKERS;
    for (uint64_t at = 0; at < 300; at += 7)
        for (unsigned kind = 0; kind < 3; kind++) { /* the master, a worker, all workers */
            struct virtual_fault faults[WORKERS];
            struct virtual_config config = config_of(1, at % 2 != 0 ? "gss" : "awf-c", doubling, 1);
            struct virtual_result result;
            const uint64_t at_ns = (200 + at) * MS + at * 1000;
            for (unsigned i = 0; i < WORKERS; i++)
                faults[i] = problem_of(pod + (kind == 0 ? 0 : 1 + i), at_ns + i * 300000);
            config.faults = faults;
            config.fault_count = kind == 2 ? WORKERS : 1;
            config.no_speculation = true; /* else the end of the loop may be computed twice */
            config.order_seed = at;
            config.spec.power = at % 3 != 0 ? RUN_POWER_MEASURE : RUN_POWER_EQUAL;
            struct virtual_cluster *cluster = cluster_ran(&config, &result);
            assert_complete(&result);
            ck_assert_uint_eq(result.supermaster->losses.count, 0);
            ck_assert_uint_eq(supermaster_unfit_count(result.supermaster), 1);
            ck_assert_uint_eq(result.supermaster->losses.workers_left, WORKERS);
            virtual_free(cluster);
        }
}
END_TEST

/* A problem of the last ones is one of the run, as is one of the launch. */
START_TEST(nobody_is_left_out_where_nobody_else_is)
{
    const struct virtual_pod two[] = {{0, 2, 1, 0}, {0, 2, 1, 0}};
    const struct virtual_fault faults[] = {problem_of(1, 50 * MS), problem_of(5, 100 * MS)};
    struct virtual_config config = config_of(0, "gss", two, 2);
    struct virtual_result result;
    config.faults = faults;
    config.fault_count = 2;
    struct virtual_cluster *cluster = cluster_ran(&config, &result);
    ck_assert_int_eq(result.status, EXIT_STATUS_FAILED);
    ck_assert_str_eq(result.supermaster->failure.text, "it has a problem");
    ck_assert(supermaster_unfit_count(result.supermaster) == 1 && result.supermaster->failed_rank == 5);
    virtual_free(cluster);
    const struct virtual_fault of_launch = problem_of(2, 300 * MS);
    config = config_of(1, "gss", doubling, 1);
    config.faults = &of_launch;
    config.fault_count = 1;
    cluster = cluster_ran(&config, &result);
    ck_assert(result.status == EXIT_STATUS_FAILED && result.supermaster->failed_rank == 2);
    virtual_free(cluster);
}
END_TEST

/* The first pod is unfit before the second one has come. */
START_TEST(those_that_are_awaited_do_what_an_unfit_pod_cannot)
{
    const struct virtual_pod two[] = {{0, 2, 1, 0}, {200 * MS, 2, 1, 0}};
    const struct virtual_fault fault = problem_of(2, 20 * MS);
    struct virtual_config config = config_of(0, "gss", two, 2);
    struct virtual_result result;
    config.awaited = 2;
    config.faults = &fault;
    config.fault_count = 1;
    struct virtual_cluster *cluster = cluster_ran(&config, &result);
    assert_complete(&result);
    ck_assert_uint_eq(supermaster_unfit_count(result.supermaster), 1);
    virtual_free(cluster);
}
END_TEST

/* For some time there is no worker. */
START_TEST(those_that_come_go_on)
{
    const struct virtual_pod pods[] = {{0, 2, 1, 150 * MS}, {400 * MS, 8, 1, 600 * MS}, {700 * MS, 4, 2, 0}};
    for (unsigned measured = 0; measured < 2; measured++) {
        struct virtual_config config = config_of(0, "fac2", pods, 3);
        struct virtual_result result;
        config.spec.power = measured ? RUN_POWER_MEASURE : RUN_POWER_EQUAL;
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        assert_complete(&result);
        ck_assert_uint_eq(result.supermaster->losses.count, 0);
        ck_assert_uint_eq(result.supermaster->technique.sched.workers, 4);
        virtual_free(cluster);
    }
}
END_TEST

/* Once all have come that are to come, and are lost or have left, the run has failed; before that it waits. */
START_TEST(nobody_is_waited_for_where_all_have_come)
{
    static const struct {
        struct virtual_pod second;
        unsigned faults;
        const char *text; /* NULL: the run is done */
    } ends[] = {{{400 * MS, 2, 1}, 3, "all workers are lost"},
                {{400 * MS, 2, 1}, 0, NULL},
                {{400 * MS, 2, 1, 600 * MS}, 0, "all pods have left"}};
    const struct virtual_fault faults[] = {{.type = VIRTUAL_KILL, .rank = 4, .at_ns = 600 * MS},
                                           {.type = VIRTUAL_KILL, .rank = 5, .at_ns = 600 * MS},
                                           {.type = VIRTUAL_KILL, .rank = 6, .at_ns = 600 * MS}};
    for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++) {
        const struct virtual_pod pods[] = {{0, 2, 1, 150 * MS}, ends[i].second};
        struct virtual_config config = config_of(0, "fac2", pods, 2);
        struct virtual_result result;
        config.awaited = 2;
        config.faults = faults;
        config.fault_count = ends[i].faults;
        config.spec.power = RUN_POWER_EQUAL;
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        ck_assert_int_eq(result.status, ends[i].text != NULL ? EXIT_STATUS_FAILED : EXIT_STATUS_DONE);
        if (ends[i].text != NULL)
            ck_assert_str_eq(result.supermaster->failure.text, ends[i].text);
        virtual_free(cluster);
    }
}
END_TEST

/* Workers double and halve again and again: hardly any of their time is lost. */
START_TEST(efficiency_stays_while_workers_come_and_go)
{
    struct virtual_pod pods[20];
    double worker_s = 0;
    for (unsigned i = 0; i < 20; i++)
        pods[i] = (struct virtual_pod){(20 + 40 * i) * MS, WORKERS, 1, (40 + 40 * i) * MS};
    size_t count;
    const struct technique *const *techniques = sched_techniques(&count);
    for (size_t i = 0; i < count; i++) {
        struct virtual_config config = config_of(1, techniques[i]->name, pods, 20);
        struct virtual_result result;
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        assert_complete(&result);
        const double end_ms = (double)result.end_ns / 1e6;
        worker_s = WORKERS * end_ms;
        for (unsigned p = 0; p < 20; p++) {
            const double from = 20 + 40 * p, to = 40 + 40 * p;
            worker_s += WORKERS * (end_ms < from ? 0 : (end_ms < to ? end_ms : to) - from);
        }
        ck_assert_msg(COUNT >= 0.9 * worker_s, "%s: efficiency %.3f", techniques[i]->name, COUNT / worker_s);
        virtual_free(cluster);
    }
}
END_TEST

/* Results that pods send are written before they count; what cannot be written never does. */
START_TEST(results_that_are_sent_are_written_first)
{
    for (uint64_t failing = 0; failing <= 40; failing += 20) {
        struct virtual_config config = config_of(0, "fac2", several, 4);
        struct virtual_result result;
        config.sends_results = config.journal = true;
        config.spec.retries = 0;
        config.order_seed = 1 + failing;
        config.failing_store = failing;
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        ck_assert_uint_eq(result.journalled_early, 0);
        ck_assert_uint_eq(result.failed_writes, failing > 0);
        if (failing == 0)
            assert_complete(&result);
        else
            ck_assert_int_eq(result.status, EXIT_STATUS_FAILED);
        uint64_t written = 0;
        for (uint64_t i = 0; i < COUNT; i++)
            written += cluster->written[i] > 0;
        ck_assert_uint_le(result.supermaster->ledger.done, written);
        ck_assert_uint_eq(result.supermaster->ledger.done == COUNT, failing == 0);
        virtual_free(cluster);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pods");
    TCase *tcase = tcase_create("pods");
    tcase_add_test(tcase, a_pod_that_joins_takes_its_share);
    tcase_add_test(tcase, pods_may_join_a_launch_without_workers);
    tcase_add_test(tcase, room_that_nobody_took_is_kept);
    tcase_add_test(tcase, a_pod_may_be_lost);
    tcase_add_test(tcase, a_pod_may_leave);
    tcase_add_test(tcase, a_pod_that_is_unfit_is_left_out);
    tcase_add_test(tcase, nobody_is_left_out_where_nobody_else_is);
    tcase_add_test(tcase, those_that_are_awaited_do_what_an_unfit_pod_cannot);
    tcase_add_test(tcase, those_that_come_go_on);
    tcase_add_test(tcase, nobody_is_waited_for_where_all_have_come);
    tcase_add_test(tcase, efficiency_stays_while_workers_come_and_go);
    tcase_add_test(tcase, results_that_are_sent_are_written_first);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
