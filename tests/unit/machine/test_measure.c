/* SPDX-License-Identifier: MIT */
/* What workers measure, without clocks: the spread of iterations from pieces of a chunk, and the probe. */
#include "common/machine/probe.h"
#include "common/machine/spread.h"
#include "common/util/random.h"
#include "common/util/stats.h"
#include "proto/message.h"
#include "proto/record.h"
#include "tests/lib/suite.h"

#include <math.h>
#include <string.h>

/* --- the spread --- */

START_TEST(the_spread_is_the_formula)
{
    /* 2 iterations of 5 each and 4 of 8: 9 / (1/2 + 1/4) = 12 over K - 1 = 1. */
    struct spread spread = {0};
    ck_assert_double_eq(spread_deviation_ns(&spread), 0);
    spread_add(&spread, 2, 10);
    ck_assert_double_eq(spread_deviation_ns(&spread), 0);
    spread_add(&spread, 4, 32);
    ck_assert_double_eq_tol(spread_deviation_ns(&spread), sqrt(12), 1e-12);
    spread_add(&spread, 1, 14); /* (14 - 8)^2 / (1/4 + 1) = 28.8, and 12, over 2 */
    ck_assert_double_eq_tol(spread_deviation_ns(&spread), sqrt(20.4), 1e-12);
}
END_TEST

START_TEST(chunks_merge_by_their_differences)
{
    struct random random;
    struct spread merged = {0};
    double sum = 0;
    uint64_t differences = 0;
    random_init(&random, 5);
    for (int chunk = 0; chunk < 6; chunk++) {
        struct spread own = {0};
        for (int piece = 0; piece < 1 + chunk; piece++) {
            uint64_t count = random_between(&random, 1, 50);
            spread_add(&own, count, floor(1000 * random_uniform(&random)) * (double)count);
        }
        const struct spread told = spread_of_chunk(spread_deviation_ns(&own), own.pieces); /* all a REQUEST says */
        spread_merge(&merged, &told);
        spread_merge(&merged, &(struct spread){0});
        sum += own.sum;
        differences += own.pieces - 1;
    }
    ck_assert_uint_eq(merged.pieces, differences + 1);
    ck_assert_double_eq_tol(spread_deviation_ns(&merged), sqrt(sum / (double)differences), 1e-9 * sqrt(sum));
}
END_TEST

/* A trend is not spread: 8 pieces of 1,000 iterations each, from 50 to 150 along the chunk. */
START_TEST(a_trend_hardly_counts)
{
    struct spread spread = {0};
    for (int piece = 0; piece < 8; piece++)
        spread_add(&spread, 1000, 1000 * (56.25 + 12.5 * piece));
    /* By the distances from the mean it would be 28.6 sqrt(1000) = 968. */
    ck_assert_double_eq_tol(spread_deviation_ns(&spread), 12.5 * sqrt(500), 1e-6);
}
END_TEST

/* Independent iterations: the mean of many estimates of the variance is the variance, however the pieces are cut. */
START_TEST(the_estimate_is_unbiased)
{
    enum { CHUNKS = 4000, COUNT = 90 };
    struct random random;
    double variances = 0;
    random_init(&random, 11);
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        struct spread spread = {0};
        for (uint64_t done = 0; done < COUNT;) {
            uint64_t piece = spread_piece(COUNT, COUNT - done, chunk % 2 == 0 ? 500 : 2000); /* of 20 or 11 */
            double elapsed = 0;
            for (uint64_t i = 0; i < piece; i++)
                elapsed += 1000 * random_uniform(&random);
            spread_add(&spread, piece, elapsed);
            done += piece;
        }
        variances += spread_deviation_ns(&spread) * spread_deviation_ns(&spread) / CHUNKS;
    }
    ck_assert_double_eq_tol(variances, 1e6 / 12, 0.05 * 1e6 / 12); /* its own deviation is 1 % of it */
}
END_TEST

