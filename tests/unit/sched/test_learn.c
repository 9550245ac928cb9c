/* SPDX-License-Identifier: MIT */
/* What is learned from the times of chunks: mean and deviation of an iteration, a worker's average, when its history
 * starts anew, and the sums over all workers. */
#include "common/sched/learn.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/random.h"
#include "tests/lib/suite.h"
#include "tests/unit/sched/cluster.h"
#include "tests/unit/sched/loops.h"

#include <float.h>
#include <string.h>

static struct learn_chunk chunk_of(double iterations, double mean)
{
    return (struct learn_chunk){.iterations = iterations, .compute = iterations * mean, .time = iterations * mean};
}

static void add(struct learn_worker *worker, double iterations, double mean, double restart)
{
    struct learn_chunk chunk = chunk_of(iterations, mean);
    chunk.freedom = 7; /* deviation 0 */
    learn_worker_add(worker, &chunk, restart);
}

static void assert_near(double value, double expected, double tolerance)
{
    ck_assert_msg(fabs(value - expected) <= tolerance * fabs(expected), "%.17g is not %.17g", value, expected);
}

/* By hand: x = (10 + 60)/(10 + 30) = 1.75, S = 10 * 0.75^2 + 30 * 0.25^2 = 7.5, W = (4 * 1 + 1 * 4)/5 = 1.6,
 * B = (7.5 - 1.6)/40. */
START_TEST(the_variance_is_the_one_within_and_what_it_does_not_explain)
{
    struct learn_stats stats = {0};
    struct learn_chunk chunk = {.iterations = 10, .compute = 10, .time = 10, .variance = 1, .freedom = 4};
    learn_stats_add(&stats, &chunk);
    assert_near(learn_stats_variance(&stats), 1, 1e-15);
    chunk = (struct learn_chunk){.iterations = 30, .compute = 60, .time = 60, .variance = 4, .freedom = 1};
    learn_stats_add(&stats, &chunk);
    assert_near(stats.mean, 1.75, 1e-15);
    assert_near(stats.between, 7.5, 1e-15);
    assert_near(learn_stats_variance(&stats), 1.6 + 5.9 / 40, 1e-15);
}
END_TEST

START_TEST(without_pieces_the_chunks_themselves_tell_the_variance)
{
    struct learn_stats stats = {0};
    struct learn_chunk first = chunk_of(4, 1), second = chunk_of(4, 2);
    learn_stats_add(&stats, &first);
    ck_assert(learn_stats_variance(&stats) == 0);
    learn_stats_add(&stats, &second);
    assert_near(learn_stats_variance(&stats), 4 * 0.25 + 4 * 0.25, 1e-15); /* S/(C-1) */
}
END_TEST

/* Chunks of independent iterations, with pieces and without, of many iterations and of one. */
START_TEST(the_deviation_of_one_iteration_is_found)
{
    const uint64_t sizes[] = {1, 3, 8, 100, 100000};
    struct sched sched = loop_of("ss", 1, 1);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int pieces = 0; pieces < 2; pieces++) {
            struct cluster cluster;
            struct learn_stats stats = {0};
            cluster_init(&cluster, &sched, 0.2, 5);
            for (unsigned i = 0; i < 2000; i++) {
                struct learn_chunk chunk;
                cluster_compute(&cluster, &cluster.workers[0], sizes[s]);
                if (pieces == 0)
                    cluster.workers[0].feedback.samples = 1;
                ck_assert(learn_chunk_of(&chunk, &cluster.workers[0].feedback, false));
                learn_stats_add(&stats, &chunk);
            }
            assert_near(stats.mean, 0.001, 0.02);
            assert_near(sqrt(learn_stats_variance(&stats)), 0.0002, 0.06);
        }
    sched_fini(&sched);
}
END_TEST

/* Two regions of different cost: the deviation is that of an iteration taken at random, whatever the chunks' size. */
START_TEST(regions_count_for_their_means)
{
    struct learn_stats stats = {0};
    for (unsigned i = 0; i < 100; i++) {
        struct learn_chunk chunk = chunk_of(1e6, i < 50 ? 1 : 3);
        chunk.freedom = 7;
        learn_stats_add(&stats, &chunk);
    }
    assert_near(sqrt(learn_stats_variance(&stats)), 1, 1e-9);
}
END_TEST

