/* SPDX-License-Identifier: MIT */
/* Speeds of recorded workers against known ones: chunks are made of a cost, which changes along the loop and by chance,
 * and of the speed of whoever was free first, as a run deals them out. */
#include "common/util/error.h"
#include "tests/lib/suite.h"
#include "worker/kernels/costs/costs.h"
#include "worker/kernels/costs/draw.h"
#include "worker/kernels/costs/recorded.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#define CHUNKS_MOST  20000
#define WORKERS_MOST 512

static struct error error;
static struct recorded_chunk chunks[CHUNKS_MOST];
static double speeds_made[WORKERS_MOST];

/* A recorded run: `cost_ns` at speed 1 along the loop, from 0 to 1; each iteration is drawn with the deviation `cov` in
 * parts of it. Workers take turns, or each takes the next chunk when it is free. */
struct made_run {
    size_t count;
    uint64_t iterations; /* of each chunk */
    unsigned workers;
    double (*cost_ns)(double place);
    double cov;
    uint64_t seed;
    bool take_turns;
    unsigned disturbed_every; /* so many chunks, one takes a hundred times as long; 0: none */
};

static unsigned first_free(const double *free_ns, unsigned workers)
{
    unsigned first = 0;
    for (unsigned w = 1; w < workers; w++)
        first = free_ns[w] < free_ns[first] ? w : first;
    return first;
}

static void make_run(const struct made_run *made)
{
    double free_ns[WORKERS_MOST] = {0};
    for (size_t k = 0; k < made->count; k++) {
        const unsigned w = made->take_turns ? (unsigned)(k % made->workers) : first_free(free_ns, made->workers);
        const double mean_ns = made->cost_ns((double)k / (double)made->count);
        double ns = 0;
        for (uint64_t i = 0; i < made->iterations; i++)
            ns += made->cov > 0 ? draw_gamma(mean_ns, made->cov, made->seed, k * made->iterations + i) : mean_ns;
        if (made->disturbed_every > 0 && k % made->disturbed_every == 7)
            ns *= 100;
        chunks[k] = (struct recorded_chunk){.count = made->iterations, .ns = ns / speeds_made[w], .worker = w};
        free_ns[w] += chunks[k].ns;
    }
}

static void set_made_speeds(unsigned workers, const double *pattern, unsigned length)
{
    for (unsigned w = 0; w < workers; w++)
        speeds_made[w] = pattern[w % length];
}

/* The largest part by which a speed is wrong, beside that of the first worker. */
static double find_worst_error(const struct made_run *made)
{
    struct recorded_speeds speeds;
    make_run(made);
    ck_assert_int_eq(recorded_speeds_find(&speeds, chunks, made->count, made->workers, &error), 0);
    ck_assert_uint_eq(speeds.workers, made->workers);
    ck_assert_uint_eq(speeds.known, made->workers);
    ck_assert(speeds.are_different);
    double worst = 0, before_ns = 0, after_ns = 0;
    for (unsigned w = 0; w < made->workers; w++) {
        const double made_ratio = speeds_made[w] / speeds_made[0], found = speeds.speed[w] / speeds.speed[0];
        worst = fmax(worst, fabs(found / made_ratio - 1));
    }
    for (size_t k = 0; k < made->count; k++) {
        before_ns += chunks[k].ns;
        after_ns += chunks[k].ns * speeds.speed[chunks[k].worker];
    }
    ck_assert_double_eq_tol(after_ns / before_ns, 1, 1e-9);
    recorded_speeds_fini(&speeds);
    return worst;
}

static double flat_cost(double place)
{
    (void)place;
    return 1000;
}

static double rising_cost(double place)
{
    return 100 + 900 * place;
}

/* As rows of a Mandelbrot set: cheap at the ends, a hundred times as costly in the middle. */
static double hill_cost(double place)
{
    return 100 + 9900 * exp(-30 * (place - 0.5) * (place - 0.5));
}

static const double uneven[] = {1, 0.5, 0.8, 2};

static const struct {
    struct made_run run;
    double within;
} made_runs[] = {
    {{.count = 64, .iterations = 1, .workers = 4, .cost_ns = rising_cost, .take_turns = true}, 0.005},
    {{.count = 400, .iterations = 1, .workers = 4, .cost_ns = hill_cost}, 0.02},
    {{.count = 400, .iterations = 50, .workers = 4, .cost_ns = rising_cost, .cov = 0.3, .seed = 1}, 0.02},
    {{.count = 400, .iterations = 50, .workers = 4, .cost_ns = hill_cost, .cov = 1, .seed = 2}, 0.08},
    {{.count = 1000, .iterations = 20, .workers = 4, .cost_ns = flat_cost, .cov = 1, .seed = 3}, 0.06},
    {{.count = 1000,
      .iterations = 10,
      .workers = 4,
      .cost_ns = rising_cost,
      .cov = 0.3,
      .seed = 4,
      .disturbed_every = 40},
     0.03},
    {{.count = 1000, .iterations = 10, .workers = 3, .cost_ns = hill_cost, .cov = 0.3, .seed = 5, .take_turns = true},
     0.03},
    {{.count = 8192, .iterations = 10, .workers = 512, .cost_ns = hill_cost, .cov = 0.1, .seed = 6}, 0.06},
};