START_TEST(pieces_fill_the_chunk)
{
    static const struct {
        uint64_t count;
        double iteration_ns;
        uint64_t pieces;
    } cuts[] = {
        {1, 0, 1},     {7, 0, 7},     {8, 0, 8},          {15, 1e6, 15},          {16, 1e6, 8},  {1000000, 0, 8},
        {100, 100, 1}, {250, 100, 2}, {100000, 1000, 8},  {81, 1000, 8},          {79, 1000, 8}, {90000, 0.5, 4},
        {17, 1e9, 8},  {20, 1e9, 10}, {UINT64_MAX, 1, 8}, {UINT64_MAX, 1e-30, 1},
    };
    const uint64_t count = cuts[_i].count;
    uint64_t done = 0, pieces = 0;
    for (; done < count; pieces++) {
        uint64_t piece = spread_piece(count, count - done, cuts[_i].iteration_ns);
        ck_assert_uint_ge(piece, 1);
        ck_assert_uint_le(piece, count - done);
        done += piece;
    }
    ck_assert_uint_eq(done, count);
    ck_assert_uint_eq(pieces, cuts[_i].pieces);
}
END_TEST

/* --- the probe --- */

static double rising(uint64_t iteration)
{
    return 20000 + 100 * (double)iteration;
}

/* Runs a probe of a loop whose iterations take `cost`; `each`: they are timed one by one. */
static struct probe run_probe(uint64_t first, uint64_t count, unsigned least, double (*cost)(uint64_t), bool each)
{
    struct probe probe;
    probe_init(&probe, first, count, least);
    for (uint64_t n; (n = probe_next(&probe)) > 0;) {
        double sum = 0;
        for (uint64_t k = probe.done; k < probe.done + n; k++) {
            ck_assert_uint_ge(probe_iteration(&probe, k), first);
            ck_assert_uint_lt(probe_iteration(&probe, k), first + count);
            sum += cost(probe_iteration(&probe, k));
            if (each)
                probe_add_single(&probe, k, cost(probe_iteration(&probe, k)));
        }
        probe_add(&probe, n, (uint64_t)sum);
    }
    return probe;
}

START_TEST(a_probe_tells_mean_spread_and_profile)
{
    struct speed speed;
    struct probe probe = run_probe(1000, 1600, 1, rising, true);
    probe_finish(&probe, &speed);
    ck_assert_uint_eq(speed.levels, 6); /* 4 ms at 200 us each: 16 are not enough, 32 are */
    ck_assert_uint_eq(probe.done, 32);
    uint64_t timed = 0;
    double sum = 0, squares = 0;
    for (uint64_t k = 0; k < 32; k++)
        sum += rising(probe_iteration(&probe, k));
    for (uint64_t k = 0; k < 32; k++)
        squares += pow(rising(probe_iteration(&probe, k)) - sum / 32, 2);
    ck_assert_double_eq_tol(speed.mean_ns, sum / 32, 1e-6);
    ck_assert_double_eq_tol(speed.deviation_ns, sqrt(squares / 31), 1e-6);
    for (unsigned i = 0; i < SPEED_CELLS; i++) {
        ck_assert_uint_eq(speed.cells[i].count, 2);
        /* iterations 100 i and 100 i + 50 of the 1600 */
        ck_assert_double_eq_tol(speed.cells[i].mean_ns, rising(1000 + 100 * i + 25), 0.1);
        timed += speed.cells[i].count;
    }
    ck_assert_uint_eq(timed, 32);
    /* the first five are iterations 0, 800, 400, 1200, 200 of it */
    ck_assert_double_eq_tol(speed.swr, rising(1000) / rising(2200), 1e-12);
    ck_assert_uint_eq(speed.elapsed_ns[1], (uint64_t)(rising(1000) + rising(1800)));
}
END_TEST

