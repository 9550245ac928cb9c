/* SPDX-License-Identifier: MIT */
/* `--technique auto` on whole clusters under virtual time: never more than a tenth slower than the best technique. */
#include "common/config/run_spec.h"
#include "common/machine/probe.h"
#include "common/predict/choose.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "deploy/simulate/virtual/cluster.h"
#include "supermaster/choose.h"
#include "supermaster/ledger.h"
#include "supermaster/supermaster.h"
#include "tests/cluster/contest.h"
#include "tests/lib/cluster.h"
#include "tests/lib/suite.h"
#include "worker/kernels/synthetic.h"

#define WORSE_MAX 1.1

static const double unequal[] = {1, 2, 4, 1, 2, 4};

static const enum synthetic_distribution distributions[] = {
    SYNTHETIC_CONSTANT, SYNTHETIC_INCREASING,  SYNTHETIC_DECREASING,
    SYNTHETIC_GAUSSIAN, SYNTHETIC_EXPONENTIAL, SYNTHETIC_BIMODAL,
};
enum { DISTRIBUTIONS = sizeof distributions / sizeof *distributions };

static void check(const struct contest *contest)
{
    const struct technique *best = NULL, *chosen = NULL;
    double least = contest_best_seconds(contest, &best), taken = contest_seconds(contest, "auto", &chosen);
    ck_assert_msg(taken <= WORSE_MAX * least, "distribution %d, %u masters, latency %u: %s takes %g s, %s %g s",
                  contest->distribution, contest->masters, (unsigned)contest->latency_ns, chosen->name, taken,
                  best->name, least);
}

START_TEST(auto_is_near_the_best)
{
    bool hierarchical = _i % 2 == 1; /* with dear messages; the central topology with cheap ones */
    for (int equal = 0; equal <= 1; equal++) {
        const struct contest contest = {
            .name = "auto",
            .distribution = distributions[_i / 2],
            .spread = 0.8,
            .iterations = 20000, /* so many that chance decides little */
            .mean_us = 100,
            .masters = hierarchical ? 2 : 0,
            .workers = 6,
            .speeds = equal ? NULL : unequal,
            .latency_ns = hierarchical ? 50000 : 5000,
            .service_ns = hierarchical ? 10000 : 1000,
        };
        check(&contest);
    }
}
END_TEST

START_TEST(auto_runs_every_loop)
{
    const uint64_t loops[] = {0, 1, 2, 5, 100};
    for (size_t n = 0; n < sizeof loops / sizeof *loops; n++)
        for (unsigned workers = 1; workers <= 6; workers += 5) {
            const struct contest contest = {
                .name = "auto",
                .iterations = loops[n],
                .mean_us = 100,
                .masters = workers > 1 ? (unsigned)(n % 3) : 0,
                .workers = workers,
                .latency_ns = 5000,
                .service_ns = 1000,
            };
            contest_seconds(&contest, "auto", NULL);
        }
}
END_TEST

/* A worker that turned slow in the first time step counts as what it was, not as its probe said. */
START_TEST(another_decision_goes_by_the_chunks)
{
    const struct virtual_config config = {
        .masters = (unsigned)_i,
        .workers = 4,
        .technique = "auto",
        .spec.min_chunk = 1,
        .spec.recall = RUN_RECALL_OFF, /* with it static would be predicted to be as good */
        .count = 800000,
        .step_iterations = 400000,
        .spec.power = RUN_POWER_MEASURE,
        .latency_ns = 1000,
        .slow_worker = 0,
        .slow_at_ns = 15000000, /* after the probes */
        .slow_factor = 5,
    };
    struct virtual_result result;
    struct virtual_cluster *cluster = cluster_ran(&config, &result);
    ck_assert_int_eq(result.status, 0);
    const struct chooser *chooser = result.supermaster->technique.chooser;
    ck_assert_uint_eq(chooser->choice.times, 2);
    ck_assert_double_gt(chooser->mean_s[0], 3e-6);
    ck_assert_double_eq_tol(chooser->mean_s[1], 1e-6, 1e-7);
    /* static, at an equal pace of all: 0.1 */
    ck_assert_double_gt(chooser->choice.candidates[0].predicted_s, 2 * 0.1);
    virtual_free(cluster);
}
END_TEST

static double uneven(void *context, uint64_t iteration)
{
    (void)context;
    return iteration % 7 == 0 ? 20000 : 2000;
}

/* Nothing is probed: the loop begins one by one, and finished chunks decide, several times. */
START_TEST(finished_chunks_decide_where_none_is_probed)
{
    struct virtual_config config = {
        .masters = (unsigned)_i,
        .workers = 4,
        .spec = {.min_chunk = 1, .refill_chunks = 1, .threads = 1, .power = RUN_POWER_EQUAL},
        .count = 20000,
        .latency_ns = 20000,
        .service_ns = 10000,
        .cost_ns = uneven,
        .no_speculation = true,
    };
    struct virtual_result result;
    struct error none;
    ck_assert_int_eq(run_spec_set_technique(&config.spec, "auto", &none), 0);
    config.spec.chosen_late = true;
    run_spec_hand_out_singly(&config.spec);
    sched_spec_parse(&config.spec.thread_technique, RUN_THREAD_TECHNIQUE, &none);
    struct virtual_cluster *cluster = cluster_ran(&config, &result);
    const struct supermaster *supermaster = result.supermaster;
    ck_assert_int_eq(result.status, 0);
    ck_assert_uint_eq(supermaster->ledger.done, config.count);
    ck_assert_uint_ge(supermaster->technique.chooser->choice.times, 1);
    ck_assert_uint_eq(supermaster->speeds.levels[0].count, 0);
    ck_assert_uint_lt(supermaster->cut.chunks, config.count / 2); /* a message costs more than an iteration */
    virtual_free(cluster);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("auto");
    TCase *all = tcase_create("auto");
    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, auto_is_near_the_best, 0, 2 * DISTRIBUTIONS);
    tcase_add_test(all, auto_runs_every_loop);
    tcase_add_loop_test(all, another_decision_goes_by_the_chunks, 0, 3);
    tcase_add_loop_test(all, finished_chunks_decide_where_none_is_probed, 0, 3);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