START_TEST(speeds_are_found)
{
    set_made_speeds(WORKERS_MOST, uneven, 4);
    const double worst = find_worst_error(&made_runs[_i].run);
    ck_assert_msg(worst < made_runs[_i].within, "%.4f", worst);
}
END_TEST

/* The slow ones are beside one another, so that they meet the others at few places where workers take turns. */
START_TEST(halves_of_a_machine_are_told_apart)
{
    for (unsigned w = 0; w < 256; w++)
        speeds_made[w] = w < 128 ? 1 : 0.4;
    const struct made_run made = {
        .count = 256 * 16, .iterations = 10, .workers = 256, .cost_ns = rising_cost, .cov = 0.1, .take_turns = true};
    const double worst = find_worst_error(&made);
    ck_assert_msg(worst < 0.06, "%.4f", worst);
}
END_TEST

/* Runs by equal workers: of fifty few may be taken for others by chance. */
START_TEST(equal_speeds_stay_equal)
{
    static const double one = 1;
    unsigned taken_for_different = 0;
    set_made_speeds(8, &one, 1);
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct recorded_speeds speeds;
        const struct made_run made = {.count = 40 + 20 * seed,
                                      .iterations = 1 + seed % 10,
                                      .workers = 2 + (unsigned)seed % 7,
                                      .cost_ns = seed % 2 ? hill_cost : flat_cost,
                                      .cov = seed % 3 ? 0.3 : 1,
                                      .seed = 100 + seed};
        make_run(&made);
        ck_assert_int_eq(recorded_speeds_find(&speeds, chunks, made.count, made.workers, &error), 0);
        taken_for_different += speeds.are_different;
        for (unsigned w = 0; !speeds.are_different && w < made.workers; w++)
            ck_assert_double_eq(speeds.speed[w], 1);
        recorded_speeds_fini(&speeds);
    }
    ck_assert_uint_le(taken_for_different, 3);
}
END_TEST

/* Each worker has had one chunk, as by `static`: nobody knows whether it was slow or its iterations were costly. */
START_TEST(one_chunk_each_says_nothing)
{
    struct recorded_speeds speeds;
    set_made_speeds(8, uneven, 4);
    make_run(&(struct made_run){.count = 8, .iterations = 100, .workers = 8, .cost_ns = flat_cost, .take_turns = true});
    ck_assert_int_eq(recorded_speeds_find(&speeds, chunks, 8, 8, &error), 0);
    ck_assert_uint_eq(speeds.known, 0);
    ck_assert(!speeds.are_different);
    recorded_speeds_fini(&speeds);
}
END_TEST

START_TEST(iterations_that_cost_nothing_have_no_speed)
{
    struct recorded_speeds speeds;
    for (unsigned k = 0; k < 100; k++)
        chunks[k] = (struct recorded_chunk){.count = 3, .ns = 0, .worker = k % 2};
    ck_assert_int_eq(recorded_speeds_find(&speeds, chunks, 100, 2, &error), 0);
    ck_assert_uint_eq(speeds.known, 0);
    ck_assert_double_eq(speeds.speed[1], 1);
    recorded_speeds_fini(&speeds);
}
END_TEST

/* A file by ranks 7 and 3, of which 7 is half as fast. */
START_TEST(costs_of_a_file_become_those_of_mean_speed)
{
    static char text[4000];
    struct recorded_speeds speeds;
    size_t length = 0;
    for (unsigned k = 0; k < 60; k++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%u 10 %u %u\n", 10 * k, k % 3 ? 100 : 200,
                                   k % 3 ? 3 : 7);
    struct costs *costs = costs_parse(text, 0, 600, &error);
    ck_assert_msg(costs != NULL, "%s", error.text);
    ck_assert(costs_have_workers(costs));
    const double all_ns = costs_ns(costs, 0, 600);
    ck_assert_int_eq(costs_separate_workers(costs, &speeds, &error), 0);
    ck_assert_uint_eq(speeds.workers, 2);
    ck_assert_double_eq_tol(speeds.speed[0] / speeds.speed[1], 2, 1e-4);
    ck_assert_double_eq_tol(costs_ns(costs, 0, 600) / all_ns, 1, 1e-9);
    ck_assert_double_eq_tol(costs_ns(costs, 0, 10) / costs_ns(costs, 10, 10), 1, 1e-4);
    recorded_speeds_fini(&speeds);
    costs_free(costs);
}
END_TEST

/* A line without a worker, a file of single costs. */
START_TEST(a_file_names_all_workers_or_none)
{
    static const char *const texts[] = {"0 1 5 2\n1 1 5\n", "5\n6\n"};
    for (unsigned i = 0; i < 2; i++) {
        struct costs *costs = costs_parse(texts[i], 0, 2, &error);
        ck_assert_msg(costs != NULL, "%s", error.text);
        ck_assert(!costs_have_workers(costs));
        costs_free(costs);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recorded");
    TCase *tcase = tcase_create("recorded");
    tcase_add_loop_test(tcase, speeds_are_found, 0, (int)(sizeof made_runs / sizeof *made_runs));
    tcase_add_test(tcase, halves_of_a_machine_are_told_apart);
    tcase_add_test(tcase, equal_speeds_stay_equal);
    tcase_add_test(tcase, one_chunk_each_says_nothing);
    tcase_add_test(tcase, iterations_that_cost_nothing_have_no_speed);
    tcase_add_test(tcase, costs_of_a_file_become_those_of_mean_speed);
    tcase_add_test(tcase, a_file_names_all_workers_or_none);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
