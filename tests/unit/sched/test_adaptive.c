/* SPDX-License-Identifier: MIT */
/* The techniques that learn, on a made-up cluster: they find the workers' speeds, follow a change, keep what they know
 * over time steps, and stand whatever is fed back. */
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/random.h"
#include "tests/lib/suite.h"
#include "tests/unit/sched/cluster.h"
#include "tests/unit/sched/loops.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

static const char *const learning[] = {"awf", "awf-b", "awf-c", "awf-d", "awf-e", "af"};
enum { LEARNING = sizeof learning / sizeof *learning, FIRST_WITHIN_A_LOOP = 1 };

/* Deviation over mean of an iteration's time: constant, and irregular. */
static const double spreads[] = {0, 0.5};
enum { SPREADS = sizeof spreads / sizeof *spreads };

static bool is_per_batch(const char *spec)
{
    return strncmp(spec, "awf-b", 5) == 0 || strncmp(spec, "awf-d", 5) == 0;
}

static void set_speeds_1_2_4(struct cluster *cluster)
{
    for (unsigned j = 0; j < cluster->sched->workers; j++)
        cluster->workers[j].speed = 1000 * (1 << j % 3);
}

/* Whether all chunks of the first batches are fed back: the slowest worker's first chunk may outlast them all. */
static bool are_measured(const struct cluster *cluster, uint64_t chunks)
{
    for (unsigned j = 0; j < cluster->sched->workers; j++)
        if (cluster->workers[j].busy && cluster->workers[j].step < chunks)
            return false;
    return cluster->sched->step >= chunks || !cluster_is_busy(cluster);
}

START_TEST(weights_are_learned_in_four_batches)
{
    for (size_t s = 0; s < SPREADS; s++)
        for (unsigned workers = 3; workers <= 48; workers *= 2) {
            struct sched sched = loop_of(learning[_i], 1000000, workers);
            struct cluster cluster;
            cluster_init(&cluster, &sched, spreads[s], workers);
            set_speeds_1_2_4(&cluster);
            while (!are_measured(&cluster, 4 * workers))
                cluster_step(&cluster);
            ck_assert_msg(cluster_error(&cluster) < 0.05, "%s P=%u spread %g: off by %g", learning[_i], workers,
                          spreads[s], cluster_error(&cluster));
            sched_fini(&sched);
        }
}
END_TEST

/* The worker's speed falls to a third while it computes a chunk (`part` of which is still done at the old speed), or
 * with the next chunk. Counts from the first chunk that is slow as a whole. */
struct slowing {
    struct cluster cluster;
    unsigned worker;
};

static void slow_down(struct slowing *slowing, double part)
{
    struct cluster_worker *worker = &slowing->cluster.workers[slowing->worker];
    worker->speed /= 3;
    if (part > 0) {
        double rest = (1 - part) * worker->feedback.compute_s;
        worker->feedback.compute_s += 2 * rest;
        /* Of pieces some of which take three times as long; for one iteration times the root of a piece's size. */
        double piece = (double)worker->feedback.iterations / CLUSTER_PIECES;
        worker->feedback.deviation_s = 2 / (3 * worker->speed) * sqrt(part * (1 - part) * piece);
        worker->free_at += 2 * rest;
    }
}

/* Until the worker has asked again after `wanted` slow measurements, if need be in the next time steps. */
static void run_until_measured(struct slowing *slowing, unsigned wanted, bool per_batch)
{
    struct cluster *cluster = &slowing->cluster;
    struct cluster_worker *worker = &cluster->workers[slowing->worker];
    uint64_t slow = worker->chunks + (worker->busy ? 1 : 0), batch = 0;
    for (unsigned measured = 0; measured < wanted;) {
        uint64_t fed = worker->chunks, of = worker->step / cluster->sched->workers;
        struct error error;
        if (!cluster_is_busy(cluster)) {
            ck_assert_int_eq(sched_again(cluster->sched, cluster->sched->iterations, &error), 0);
            cluster_next_loop(cluster);
            batch = 0;
        }
        cluster_step(cluster);
        if (worker->chunks > fed && fed >= slow && !(per_batch && batch == of + 1)) {
            measured++;
            batch = of + 1;
        }
    }
}