static double of_a_second(uint64_t iteration)
{
    return iteration == 3 ? 2e9 : 1e9;
}

START_TEST(long_iterations_are_probed_as_often_as_they_must)
{
    struct speed speed;
    struct probe probe = run_probe(0, 100, 1, of_a_second, true);
    probe_finish(&probe, &speed);
    ck_assert_uint_eq(probe.done, 1);
    ck_assert_uint_eq(speed.levels, 1);
    ck_assert_double_eq(speed.swr, 0); /* of one it is not known */
    ck_assert_double_eq(speed.deviation_ns, 0);

    probe = run_probe(0, 100, PROBE_SWR, of_a_second, true);
    probe_finish(&probe, &speed);
    ck_assert_uint_eq(probe.done, PROBE_SWR);
    ck_assert_uint_eq(speed.levels, 1); /* speeds compare with those of workers that timed no more */
    ck_assert_double_eq(speed.swr, 1);

    probe = run_probe(0, 4, PROBE_SWR, of_a_second, true); /* there are no five */
    probe_finish(&probe, &speed);
    ck_assert_uint_eq(probe.done, 4);
    ck_assert_double_eq(speed.swr, 0.5);
}
END_TEST

/* Iterations that sleep for 1 ms; the first ends 9 ms late, which is taken off those behind it. */
START_TEST(a_late_sleep_is_no_speed)
{
    struct speed_levels levels[2] = {0};
    double mean_s[2];
    for (unsigned w = 0; w < 2; w++) {
        struct speed speed;
        struct probe probe;
        uint64_t late_ns = w == 0 ? 9000000 : 0;
        probe_init(&probe, 0, 1000, 1);
        probe.enough_ns = PROBE_SLEEPING_NS;
        for (uint64_t count; (count = probe_next(&probe)) > 0;) {
            uint64_t at_least_ns = 1000000 + late_ns, in_time_ns = (probe.done + count) * 1000000;
            probe_add(&probe, count, (at_least_ns > in_time_ns ? at_least_ns : in_time_ns) - probe.elapsed_ns);
        }
        probe_finish(&probe, &speed);
        levels[w].count = speed.levels;
        memcpy(levels[w].elapsed_ns, speed.elapsed_ns, sizeof levels[w].elapsed_ns);
    }
    probe_compare(levels, 2, mean_s);
    ck_assert_double_eq_tol(mean_s[0] / mean_s[1], 1, 1e-9); /* 10 if 4 ms were enough */
}
END_TEST

static double of_nothing(uint64_t iteration)
{
    (void)iteration;
    return 0;
}

START_TEST(short_iterations_are_timed_again_one_by_one)
{
    struct speed speed;
    struct probe probe = run_probe(0, 1000000, 1, of_nothing, false);
    ck_assert_uint_eq(probe.levels, LEVELS_MAX);
    ck_assert(!probe_times_each(&probe));
    ck_assert_uint_eq(probe_wants_singles(&probe), PROBE_SINGLES);
    for (uint64_t k = 0; k < PROBE_SINGLES; k++)
        probe_add_single(&probe, k, k < 4 ? 0 : 20);
    ck_assert_uint_eq(probe_wants_singles(&probe), PROBE_SINGLES); /* still few against 2048 */
    ck_assert_uint_eq(probe.all.count, 0);                         /* and forgotten */
    for (uint64_t k = 0; k < PROBE_SINGLES; k++)
        probe_add_single(&probe, k, k < 4 ? 0 : 20);
    probe_finish(&probe, &speed);
    ck_assert_uint_eq(speed.elapsed_ns[0], 1); /* a time is never 0 */
    ck_assert_double_eq_tol(speed.mean_ns, 18.75, 1e-9);
    ck_assert_double_gt(speed.swr, 0); /* that would mean that it is not known */
    ck_assert_double_lt(speed.swr, 1e-6);
    for (unsigned i = 0; i < SPEED_CELLS; i++)
        ck_assert_uint_eq(speed.cells[i].count, PROBE_SINGLES / SPEED_CELLS);
    ck_assert_uint_eq(probe_wants_singles(&probe), PROBE_SINGLES);
    for (uint64_t k = 0; k < PROBE_SINGLES; k++)
        probe_add_single(&probe, k, 0);
    probe_finish(&probe, &speed);
    ck_assert(speed.mean_ns == SPEED_MEAN_MIN_NS && speed.deviation_ns == 0 && speed.swr == 1);
}
END_TEST

