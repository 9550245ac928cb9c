/* SPDX-License-Identifier: MIT */
/* synthetic: the distributions of cost, results that show each iteration, costs from a file, and that costs are paid.
 * Times are only compared with each other, or with what cannot be less. */
#include "common/util/error.h"
#include "common/util/stats.h"
#include "hdss/kernel.h"
#include "tests/kernels/run.h"
#include "tests/lib/suite.h"
#include "worker/kernels/synthetic.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { N = 20000 };

static struct stats costs_of(enum synthetic_distribution distribution, double spread, uint64_t seed)
{
    struct synthetic_costs costs = {distribution, N, 100, spread, seed, NULL};
    struct stats stats;
    stats_init(&stats);
    for (uint64_t i = 0; i < N; i++)
        stats_add(&stats, synthetic_cost_us(&costs, i));
    return stats;
}

START_TEST(each_distribution_has_its_mean_and_deviation)
{
    static const struct {
        enum synthetic_distribution distribution;
        double spread, deviation;
    } cases[] = {
        {SYNTHETIC_CONSTANT, 0.5, 0},  {SYNTHETIC_INCREASING, 0.6, 60 / 1.7320508}, {SYNTHETIC_DECREASING, 1, 57.7},
        {SYNTHETIC_GAUSSIAN, 0.2, 20}, {SYNTHETIC_EXPONENTIAL, 0.5, 100},           {SYNTHETIC_BIMODAL, 0.75, 75},
    };
    struct stats stats = costs_of(cases[_i].distribution, cases[_i].spread, 3);
    ck_assert_double_eq_tol(stats.mean, 100, 2);
    ck_assert_double_eq_tol(stats_deviation(&stats), cases[_i].deviation, 2.5);
    ck_assert_double_ge(stats.minimum, 0);
}
END_TEST

START_TEST(costs_rise_and_fall_from_end_to_end)
{
    struct synthetic_costs up = {SYNTHETIC_INCREASING, 1000, 10, 0.5, 1, NULL}, down = up;
    down.distribution = SYNTHETIC_DECREASING;
    ck_assert_double_eq(synthetic_cost_us(&up, 0), 5);
    ck_assert_double_eq(synthetic_cost_us(&up, 999), 15);
    for (uint64_t i = 0; i < 1000; i++) {
        ck_assert(i == 0 || synthetic_cost_us(&up, i) > synthetic_cost_us(&up, i - 1));
        ck_assert_double_eq_tol(synthetic_cost_us(&up, i), synthetic_cost_us(&down, 999 - i), 1e-9);
    }
}
END_TEST

START_TEST(bimodal_costs_are_two)
{
    struct stats stats = costs_of(SYNTHETIC_BIMODAL, 0.75, 4);
    ck_assert_double_eq(stats.minimum, 25);
    ck_assert_double_eq(stats.maximum, 175);
}
END_TEST

START_TEST(a_wide_gaussian_is_cut_off_at_0)
{
    struct stats stats = costs_of(SYNTHETIC_GAUSSIAN, 1, 4);
    ck_assert_double_eq(stats.minimum, 0);
}
END_TEST

START_TEST(the_seed_decides_the_costs)
{
    struct synthetic_costs a = {SYNTHETIC_EXPONENTIAL, 10, 10, 0.5, 1, NULL}, b = a;
    ck_assert_double_eq(synthetic_cost_us(&a, 4), synthetic_cost_us(&b, 4));
    b.seed = 2;
    ck_assert_double_ne(synthetic_cost_us(&a, 4), synthetic_cost_us(&b, 4));
    ck_assert_uint_ne(synthetic_record(1, 4), synthetic_record(2, 4));
    ck_assert_uint_ne(synthetic_record(1, 4), synthetic_record(1, 5));
}
END_TEST

START_TEST(results_do_not_depend_on_the_cut_or_the_cost)
{
    struct kernel_run run;
    kernel_run_open(&run, "synthetic", WORDS("iterations=500", "mean=0"));
    uint64_t *whole = kernel_run_all(&run, 500), *cut = kernel_run_all(&run, 7);
    kernel_run_close(&run);
    ck_assert_int_eq(memcmp(whole, cut, 500 * sizeof *whole), 0);
    kernel_run_open(&run, "synthetic", WORDS("iterations=500", "mean=0.1", "distribution=gaussian", "rate=10"));
    uint64_t *costly = kernel_run_all(&run, 100);
    kernel_run_close(&run);
    ck_assert_int_eq(memcmp(whole, costly, 500 * sizeof *whole), 0);
    for (uint64_t i = 0; i < 500; i++)
        ck_assert_uint_eq(whole[i], synthetic_record(1, i));
    free(whole);
    free(cut);
    free(costly);
}
END_TEST

START_TEST(a_loop_of_1e12_iterations_can_be_described_and_run_in_part)
{
    struct kernel_run run;
    kernel_run_open(&run, "synthetic", WORDS("iterations=1e12", "distribution=increasing", "mean=0.001", "rate=10"));
    ck_assert_uint_eq(run.loop.iterations, 1000000000000u);
    uint64_t records[10];
    kernel_run_range(&run, 999999999990u, 10, records);
    ck_assert_uint_eq(records[9], synthetic_record(1, 999999999999u));
    kernel_run_close(&run);
}
END_TEST