/* `after`: chunks of the worker until it slows down; `part`: of that chunk that is done at the old speed (0: all). */
static void check_follows(const char *spec, double spread, unsigned after, double part)
{
    double powers[12];
    for (unsigned j = 0; j < 12; j++)
        powers[j] = 1 << j % 3;
    struct sched_config config = {.iterations = 100000000, .workers = 12, .powers = powers};
    struct sched sched = loop_with(spec, &config);
    struct slowing slowing = {.worker = 5};
    cluster_init(&slowing.cluster, &sched, spread, after);
    set_speeds_1_2_4(&slowing.cluster);
    while (slowing.cluster.workers[5].chunks < after)
        cluster_step(&slowing.cluster);
    slow_down(&slowing, part);
    run_until_measured(&slowing, 2, is_per_batch(spec));
    double truth = cluster_true_weight(&slowing.cluster, 5), weight = sched_weight(&sched, 5);
    ck_assert_msg(fabs(weight - truth) < 0.06 * truth, "%s spread %g after %u part %g: weight %g, true %g", spec,
                  spread, after, part, weight, truth);
    sched_fini(&sched);
}

START_TEST(a_worker_that_slows_down_is_followed)
{
    const double parts[] = {0, 0.1, 0.5, 0.9};
    for (size_t s = 0; s < SPREADS; s++)
        for (unsigned after = 1; after < 9; after++)
            for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
                check_follows(learning[_i], spreads[s], after, parts[p]);
}
END_TEST

/* Without it the published average is far behind: what the restart is for. */
START_TEST(the_published_average_follows_slowly)
{
    char spec[64];
    snprintf(spec, sizeof spec, "%s:restart=0", learning[_i]);
    struct sched sched = loop_of(spec, 100000000, 12);
    struct slowing slowing = {.worker = 5};
    cluster_init(&slowing.cluster, &sched, 0, 1);
    set_speeds_1_2_4(&slowing.cluster);
    while (slowing.cluster.workers[5].chunks < 4)
        cluster_step(&slowing.cluster);
    slow_down(&slowing, 0);
    run_until_measured(&slowing, 2, is_per_batch(spec));
    ck_assert_double_gt(sched_weight(&sched, 5), 1.3 * cluster_true_weight(&slowing.cluster, 5));
    sched_fini(&sched);
}
END_TEST

START_TEST(learning_outlives_the_time_step)
{
    struct sched sched = loop_of(learning[_i], 100000, 6);
    struct cluster cluster;
    struct error error;
    cluster_init(&cluster, &sched, 0.1, 1);
    set_speeds_1_2_4(&cluster);
    for (unsigned step = 0; step < 4; step++) {
        if (step > 0)
            ck_assert_msg(cluster_error(&cluster) < 0.05, "%s: off by %g", learning[_i], cluster_error(&cluster));
        while (cluster_is_busy(&cluster))
            cluster_step(&cluster);
        ck_assert_uint_eq(sched.remaining, 0);
        ck_assert_int_eq(sched_again(&sched, 100000 + step, &error), 0);
        ck_assert_uint_eq(sched.remaining, 100000 + step);
        cluster_next_loop(&cluster);
    }
    sched_fini(&sched);
}
END_TEST

START_TEST(awf_changes_its_weights_between_time_steps_only)
{
    struct sched sched = loop_of("awf", 100000, 3);
    struct cluster cluster;
    struct error error;
    cluster_init(&cluster, &sched, 0, 1);
    set_speeds_1_2_4(&cluster);
    while (cluster_is_busy(&cluster)) {
        cluster_step(&cluster);
        for (unsigned j = 0; j < 3; j++)
            ck_assert_double_eq(sched_weight(&sched, j), 1);
    }
    ck_assert_int_eq(sched_again(&sched, 100000, &error), 0);
    ck_assert_double_lt(cluster_error(&cluster), 1e-9);
    ck_assert_uint_eq(sched_next(&sched, 0), 7143); /* ceil(100000/6) * 3/7 */
    sched_fini(&sched);
}
END_TEST

