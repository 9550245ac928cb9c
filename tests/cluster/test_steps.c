/* SPDX-License-Identifier: MIT */
/* Time steps: none begins before the one before is done, in every topology, with every technique, whatever fails; and
 * what is learned in one counts in the next. */
#include "common/config/run_spec.h"
#include "common/metrics/report.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "deploy/simulate/virtual/cluster.h"
#include "supermaster/ledger.h"
#include "supermaster/supermaster.h"
#include "tests/lib/cluster.h"
#include "tests/lib/suite.h"

enum { EACH = 500, STEPS = 6, COUNT = EACH * STEPS, WORKERS = 4 };

static struct virtual_config config_of(unsigned masters, const char *technique)
{
    return (struct virtual_config){
        .masters = masters,
        .workers = WORKERS,
        .technique = technique,
        .count = COUNT,
        .step_iterations = EACH,
        .steps_dependent = true,
        .collect = true,
        .spec.ask_ahead = ASK_AHEAD_AUTO,
        .latency_ns = 1000,
        .service_ns = 200,
    };
}

static void assert_complete(const struct virtual_result *result)
{
    ck_assert_int_eq(result->status, 0);
    ck_assert_uint_eq(result->too_early, 0);
    ck_assert_uint_eq(result->wrong, 0);
    ck_assert_uint_eq(result->supermaster->ledger.done, COUNT);
    ck_assert_uint_eq(result->supermaster->ledger.digest, virtual_checksum(0, COUNT));
}

START_TEST(no_step_begins_too_early)
{
    size_t count;
    const struct technique *const *techniques = sched_techniques(&count);
    for (unsigned masters = 0; masters <= 2; masters++)
        for (size_t i = 0; i < count; i++) {
            struct virtual_config config = config_of(masters, techniques[i]->name);
            struct virtual_result result;
            config.spec.power = RUN_POWER_MEASURE;
            struct virtual_cluster *cluster = cluster_ran(&config, &result);
            assert_complete(&result);
            for (unsigned s = 0; s < STEPS; s++) {
                const struct report_step *step = &result.supermaster->steps.list[s];
                uint64_t cut = 0;
                for (unsigned w = 0; w < WORKERS; w++)
                    cut += step->cut[w];
                ck_assert_uint_eq(cut, EACH);
                ck_assert(step->elapsed_s > 0 && step->chunks > 0);
            }
            virtual_free(cluster);
        }
}
END_TEST

/* The last part of the loop may be shorter than a step. */
START_TEST(a_step_may_be_cut_off)
{
    struct virtual_config config = config_of(1, "fac2");
    struct virtual_result result;
    config.count = 2 * EACH + 7;
    struct virtual_cluster *cluster = cluster_ran(&config, &result);
    ck_assert_int_eq(result.status, 0);
    ck_assert_uint_eq(result.supermaster->steps.count, 3);
    ck_assert_uint_eq(result.supermaster->ledger.done, config.count);
    ck_assert_uint_eq(result.too_early, 0);
    virtual_free(cluster);
}
END_TEST

START_TEST(what_is_lost_in_a_step_is_done_in_it)
{
    const struct virtual_fault faults[] = {{.type = VIRTUAL_KILL, .rank = 3, .at_ns = 400000},
                                           {.type = VIRTUAL_KILL, .rank = 1, .at_ns = 700000}};
    for (unsigned masters = 0; masters <= 2; masters += 2) {
        struct virtual_config config = config_of(masters, "dfss");
        struct virtual_result result;
        config.faults = faults;
        config.fault_count = masters > 0 ? 2 : 1;
        config.detect_ns = 1000;
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        assert_complete(&result);
        ck_assert_uint_eq(result.killed, config.fault_count);
        virtual_free(cluster);
    }
}
END_TEST

START_TEST(a_run_is_resumed_in_its_step)
{
    struct virtual_config config = config_of(2, "gss");
    struct virtual_result result;
    struct ranges done = {0};
    config.journal = true;
    config.drain_at_ns = 350000;
    struct virtual_cluster *first = cluster_ran(&config, &result);
    uint64_t before = result.supermaster->ledger.done;
    ck_assert_int_eq(result.status, EXIT_STATUS_DRAINED);
    ck_assert(before > EACH && before < COUNT && before % EACH != 0);
    for (size_t i = 0; i < ranges_length(result.journalled); i++) {
        const struct range *range = ranges_at(result.journalled, i);
        ck_assert_int_eq(ranges_add(&done, range->first, range->count, NULL), 0);
    }
    config.drain_at_ns = 0;
    config.masters = 0;
    config.done = &done;
    config.done_digest = result.journalled_digest;
    virtual_free(first);
    struct virtual_cluster *second = cluster_ran(&config, &result);
    ck_assert_int_eq(result.status, 0);
    ck_assert_uint_eq(result.too_early, 0);
    ck_assert_uint_eq(result.supermaster->ledger.digest, virtual_checksum(0, COUNT));
    ck_assert_uint_eq(result.supermaster->steps.list[0].chunks, 0);
    virtual_free(second);
    ranges_fini(&done);
}
END_TEST