START_TEST(merged_chunks_are_one)
{
    struct learn_chunk both = {0}, first = {10, 20, 21, 1, 4}, second = {30, 40, 42, 4, 2};
    learn_chunk_merge(&both, &first);
    learn_chunk_merge(&both, &second);
    ck_assert(both.iterations == 40 && both.compute == 60 && both.time == 63 && both.variance == 2 &&
              both.freedom == 6);
}
END_TEST

START_TEST(what_took_no_time_tells_nothing)
{
    struct learn_chunk chunk;
    struct sched_feedback feedback = {.chunks = 1, .iterations = 5, .wait_s = 1};
    ck_assert(!learn_chunk_of(&chunk, &feedback, false));
    ck_assert(learn_chunk_of(&chunk, &feedback, true));
    ck_assert(chunk.time == 1 && chunk.compute > 0);
}
END_TEST

/* sum(k t_k) / sum(k n_k). */
START_TEST(later_chunks_weigh_more)
{
    struct learn_worker worker = {0};
    ck_assert(learn_worker_pace(&worker) == 0);
    add(&worker, 8, 1, 0);
    add(&worker, 4, 2, 0);
    add(&worker, 2, 4, 0);
    assert_near(learn_worker_pace(&worker), (1 * 8 * 1 + 2 * 4 * 2 + 3 * 2 * 4) / (1 * 8 + 2 * 4 + 3 * 2.), 1e-15);
    double mean, variance;
    ck_assert(learn_worker_moments(&worker, &mean, &variance));
    assert_near(mean, (8 + 8 + 8) / 14., 1e-15);
}
END_TEST

START_TEST(a_history_starts_anew_after_two_departures)
{
    for (unsigned before = 1; before < 6; before++)
        for (int faster = 0; faster < 2; faster++) {
            struct learn_worker worker = {0};
            const double mean = faster ? 1. / 3 : 3;
            for (unsigned i = 0; i < before; i++)
                add(&worker, 1024 >> i, 1, LEARN_RESTART);
            add(&worker, 16, mean, LEARN_RESTART);
            ck_assert(fabs(learn_worker_pace(&worker) - mean) > 0.05 * mean);
            add(&worker, 8, mean, LEARN_RESTART);
            assert_near(learn_worker_pace(&worker), mean, 1e-12);
            ck_assert(worker.stats.chunks == 2);
        }
}
END_TEST

START_TEST(a_chunk_during_which_the_speed_changed_is_left_out)
{
    struct learn_worker worker = {0};
    add(&worker, 1000, 1, LEARN_RESTART);
    add(&worker, 500, 2, LEARN_RESTART);
    add(&worker, 250, 3, LEARN_RESTART);
    assert_near(learn_worker_pace(&worker), 3, 1e-12);
    ck_assert(worker.stats.chunks == 1);
}
END_TEST

START_TEST(one_departure_is_averaged)
{
    struct learn_worker worker = {0}, published = {0};
    const double means[] = {1, 1, 3, 1, 1. / 3, 3, 1};
    for (unsigned i = 0; i < 7; i++) {
        add(&worker, 100, means[i], LEARN_RESTART);
        add(&published, 100, means[i], 0);
        assert_near(learn_worker_pace(&worker), learn_worker_pace(&published), 1e-12);
    }
}
END_TEST

START_TEST(restart_0_is_the_published_average)
{
    struct learn_worker worker = {0};
    for (unsigned i = 0; i < 3; i++)
        add(&worker, 100, 1, 0);
    for (unsigned i = 0; i < 3; i++)
        add(&worker, 100, 3, 0);
    assert_near(learn_worker_pace(&worker), (1 + 2 + 3 + 3 * (4 + 5 + 6)) / 21., 1e-12);
}
END_TEST

/* Small chunks of iterations of exponentially distributed times, in pieces of one iteration: what differs by chance is
 * not a change of speed. */
START_TEST(irregular_loops_do_not_start_anew)
{
    struct random random;
    struct learn_worker worker = {0};
    random_init(&random, (uint64_t)_i);
    unsigned restarts = 0;
    for (unsigned i = 0; i < 3000; i++) {
        unsigned count = 1 + i % 20;
        double sum = 0, squares = 0, before = worker.stats.chunks;
        for (unsigned k = 0; k < count; k++) {
            double time = -log(1 - random_uniform(&random));
            sum += time;
            squares += time * time;
        }
        struct sched_feedback feedback = {
            .chunks = 1,
            .iterations = count,
            .samples = count,
            .compute_s = sum,
            .deviation_s = count < 2 ? 0 : sqrt(fmax((squares - sum * sum / count) / (count - 1), 0))};
        struct learn_chunk chunk;
        ck_assert(learn_chunk_of(&chunk, &feedback, false));
        learn_worker_add(&worker, &chunk, LEARN_RESTART);
        restarts += worker.stats.chunks < before;
    }
    ck_assert_msg(restarts <= 1, "%u restarts", restarts);
    assert_near(learn_worker_pace(&worker), 1, 0.1);
}
END_TEST