static void finish(struct sched *sched, unsigned worker, double seconds)
{
    struct sched_feedback feedback = {
        .worker = worker, .chunks = 1, .iterations = 100, .compute_s = seconds, .samples = 8};
    sched_feedback(sched, &feedback);
}

/* Two chunks of a batch are one measurement, which counts when the worker asks again in a later one. */
START_TEST(awf_b_and_awf_d_measure_a_batch_and_not_a_chunk)
{
    const char *const specs[] = {"awf-b:restart=0", "awf-d:restart=0"};
    for (int s = 0; s < 2; s++) {
        struct sched sched = loop_of(specs[s], 1000000, 4);
        const unsigned order[] = {0, 0, 1, 2};
        for (unsigned i = 0; i < 3; i++) {
            sched_next(&sched, order[i]);
            finish(&sched, order[i], 1 + 2 * i);
            for (unsigned j = 0; j < 4; j++)
                ck_assert_double_eq(sched_weight(&sched, j), 1);
        }
        sched_next(&sched, order[3]); /* the batch is full: now at once */
        finish(&sched, order[3], 1);
        for (unsigned j = 0; j < 2; j++)
            sched_next(&sched, j); /* the next */
        double paces[] = {(1 + 3) / 200., 5 / 100., 1 / 100.}, sum = 0;
        for (unsigned j = 0; j < 3; j++)
            sum += 1 / paces[j];
        for (unsigned j = 0; j < 3; j++)
            ck_assert_double_eq_tol(sched_weight(&sched, j), 3 / paces[j] / sum, 1e-12);
        sched_fini(&sched);
    }
}
END_TEST

/* Workers wait 1 and 3 ms for chunks that they compute in as long as each other. */
START_TEST(the_total_time_counts_for_awf_d_and_awf_e)
{
    const char *const specs[] = {"awf-b", "awf-c", "awf-d", "awf-e"};
    for (int s = 0; s < 4; s++) {
        struct sched sched = loop_of(specs[s], 1000000, 2);
        struct sched_feedback feedback = {.chunks = 1, .iterations = 100, .compute_s = 0.003, .samples = 8};
        for (unsigned round = 0; round < 3; round++)
            for (feedback.worker = 0; feedback.worker < 2; feedback.worker++) {
                feedback.wait_s = feedback.worker == 0 ? 0.001 : 0.003;
                sched_next(&sched, feedback.worker);
                sched_feedback(&sched, &feedback);
            }
        double expected = s < 2 ? 1 : 2 * (1 / 0.004) / (1 / 0.004 + 1 / 0.006);
        ck_assert_double_eq_tol(sched_weight(&sched, 0), expected, 1e-9);
        sched_fini(&sched);
    }
}
END_TEST

/* Of the workers that are not measured the powers speak. */
START_TEST(powers_hold_until_a_worker_is_measured)
{
    const double powers[] = {1, 2, 3, 2};
    for (unsigned i = 0; i < LEARNING - 1; i++) {
        struct sched_config config = {.iterations = 1000000, .workers = 4, .powers = powers};
        struct sched sched = loop_with(learning[i], &config);
        struct error error;
        for (unsigned j = 0; j < 4; j++)
            ck_assert_double_eq_tol(sched_weight(&sched, j), powers[j] / 2, 1e-12);
        struct sched_feedback feedback = {.worker = 1, .chunks = 1, .iterations = 100, .compute_s = 1, .samples = 8};
        sched_feedback(&sched, &feedback);
        feedback.worker = 3;
        feedback.compute_s = 3;
        sched_feedback(&sched, &feedback);
        ck_assert_int_eq(sched_again(&sched, 1000000, &error), 0); /* settles all */
        ck_assert_double_eq_tol(sched_weight(&sched, 0), 0.5, 1e-12);
        ck_assert_double_eq_tol(sched_weight(&sched, 2), 1.5, 1e-12);
        ck_assert_double_eq_tol(sched_weight(&sched, 1), 2 * 0.75, 1e-12); /* both together 2, as 3 to 1 */
        ck_assert_double_eq_tol(sched_weight(&sched, 3), 2 * 0.25, 1e-12);
        sched_fini(&sched);
    }
}
END_TEST