START_TEST(no_iterations_at_all)
{
    struct kernel_run run;
    kernel_run_open(&run, "synthetic", WORDS("iterations=0", "distribution=increasing"));
    ck_assert_uint_eq(run.loop.iterations, 0);
    kernel_run_close(&run);
}
END_TEST

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double cpu_of(const char *mean)
{
    struct kernel_run run;
    kernel_run_open(&run, "synthetic", WORDS("iterations=100", mean, "rate=20"));
    double start = seconds(CLOCK_THREAD_CPUTIME_ID);
    free(kernel_run_all(&run, 10));
    double cpu = seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    kernel_run_close(&run);
    return cpu;
}

/* Eight times the work takes at least three times the CPU time, on any machine that is not quite unable to work. */
START_TEST(busy_costs_are_paid_in_cpu_time)
{
    double little = cpu_of("mean=50"), much = cpu_of("mean=400");
    ck_assert_msg(much > 3 * little, "%g s and %g s", little, much);
}
END_TEST

/* 200 calls of 100 us: short sleeps last too long each, but not all together. Less than the sum is not possible. */
START_TEST(sleeping_costs_add_up)
{
    struct kernel_run run;
    kernel_run_open(&run, "synthetic", WORDS("iterations=200", "mean=100", "mode=sleep"));
    ck_assert(run.loop.waits);
    double start = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_THREAD_CPUTIME_ID);
    free(kernel_run_all(&run, 1));
    double elapsed = seconds(CLOCK_MONOTONIC) - start;
    cpu = seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
    kernel_run_close(&run);
    ck_assert_msg(elapsed >= 0.0199, "%g s", elapsed);
    ck_assert_msg(cpu < elapsed / 2, "%g s of CPU in %g s", cpu, elapsed);
}
END_TEST

/* Stands for that of the C library: nobody wakes in time on a core that others use. */
static long late_ns;

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *deadline, struct timespec *rest)
{
    (void)rest;
    ck_assert_int_eq(clock, CLOCK_MONOTONIC);
    ck_assert_int_eq(flags, TIMER_ABSTIME);
    double until = (double)deadline->tv_sec + (double)(deadline->tv_nsec + late_ns) * 1e-9;
    for (double now; (now = seconds(CLOCK_MONOTONIC)) < until;)
        nanosleep(&(struct timespec){0, (long)(fmin(until - now, 0.9) * 1e9) + 1}, NULL);
    return 0;
}

/* The second call pays half of its 10 ms at least, though the first was 60 ms late. */
START_TEST(late_sleeps_are_made_up_for_little_by_little)
{
    struct kernel_run run;
    kernel_run_open(&run, "synthetic", WORDS("iterations=20", "mean=10000", "mode=sleep"));
    double start[3];
    for (int i = 0; i < 3; i++) {
        uint64_t record;
        char error[HDSS_ERROR_MAX];
        late_ns = i == 0 ? 60000000 : 0;
        start[i] = seconds(CLOCK_MONOTONIC);
        ck_assert_int_eq(run.kernel->run(run.instance, (uint64_t)i, 1, &record, error), 0);
    }
    late_ns = 0;
    ck_assert_msg(start[1] - start[0] >= 0.0699, "%g s", start[1] - start[0]);
    ck_assert_msg(start[2] - start[1] >= 0.0049, "%g s", start[2] - start[1]);
    kernel_run_close(&run);
}
END_TEST

static char path[64];