static double of_forty_us(uint64_t iteration)
{
    (void)iteration;
    return 40000;
}

START_TEST(iterations_are_timed_in_the_stretch_once_they_are_known_to_be_long)
{
    struct probe probe;
    probe_init(&probe, 0, 1000, 1);
    ck_assert(!probe_times_each(&probe));
    probe_add(&probe, 1, 40000); /* the first: a stretch of one */
    ck_assert_uint_eq(probe.all.count, 1);
    ck_assert(probe_times_each(&probe));
    probe = run_probe(0, 1000, 1, of_forty_us, true);
    ck_assert_uint_eq(probe.all.count, probe.done); /* the first counts once */
    ck_assert_uint_eq(probe_wants_singles(&probe), 0);
}
END_TEST

START_TEST(a_loop_of_a_few_iterations_is_probed)
{
    for (uint64_t count = 1; count < 40; count++) {
        struct speed speed;
        struct probe probe = run_probe(7, count, PROBE_SWR, of_nothing, true);
        uint64_t timed = 0;
        probe_finish(&probe, &speed);
        ck_assert_uint_le(probe.done, count);
        ck_assert_uint_ge(probe.done, count < PROBE_SWR ? count : PROBE_SWR);
        for (unsigned i = 0; i < SPEED_CELLS; i++)
            timed += speed.cells[i].count;
        ck_assert_uint_eq(timed, probe.done);
        if (count > 1)
            ck_assert_double_eq(speed.swr, 1); /* all alike */
    }
}
END_TEST

/* 1 ms for an iteration at first, 2 ms on average; the second is twice as slow, the third was disturbed early on, the
 * fourth is as fast as the first but stopped before the costs rose. */
START_TEST(workers_compare_at_what_each_has_timed)
{
    const struct speed_levels levels[] = {
        {3, {1000000, 2000000, 8000000}},
        {2, {2000000, 4000000}},
        {1, {9000000}},
        {1, {1000000}},
    };
    double mean_s[4];
    probe_compare(levels, 4, mean_s);
    ck_assert_double_eq_tol(mean_s[0], 0.002, 1e-9);
    ck_assert_double_eq_tol(mean_s[1], 0.004, 1e-9);
    ck_assert_double_eq_tol(mean_s[2], 0.018, 1e-9);
    ck_assert_double_eq_tol(mean_s[3], 0.002, 1e-9);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("measure");
    TCase *all = tcase_create("measure");
    tcase_add_test(all, the_spread_is_the_formula);
    tcase_add_test(all, chunks_merge_by_their_differences);
    tcase_add_test(all, a_trend_hardly_counts);
    tcase_add_test(all, workers_compare_at_what_each_has_timed);
    tcase_add_test(all, the_estimate_is_unbiased);
    tcase_add_loop_test(all, pieces_fill_the_chunk, 0, 16);
    tcase_add_test(all, a_probe_tells_mean_spread_and_profile);
    tcase_add_test(all, long_iterations_are_probed_as_often_as_they_must);
    tcase_add_test(all, short_iterations_are_timed_again_one_by_one);
    tcase_add_test(all, iterations_are_timed_in_the_stretch_once_they_are_known_to_be_long);
    tcase_add_test(all, a_late_sleep_is_no_speed);
    tcase_add_test(all, a_loop_of_a_few_iterations_is_probed);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