/* fac's chunk for these R, mean 1 and deviation s, in a later batch. */
static double factoring_chunk(double remaining, unsigned workers, double s)
{
    double b = workers * s / (2 * sqrt(remaining));
    return remaining / (workers * (2 + b * b + b * sqrt(b * b + 4)));
}

/* With a small deviation af takes the P-th of what remains where fac takes the 2P-th, which is at most twice as much;
 * once all workers are measured it is never less than half. */
START_TEST(af_with_equal_workers_stays_near_factoring)
{
    struct sched sched = loop_of("af", 10000000, 16);
    struct cluster cluster;
    cluster_init(&cluster, &sched, 0.1, 4);
    while (sched.step < 32)
        cluster_step(&cluster);
    while (sched.remaining > 1000) {
        double chunk = factoring_chunk((double)sched.remaining, 16, 0.1);
        unsigned j = cluster_step(&cluster);
        double ratio = (double)cluster.workers[j].feedback.iterations / chunk;
        ck_assert_msg(ratio > 0.5 && ratio < 2.1, "%" PRIu64 " remain: %g times as many", sched.remaining, ratio);
    }
    sched_fini(&sched);
}
END_TEST

START_TEST(af_keeps_back_more_the_more_the_iterations_vary)
{
    uint64_t previous = UINT64_MAX;
    for (double deviation = 0; deviation < 20; deviation = deviation * 2 + 0.5) {
        struct sched sched = loop_of("af", 1000000, 4);
        struct sched_feedback feedback = {
            .chunks = 1, .iterations = 100, .compute_s = 100, .deviation_s = deviation, .samples = 8};
        for (feedback.worker = 0; feedback.worker < 4; feedback.worker++)
            sched_feedback(&sched, &feedback);
        uint64_t chunk = sched_next(&sched, 0);
        ck_assert_uint_lt(chunk, previous);
        previous = chunk;
        sched_fini(&sched);
    }
}
END_TEST

/* mu, sigma and h from the first batch: equal workers, irregular iterations. */
START_TEST(measured_values_are_the_true_ones)
{
    const char *const specs[] = {"fac", "tap", "fsc"};
    for (size_t s = 0; s < 3; s++) {
        struct sched_config config = {.iterations = 1000000, .workers = 16, .overhead_s = 2e-5};
        struct sched sched = loop_with(specs[s], &config);
        struct cluster cluster;
        struct sched_value_used used[SCHED_PARAMS_MAX];
        cluster_init(&cluster, &sched, 0.3, s);
        for (unsigned i = 0; i < 40; i++)
            cluster_step(&cluster);
        ck_assert_uint_eq(sched_values_used(&sched, used), 2);
        ck_assert_str_eq(used[0].name, s < 2 ? "mu" : "h");
        ck_assert_double_eq_tol(used[0].value, s < 2 ? 1e-3 : 2e-5, 2e-5);
        ck_assert_str_eq(used[1].name, "sigma");
        ck_assert_double_eq_tol(used[1].value, 3e-4, 4e-5);
        while (cluster_is_busy(&cluster))
            cluster_step(&cluster);
        sched_fini(&sched);
    }
}
END_TEST