static void write_costs(const char *text)
{
    strcpy(path, "/tmp/hdss-costs-XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static const char *error_of(const char *costs, const char *iterations)
{
    static char line[HDSS_ERROR_MAX];
    struct kernel_run run;
    struct error error = {""};
    char file[80];
    write_costs(costs);
    snprintf(file, sizeof file, "file=%s", path);
    line[0] = '\0';
    ck_assert_int_eq(kernel_run_describe(&run, "synthetic", WORDS("distribution=file", iterations, file), &error), 0);
    if (run.kernel->open(run.values, &run.loop, &(struct hdss_worker){0}, &run.instance, line) == 0)
        kernel_run_close(&run);
    unlink(path);
    return line;
}

START_TEST(one_worker_computes_named_iterations_wrongly)
{
    _Alignas(64) uint64_t records[10], right[10];
    char text[HDSS_ERROR_MAX] = "";
    struct kernel_run run;
    for (uint32_t rank = 0; rank < 3; rank++) {
        struct error error;
        void *instance;
        ck_assert_int_eq(kernel_run_describe(&run, "synthetic", WORDS("mean=0", "wrong=5,7-8", "wrong_rank=2"), &error),
                         0);
        ck_assert_int_eq(run.kernel->open(run.values, &run.loop, &(struct hdss_worker){.rank = rank}, &instance, text),
                         0);
        ck_assert_int_eq(run.kernel->run(instance, 0, 10, rank == 0 ? right : records, text), 0);
        for (unsigned i = 0; rank > 0 && i < 10; i++)
            ck_assert_int_eq(records[i] != right[i], rank == 2 && (i == 5 || i == 7 || i == 8));
        run.kernel->close(instance);
    }
}
END_TEST

START_TEST(named_iterations_fail)
{
    static const char *const wrong[] = {
        "fail=x", "fail=5,", "fail=5-3", "crash=1;2", "fail=-1", "crash=99999999999999999", "wrong=x"};
    _Alignas(64) uint64_t records[30];
    char text[HDSS_ERROR_MAX] = "";
    struct kernel_run run;
    struct error error;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_int_eq(kernel_run_describe(&run, "synthetic", WORDS(wrong[i]), &error), -1);
        ck_assert_ptr_nonnull(strstr(error.text, "like 5,20-29"));
    }
    kernel_run_open(&run, "synthetic", WORDS("mean=0", "fail=5,20-22,7"));
    ck_assert_int_eq(run.kernel->run(run.instance, 0, 5, records, text), 0);
    ck_assert_int_eq(run.kernel->run(run.instance, 8, 12, records, text), 0);
    ck_assert_int_eq(run.kernel->run(run.instance, 4, 5, records, text), -1);
    ck_assert_str_eq(text, "fail= names iteration 5");
    ck_assert_int_eq(run.kernel->run(run.instance, 21, 9, records, text), -1);
    ck_assert_str_eq(text, "fail= names iteration 21");
    ck_assert_int_eq(run.kernel->run(run.instance, 23, 7, records, text), 0);
    kernel_run_close(&run);
}
END_TEST

START_TEST(costs_come_from_a_file)
{
    char line[HDSS_ERROR_MAX] = "";
    write_costs("# costs\n1.5\n\n  2e3 \r\n0\n7\n");
    double *costs = synthetic_read_costs(path, 3, line, sizeof line);
    unlink(path);
    ck_assert_msg(costs != NULL, "%s", line);
    ck_assert_double_eq(costs[0], 1.5);
    ck_assert_double_eq(costs[1], 2000);
    ck_assert_double_eq(costs[2], 0);
    free(costs);
    ck_assert_str_eq(error_of("0\n0\n0\n", "iterations=3"), "");
}
END_TEST

START_TEST(a_bad_file_of_costs_is_refused_with_the_line)
{
    char expected[200];
    const char *line = error_of("1\n2\n# x\n3s\n", "iterations=4");
    snprintf(expected, sizeof expected, "%s, line 4: '3s'; accepted: a cost in us, from 0 to 1e9", path);
    ck_assert_str_eq(line, expected);
    ck_assert_ptr_nonnull(strstr(error_of("-1\n", "iterations=1"), "line 1: "));
    ck_assert_ptr_nonnull(strstr(error_of("1e300\n", "iterations=1"), "line 1: "));
    ck_assert_ptr_nonnull(strstr(error_of("1\n2\n", "iterations=3"), "has 2 costs, iterations is 3"));
    ck_assert_ptr_null(synthetic_read_costs("/nowhere/costs", 1, expected, sizeof expected));
    ck_assert_str_eq(expected, "file=/nowhere/costs: No such file or directory");
}
END_TEST

START_TEST(file_and_distribution_go_together)
{
    struct kernel_run run;
    struct error error;
    ck_assert_int_eq(kernel_run_describe(&run, "synthetic", WORDS("distribution=file"), &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "file=PATH is missing"));
    ck_assert_int_eq(kernel_run_describe(&run, "synthetic", WORDS("file=x"), &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "distribution=file is missing"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("synthetic");
    TCase *tcase = tcase_create("synthetic");
    tcase_add_loop_test(tcase, each_distribution_has_its_mean_and_deviation, 0, 6);
    tcase_add_test(tcase, costs_rise_and_fall_from_end_to_end);
    tcase_add_test(tcase, bimodal_costs_are_two);
    tcase_add_test(tcase, named_iterations_fail);
    tcase_add_test(tcase, one_worker_computes_named_iterations_wrongly);
    tcase_add_test(tcase, a_wide_gaussian_is_cut_off_at_0);
    tcase_add_test(tcase, the_seed_decides_the_costs);
    tcase_add_test(tcase, results_do_not_depend_on_the_cut_or_the_cost);
    tcase_add_test(tcase, a_loop_of_1e12_iterations_can_be_described_and_run_in_part);
    tcase_add_test(tcase, no_iterations_at_all);
    tcase_add_test(tcase, busy_costs_are_paid_in_cpu_time);
    tcase_add_test(tcase, sleeping_costs_add_up);
    tcase_add_test(tcase, late_sleeps_are_made_up_for_little_by_little);
    tcase_add_test(tcase, costs_come_from_a_file);
    tcase_add_test(tcase, a_bad_file_of_costs_is_refused_with_the_line);
    tcase_add_test(tcase, file_and_distribution_go_together);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