static enum virtual_outcome fails_at_700(void *context, unsigned rank, uint64_t iteration)
{
    (void)context, (void)rank;
    return iteration == 700 ? VIRTUAL_FAILS : VIRTUAL_WORKS;
}

START_TEST(a_chain_ends_with_a_step_that_is_not_complete)
{
    for (unsigned steps_dependent = 0; steps_dependent <= 1; steps_dependent++) {
        struct virtual_config config = config_of(1, "fac2");
        struct virtual_result result;
        config.steps_dependent = steps_dependent;
        config.outcome = fails_at_700;
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        const struct supermaster *supermaster = result.supermaster;
        ck_assert_int_eq(result.status, steps_dependent ? EXIT_STATUS_FAILED : EXIT_STATUS_TASKS);
        ck_assert_uint_eq(supermaster->ledger.done, steps_dependent ? 2 * EACH - 1 : COUNT - 1);
        ck_assert_uint_eq(result.too_early, 0);
        if (steps_dependent)
            ck_assert_str_eq(supermaster->failure.text,
                             "time step 1 is not complete, and the one after it needs its results");
        virtual_free(cluster);
    }
}
END_TEST

/* A worker that becomes slow in the middle gets less in the steps that follow. */
START_TEST(a_slow_worker_gets_less_in_the_next_steps)
{
    static const char *const learning[] = {"awf", "awf-b", "awf-c", "awf-d", "awf-e", "af"};
    for (unsigned masters = 0; masters <= 1; masters++)
        for (unsigned i = 0; i < sizeof learning / sizeof learning[0]; i++) {
            struct virtual_config config = config_of(masters, learning[i]);
            struct virtual_result result;
            config.slow_worker = 1;
            config.slow_at_ns = 300000; /* in the third step */
            config.slow_factor = 4;
            struct virtual_cluster *cluster = cluster_ran(&config, &result);
            assert_complete(&result);
            const struct report_step *steps = result.supermaster->steps.list;
            ck_assert_msg(steps[STEPS - 1].cut[1] * 10 < steps[1].cut[1] * 7, "%s, %u masters: %llu, then %llu",
                          learning[i], masters, (unsigned long long)steps[1].cut[1],
                          (unsigned long long)steps[STEPS - 1].cut[1]);
            virtual_free(cluster);
        }
}
END_TEST

static double ten_us(void *context, uint64_t iteration)
{
    (void)context, (void)iteration;
    return 10000;
}

/* Iterations of 10 us on workers that are alike: what is asked for at the end of a step does not make some of them get
 * more than the others at the beginning of the next. */
START_TEST(steps_are_balanced)
{
    static const char *const techniques[] = {"static", "gss", "tss", "fac2", "dfss", "dtss", "ss"};
    for (unsigned masters = 0; masters <= 2; masters += 2)
        for (unsigned i = 0; i < sizeof techniques / sizeof *techniques; i++) {
            struct virtual_config config = config_of(masters, techniques[i]);
            struct virtual_result result;
            config.cost_ns = ten_us;
            struct virtual_cluster *cluster = cluster_ran(&config, &result);
            assert_complete(&result);
            double elapsed = (double)(result.supermaster->last_commit_ns - result.supermaster->cut.first_ns);
            double stretch = elapsed / (COUNT * 10000.0 / WORKERS);
            ck_assert_msg(stretch < 1.1, "%u masters, %s: %.3f of the time", masters, techniques[i], stretch);
            virtual_free(cluster);
        }
}
END_TEST

START_TEST(the_technique_is_chosen_anew_for_each_step)
{
    struct virtual_config config = config_of(0, "auto");
    struct virtual_result result;
    config.spec.power = RUN_POWER_MEASURE;
    struct virtual_cluster *cluster = cluster_ran(&config, &result);
    assert_complete(&result);
    virtual_free(cluster);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("steps");
    TCase *all = tcase_create("steps");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, no_step_begins_too_early);
    tcase_add_test(all, a_step_may_be_cut_off);
    tcase_add_test(all, what_is_lost_in_a_step_is_done_in_it);
    tcase_add_test(all, a_run_is_resumed_in_its_step);
    tcase_add_test(all, a_chain_ends_with_a_step_that_is_not_complete);
    tcase_add_test(all, steps_are_balanced);
    tcase_add_test(all, a_slow_worker_gets_less_in_the_next_steps);
    tcase_add_test(all, the_technique_is_chosen_anew_for_each_step);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