/* What is measured exactly gives the chunks of the values as given, from the next batch on. */
START_TEST(measured_values_are_used_as_given_ones)
{
    const char *const specs[] = {"fac", "tap", "fsc"}, *const given[] = {"fac:mu=2,sigma=3", "tap:mu=2,sigma=3",
                                                                         "fsc:h=0.5,sigma=3"};
    for (size_t s = 0; s < 3; s++) {
        struct sched_config config = {.iterations = 1000000, .workers = 4, .overhead_s = 0.5};
        struct sched learned = loop_with(specs[s], &config), told = loop_with(given[s], &config);
        struct sched_feedback feedback = {
            .chunks = 1, .iterations = 50, .compute_s = 100, .deviation_s = 3, .samples = 9};
        for (feedback.worker = 0; feedback.worker < 4; feedback.worker++) {
            sched_next(&learned, feedback.worker);
            sched_next(&told, feedback.worker);
            sched_feedback(&learned, &feedback);
        }
        sched_give_back(&told, 1000000 - told.remaining);
        sched_give_back(&learned, 1000000 - learned.remaining);
        for (unsigned i = 0; told.remaining > 0; i++)
            ck_assert_uint_eq(sched_next(&learned, i % 4), sched_next(&told, i % 4));
        sched_fini(&learned);
        sched_fini(&told);
    }
}
END_TEST

START_TEST(closed_forms_need_their_values)
{
    const struct {
        const char *spec, *error;
    } cases[] = {
        {"fsc:h=1,sigma=2", NULL},
        {"tap:mu=1,sigma=2", NULL},
        {"gss", NULL},
        {"fac:mu=1,sigma=2", "fac has no closed form: accepted is the recursive form"},
        {"fsc:sigma=2",
         "technique fsc: the closed form needs h=, as nothing is measured before its steps are known: accepted is "
         "a number, or the recursive form"},
        {"fsc:h=2",
         "technique fsc: the closed form needs sigma=, as nothing is measured before its steps are known: accepted "
         "is a number, or the recursive form"},
        {"tap:mu=1",
         "technique tap: the closed form needs sigma=, as nothing is measured before its steps are known: accepted "
         "is a number, or the recursive form"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct sched sched = loop_of(cases[c].spec, 1000, 4);
        struct error error = {""};
        ck_assert_int_eq(sched_check_closed(&sched, &error), cases[c].error == NULL ? 0 : -1);
        ck_assert_str_eq(error.text, cases[c].error == NULL ? "" : cases[c].error);
        sched_fini(&sched);
    }
    struct sched_config config = {.iterations = 1000, .workers = 4, .overhead_s = 0.1};
    struct sched probed = loop_with("fsc:sigma=2", &config);
    struct error error;
    ck_assert_int_eq(sched_check_closed(&probed, &error), 0);
    sched_fini(&probed);
}
END_TEST

START_TEST(a_restart_below_one_is_refused)
{
    for (unsigned i = 0; i < LEARNING; i++) {
        char text[64], expected[128];
        struct sched_config config = {.iterations = 10, .workers = 2};
        struct sched sched;
        struct error error;
        snprintf(text, sizeof text, "%s:restart=0.5", learning[i]);
        snprintf(expected, sizeof expected, "technique %s: restart=0.5 is not accepted: 0, or a number from 1 to 1e+06",
                 learning[i]);
        struct sched_spec spec = spec_of(text);
        ck_assert_int_eq(sched_init(&sched, &spec, &config, &error), -1);
        ck_assert_str_eq(error.text, expected);
    }
}
END_TEST

/* A batch gives P K to its P workers, to the iteration that is carried over. */
START_TEST(weighted_batches_lose_nothing_to_rounding)
{
    const double powers[] = {0.7, 2.9, 1.3, 0.1, 5};
    struct sched_config config = {.iterations = 1000000, .workers = 5, .powers = powers};
    struct sched sched = loop_with("wf", &config);
    for (unsigned batch = 0; batch < 8; batch++) {
        uint64_t chunk = sched.remaining / 10 + (sched.remaining % 10 != 0), sum = 0;
        for (unsigned j = 0; j < 5; j++) {
            uint64_t cut = sched_next(&sched, j);
            ck_assert_double_le(fabs((double)cut - (double)chunk * powers[j] / 2), 1 + 1e-6);
            sum += cut;
        }
        ck_assert_uint_le(sum, 5 * chunk + 1);
        ck_assert_uint_ge(sum + 1, 5 * chunk);
    }
    sched_fini(&sched);
    const double whole[] = {0.5, 0.5, 1, 2};
    config = (struct sched_config){.iterations = 1 << 20, .workers = 4, .powers = whole};
    sched = loop_with("wf", &config);
    for (unsigned batch = 1; batch < 15; batch++) {
        for (unsigned j = 0; j < 4; j++)
            sched_next(&sched, j);
        ck_assert_uint_eq(sched.remaining, 1u << (20 - batch));
    }
    sched_fini(&sched);
}
END_TEST

/* The rest that is carried from a large chunk to a small one is as exact as the large one, and the weights are exact
 * until something is measured: the chunks are those of the rules in fractions. */
START_TEST(chunks_of_long_loops_are_exact)
{
    static const struct {
        const char *spec;
        uint64_t iterations, first, second;
    } cases[] = {
        {"wf", UINT64_C(999999999989), UINT64_C(499995000045), 4999951},
        {"awf", UINT64_C(999999999989), UINT64_C(499995000045), 4999951},
        {"awf-b", UINT64_C(999999999989), UINT64_C(499995000045), 4999951},
        {"awf-c", UINT64_C(999999999999999), UINT64_C(499995000050000), UINT64_C(2500000000)},
        {"awf-e", UINT64_C(999999999999999), UINT64_C(499995000050000), UINT64_C(2500000000)},
    };
    const double powers[] = {1000, 0.01};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sched_config config = {.iterations = cases[i].iterations, .workers = 2, .powers = powers};
        struct sched sched = loop_with(cases[i].spec, &config);
        ck_assert_uint_eq(sched_next(&sched, 0), cases[i].first);
        ck_assert_uint_eq(sched_next(&sched, 1), cases[i].second);
        sched_fini(&sched);
    }
}
END_TEST