/* Terms of very different size come and go a million times. */
START_TEST(sums_do_not_drift)
{
    struct learn_sum sum = {0};
    struct random random;
    double terms[100] = {0};
    random_init(&random, 3);
    for (unsigned i = 0; i < 1000000; i++) {
        unsigned k = (unsigned)random_between(&random, 0, 99);
        learn_sum_add(&sum, -terms[k]);
        terms[k] = pow(10, 24 * random_uniform(&random) - 12);
        learn_sum_add(&sum, terms[k]);
    }
    for (unsigned k = 1; k < 100; k++)
        learn_sum_add(&sum, -terms[k]);
    learn_sum_add(&sum, -terms[0]);
    learn_sum_add(&sum, 1e-12);
    assert_near(learn_sum_value(&sum), 1e-12, 1e-2);
}
END_TEST

START_TEST(values_are_fixed_after_the_first_batch)
{
    struct sched sched = loop_of("fac", 1000000, 4);
    struct sched_value_used used[SCHED_PARAMS_MAX];
    struct sched_feedback feedback = {
        .chunks = 1, .iterations = 100, .compute_s = 50, .deviation_s = 0.25, .samples = 8};
    for (feedback.worker = 0; feedback.worker < 4; feedback.worker++) {
        ck_assert_uint_eq(sched_values_used(&sched, used), 0);
        sched_feedback(&sched, &feedback);
    }
    ck_assert_uint_eq(sched_values_used(&sched, used), 2);
    ck_assert_str_eq(used[0].name, "mu");
    ck_assert_str_eq(used[1].name, "sigma");
    assert_near(used[0].value, 0.5, 1e-12);
    assert_near(used[1].value, 0.25, 1e-12);
    feedback.worker = 0;
    feedback.compute_s = 5000;
    sched_feedback(&sched, &feedback);
    struct error error;
    ck_assert_int_eq(sched_again(&sched, 1000, &error), 0);
    sched_feedback(&sched, &feedback);
    ck_assert_uint_eq(sched_values_used(&sched, used), 2);
    assert_near(used[0].value, 0.5, 1e-12);
    sched_fini(&sched);
}
END_TEST

/* A master tells several chunks of a worker as one: the first batch is over when P chunks are told. */
START_TEST(merged_records_count_for_their_chunks)
{
    struct sched sched = loop_of("fac", 1000000, 4);
    struct sched_value_used used[SCHED_PARAMS_MAX];
    struct sched_feedback feedback = {
        .chunks = 3, .iterations = 300, .compute_s = 150, .deviation_s = 0.25, .samples = 8};
    sched_feedback(&sched, &feedback);
    ck_assert_uint_eq(sched_values_used(&sched, used), 0);
    feedback.worker = 1;
    sched_feedback(&sched, &feedback);
    ck_assert_uint_eq(sched_values_used(&sched, used), 2);
    sched_fini(&sched);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sched-learn");
    TCase *all = tcase_create("learn");
    tcase_add_test(all, the_variance_is_the_one_within_and_what_it_does_not_explain);
    tcase_add_test(all, without_pieces_the_chunks_themselves_tell_the_variance);
    tcase_add_test(all, the_deviation_of_one_iteration_is_found);
    tcase_add_test(all, regions_count_for_their_means);
    tcase_add_test(all, merged_chunks_are_one);
    tcase_add_test(all, what_took_no_time_tells_nothing);
    tcase_add_test(all, later_chunks_weigh_more);
    tcase_add_test(all, a_history_starts_anew_after_two_departures);
    tcase_add_test(all, a_chunk_during_which_the_speed_changed_is_left_out);
    tcase_add_test(all, one_departure_is_averaged);
    tcase_add_test(all, restart_0_is_the_published_average);
    tcase_add_loop_test(all, irregular_loops_do_not_start_anew, 0, 10);
    tcase_add_test(all, sums_do_not_drift);
    tcase_add_test(all, values_are_fixed_after_the_first_batch);
    tcase_add_test(all, merged_records_count_for_their_chunks);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