START_TEST(weighted_factoring_of_equal_workers_is_factoring)
{
    struct sched weighted = loop_of("wf", 1234567, 7), plain = loop_of("fac2", 1234567, 7);
    for (unsigned i = 0; plain.remaining > 0; i++)
        ck_assert_uint_eq(sched_next(&weighted, i % 7), sched_next(&plain, i % 7));
    ck_assert_uint_eq(weighted.remaining, 0);
    sched_fini(&weighted);
    sched_fini(&plain);
}
END_TEST

/* No trail of ones that fac2 has not: the slowest worker's share aside. */
START_TEST(weighted_factoring_leaves_no_crumbs)
{
    const double powers[] = {0.4, 0.8, 1.2, 1.6};
    struct sched_config config = {.iterations = 1000003, .workers = 4, .powers = powers};
    struct sched weighted = loop_with("wf", &config), plain = loop_with("fac2", &config);
    unsigned chunks = 0, ones = 0, plain_chunks = 0;
    for (; weighted.remaining > 0; chunks++)
        ones += sched_next(&weighted, chunks % 4) == 1;
    for (; plain.remaining > 0; plain_chunks++)
        sched_next(&plain, plain_chunks % 4);
    ck_assert_uint_le(chunks, plain_chunks + 4);
    ck_assert_uint_le(ones, 8);
    sched_fini(&weighted);
    sched_fini(&plain);
}
END_TEST

START_TEST(factoring_follows_its_rule)
{
    /* b = 4 * 3 / (2 * 1000) = 0.006, x_0 = 1.0085213.. */
    struct sched sched = loop_of("fac:mu=1,sigma=3", 1000000, 4);
    ck_assert_uint_eq(sched_next(&sched, 0), 247888);
    sched_fini(&sched);
    /* Without a deviation the first batch takes all. */
    sched = loop_of("fac:mu=1,sigma=0", 1000, 4);
    for (unsigned j = 0; j < 4; j++)
        ck_assert_uint_eq(sched_next(&sched, j), 250);
    sched_fini(&sched);
}
END_TEST

/* What nobody measures: chunks and weights stay sound. */
static double weird_time(struct random *random)
{
    const double times[] = {0, DBL_MIN, 1e-300, 1e-9, 1, 1, 1e9, 1e300, DBL_MAX};
    return times[random_between(random, 0, sizeof times / sizeof *times - 1)];
}

static struct sched_feedback weird_feedback(struct random *random, unsigned worker)
{
    const uint64_t counts[] = {1, 2, 1000, UINT64_C(1) << 63, UINT64_MAX};
    const uint32_t samples[] = {0, 1, 2, 8, UINT32_MAX};
    return (struct sched_feedback){
        .worker = worker,
        .chunks = samples[random_between(random, 1, 4)],
        .iterations = counts[random_between(random, 0, 4)],
        .compute_s = weird_time(random),
        .wait_s = weird_time(random),
        .deviation_s = weird_time(random),
        .samples = samples[random_between(random, 0, 4)],
    };
}

static void check_weights(const struct sched *sched, const char *spec)
{
    double sum = 0;
    for (unsigned j = 0; j < sched->workers; j++) {
        double weight = sched_weight(sched, j);
        ck_assert_msg(isfinite(weight) && weight >= 0, "%s: weight %g", spec, weight);
        sum += weight;
    }
    ck_assert_msg(fabs(sum - sched->workers) < 1e-6 * sched->workers, "%s: the weights sum to %.17g", spec, sum);
}

static const char *const fed[] = {"awf", "awf-b", "awf-c", "awf-d", "awf-e", "af", "fac", "tap", "fsc"};

START_TEST(weird_feedback_does_no_harm)
{
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct sched_config config = {
            .iterations = seed < 15 ? 100000 : SCHED_ITERATIONS_MAX, .workers = 5, .overhead_s = 1e-5};
        struct sched sched = loop_with(fed[_i], &config);
        struct random random;
        random_init(&random, seed);
        for (unsigned i = 0; i < 2000 && sched.remaining > 0; i++) {
            unsigned worker = (unsigned)random_between(&random, 0, 4);
            struct sched_feedback feedback = weird_feedback(&random, worker);
            sched_feedback(&sched, &feedback);
            uint64_t before = sched.remaining, chunk = sched_next(&sched, worker);
            ck_assert(chunk > 0 && chunk == before - sched.remaining);
            check_weights(&sched, fed[_i]);
            if (random_between(&random, 0, 1) == 0)
                sched_give_back(&sched, chunk);
        }
        sched_fini(&sched);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sched-adaptive");
    TCase *all = tcase_create("adaptive");
    tcase_set_timeout(all, 60);
    tcase_add_loop_test(all, weights_are_learned_in_four_batches, FIRST_WITHIN_A_LOOP, LEARNING);
    tcase_add_loop_test(all, a_worker_that_slows_down_is_followed, FIRST_WITHIN_A_LOOP, LEARNING);
    tcase_add_loop_test(all, the_published_average_follows_slowly, FIRST_WITHIN_A_LOOP, LEARNING);
    tcase_add_loop_test(all, learning_outlives_the_time_step, 0, LEARNING);
    tcase_add_test(all, awf_changes_its_weights_between_time_steps_only);
    tcase_add_test(all, awf_b_and_awf_d_measure_a_batch_and_not_a_chunk);
    tcase_add_test(all, the_total_time_counts_for_awf_d_and_awf_e);
    tcase_add_test(all, powers_hold_until_a_worker_is_measured);
    tcase_add_test(all, af_with_equal_workers_stays_near_factoring);
    tcase_add_test(all, af_keeps_back_more_the_more_the_iterations_vary);
    tcase_add_test(all, measured_values_are_the_true_ones);
    tcase_add_test(all, measured_values_are_used_as_given_ones);
    tcase_add_test(all, closed_forms_need_their_values);
    tcase_add_test(all, a_restart_below_one_is_refused);
    tcase_add_test(all, weighted_batches_lose_nothing_to_rounding);
    tcase_add_test(all, chunks_of_long_loops_are_exact);
    tcase_add_test(all, weighted_factoring_of_equal_workers_is_factoring);
    tcase_add_test(all, weighted_factoring_leaves_no_crumbs);
    tcase_add_test(all, factoring_follows_its_rule);
    tcase_add_loop_test(all, weird_feedback_does_no_harm, 0, sizeof fed / sizeof *fed);
    suite_add_tcase(suite, all);
    return suite_run_together(suite);
}
