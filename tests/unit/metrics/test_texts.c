/* SPDX-License-Identifier: MIT */
/* What people see: numbers, the summary and the progress line, as exact texts. */
#include "common/metrics/human.h"
#include "common/metrics/progress.h"
#include "common/metrics/reasons.h"
#include "common/metrics/report.h"
#include "common/metrics/summary.h"
#include "common/sched/sched.h"
#include "common/util/ranges.h"
#include "tests/lib/suite.h"
#include "tests/unit/metrics/sample.h"

#include <math.h>
#include <string.h>

static struct sched_spec spec;

static const struct {
    double seconds;
    const char *text;
} durations[] = {
    {0, "0 s"},
    {0.00000123, "1.23 us"},
    {0.00085, "850 us"},
    {0.0009996, "1.00 ms"},
    {0.0123, "12.3 ms"},
    {0.99949, "999 ms"},
    {0.9996, "1.00 s"},
    {9.994, "9.99 s"},
    {9.996, "10.0 s"},
    {59.94, "59.9 s"},
    {59.96, "1 min 00 s"},
    {185.4, "3 min 05 s"},
    {3599.6, "1 h 00 min"},
    {7500, "2 h 05 min"},
    {86399, "1 d 00 h"},
    {273600, "3 d 04 h"},
    {-1, "?"},
    {NAN, "?"},
    {INFINITY, "?"},
};

START_TEST(durations_read_well)
{
    char text[HUMAN_MAX];
    ck_assert_str_eq(human_duration(text, durations[_i].seconds), durations[_i].text);
}
END_TEST

START_TEST(counts_read_well)
{
    char text[HUMAN_MAX];
    ck_assert_str_eq(human_count(text, 0), "0");
    ck_assert_str_eq(human_count(text, 999), "999");
    ck_assert_str_eq(human_count(text, 1000), "1,000");
    ck_assert_str_eq(human_count(text, UINT64_MAX), "18,446,744,073,709,551,615");
    ck_assert_str_eq(human_si(text, 1e20), "100 E");
    ck_assert_str_eq(human_si(text, 1e21), "?");
    ck_assert_str_eq(human_si(text, -1), "?");
    ck_assert_str_eq(human_si(text, 0), "0");
    ck_assert_str_eq(human_si(text, 319), "319");
    ck_assert_str_eq(human_si(text, 3.14159), "3.14");
    ck_assert_str_eq(human_si(text, 999.4), "999");
    ck_assert_str_eq(human_si(text, 999.6), "1.00 k");
    ck_assert_str_eq(human_si(text, 45600), "45.6 k");
    ck_assert_str_eq(human_si(text, 1e20), "100 E");
    ck_assert_str_eq(human_si(text, NAN), "?");
    ck_assert_str_eq(human_rate(text, 5100), "5.10 k/s");
    ck_assert_str_eq(human_rate(text, 0.5), "30/min");
    ck_assert_str_eq(human_rate(text, 0.002), "7.20/h");
}
END_TEST

START_TEST(bars_fill_by_the_eighth)
{
    char text[3 * HUMAN_BAR_MAX + 1];
    ck_assert_str_eq(human_bar(text, 0, 4, true), "    ");
    ck_assert_str_eq(human_bar(text, 0.5, 4, true), "██  ");
    ck_assert_str_eq(human_bar(text, 0.65625, 4, true), "██▋ ");
    ck_assert_str_eq(human_bar(text, 1, 4, true), "████");
    ck_assert_str_eq(human_bar(text, 7, 4, true), "████");
    ck_assert_str_eq(human_bar(text, NAN, 4, true), "    ");
    ck_assert_str_eq(human_bar(text, 0.5, 4, false), "##  ");
    ck_assert_uint_eq(strlen(human_bar(text, 1, 1000, true)), 3 * HUMAN_BAR_MAX);
}
END_TEST

static void check_summary(struct report *report, unsigned width, bool utf8, const char *expected)
{
    report_compute(report);
    char *text = summary_text(report, width, utf8);
    ck_assert_str_eq(text, expected);
    free(text);
}

START_TEST(a_hierarchical_run)
{
    struct report report = sample_report(&spec);
    report.output = "m.npy";
    report.faults.duplicate_results = 0;
    report.cores = 3;
    check_summary(&report, 80, true,
                  "mandelbrot: 1,000 iterations done in 10.0 s (100/s)\n"
                  "  technique    css:chunk=1250\n"
                  "  chunks       14 in 6 refills\n"
                  "  topology     hierarchical: 2 masters, 4 workers on 2 nodes with 3 cores\n"
                  "  note         4 workers share 3 cores: efficiency and overhead are of the workers\n"
                  "  efficiency   75.0 %; overhead 2.50 s per worker, start-up 250 ms\n"
                  "  imbalance    1.250 max/mean of the workers' finishing times, cov 0.177\n"
                  "  traffic      40 messages, 1.54 kB\n"
                  "  checksum     000000000000abc0\n"
                  "  output       m.npy\n"
                  "  master     workers  share of the time spent computing\n"
                  "       1           2  ███████████████████████████████████████▎           80.0 %\n"
                  "       2           2  ██████████████████████████████████▎                70.0 %\n");
}
END_TEST

START_TEST(what_was_verified_is_told)
{
    struct report report = sample_report(&spec);
    report.verify = (struct report_verify){.share = 0.25, .alike = 200};
    report_compute(&report);
    char *text = summary_text(&report, 80, true);
    ck_assert_ptr_nonnull(strstr(text, "  verified     200 iterations were computed twice with the same results\n"));
    free(text);
    report.verify = (struct report_verify){.share = 0.25, .alike = 1, .differing = 30, .unverified = 4};
    report_compute(&report);
    text = summary_text(&report, 80, true);
    ck_assert_ptr_nonnull(strstr(text, "  verified     1 iteration was computed twice with the same results, 30 with"
                                       " different ones;\n               4 more were drawn, and nobody else could"
                                       " compute them\n"));
    free(text);
}
END_TEST

START_TEST(recalls_are_told_where_there_are_any)
{
    static const struct report_worker lost[] = {{.rank = 3, .iterations = 1000}};
    struct report report = sample_report(&spec);
    report.recalls = (struct report_recalls){.count = 12, .iterations = 340};
    report_compute(&report);
    char *text = summary_text(&report, 80, true);
    ck_assert_ptr_nonnull(strstr(text,
                                 "  chunks       14 in 6 refills\n"
                                 "  recall       12 recalls moved 340 iterations, worth about 10.2 s of computing\n"));
    free(text);
    report.recalls = (struct report_recalls){.count = 1, .iterations = 1};
    report.workers = 1; /* nobody knows how long its iterations took */
    report.worker_stats = lost;
    report_compute(&report);
    text = summary_text(&report, 80, true);
    ck_assert_ptr_nonnull(strstr(text, "  recall       1 recall moved 1 iteration\n"));
    free(text);
}
END_TEST

START_TEST(workers_share_cores)
{
    struct report report = sample_report(&spec);
    struct report_worker rows[4];
    memcpy(rows, report.worker_stats, sizeof rows);
    for (unsigned i = 0; i < 4; i++) {
        rows[i].cores = 0.5;
        rows[i].processor_s = 4.5;
    }
    report.worker_stats = rows;
    report.nodes = 1;
    report.cores = 2;
    report_compute(&report);
    char *text = summary_text(&report, 80, true);
    ck_assert_ptr_nonnull(strstr(text,
                                 "  note         4 workers share 2 cores: efficiency and overhead are of the cores\n"
                                 "  efficiency   90.0 %; overhead 1.00 s per core, start-up 250 ms\n"));
    ck_assert_ptr_nonnull(strstr(text, " 45.0 %\n")); /* of the time of each */
    free(text);
    report.cores = 8; /* another node has more than enough */
    text = summary_text(&report, 80, true);
    ck_assert_ptr_nonnull(
        strstr(text, "  note         workers share cores: efficiency and overhead are of the cores\n"));
    free(text);
}
END_TEST

START_TEST(a_central_run_that_was_drained)
{
    struct report report = sample_report(&spec);
    report.topology = REPORT_CENTRAL;
    report.outcome = REPORT_DRAINED;
    report.masters = report.refills = 0;
    report.iterations = 10000;
    report.done = 9996;
    report.weighting = SCHED_WEIGHTING_POWER;
    report.min_chunk = 4;
    report.nodes = 1;
    report.faults.lost_workers = 2;
    report.faults.late_workers = 1;
    const struct report_aside aside = {.node = 1, .failed = 1200, .worked = 19, .beside = 20};
    report.aside = &aside;
    report.aside_count = 1;
    report.output = "m.npy";
    report.cores = 8; /* enough: no note */
    check_summary(&report, 60, false,
                  "mandelbrot: stopped by a signal after a clean drain\n"
                  "  done         9,996 of 10,000 iterations (99.9 %) in 10.0 s (1.00 k/s)\n"
                  "  technique    css:chunk=1250, weighted by power\n"
                  "  chunks       14, at least 4 iterations each\n"
                  "  topology     central: 4 workers on 1 node with 8 cores\n"
                  "  efficiency   75.0 %; overhead 2.50 s per worker, start-up 250 ms\n"
                  "  imbalance    1.250 max/mean of the workers' finishing times, cov 0.177\n"
                  "  traffic      40 messages, 1.54 kB\n"
                  "  faults       2 lost workers, 1 late worker, 1 duplicate result\n"
                  "  put aside    node 1, after 1,200 failed tasks while 19 of 20 beside them worked elsewhere\n"
                  "  checksum     000000000000abc0\n"
                  "  output       m.npy (4 of its records not computed: zero)\n"
                  "  worker  iterations  share of the time spent computing\n"
                  "       3         100  ##########################     90.0 %\n"
                  "       4         200  ####################           70.0 %\n"
                  "       5         300  #################              60.0 %\n"
                  "       6         400  #######################        80.0 %\n");
}
END_TEST

START_TEST(loads_are_told)
{
    struct report report = sample_report(&spec);
    struct report_worker workers[3];
    memcpy(workers, report.worker_stats, sizeof workers);
    workers[0].load = 1;
    workers[2].load = 2.25;
    report.workers = 3;
    report.worker_stats = workers;
    report.weighting = SCHED_WEIGHTING_ACP;
    char *text = summary_text(&report, 80, true);
    ck_assert_ptr_nonnull(strstr(text,
                                 ", weighted by acp\n"
                                 "  loads        of the workers' cores from 1 to 2.25; 1 where nobody else is\n"));
    free(text);
}
END_TEST

START_TEST(a_run_in_time_steps)
{
    struct report report = sample_report(&spec);
    const struct report_step steps[] = {{0, 0, NULL}, {4, 7, NULL}, {2, 7, NULL}};
    report.steps = steps;
    report.step_count = 3;
    report_compute(&report);
    char *text = summary_text(&report, 80, true);
    ck_assert_ptr_nonnull(strstr(text, "\n  steps        3: 3.00 s each, from 2.00 s to 4.00 s\n"));
    free(text);
}
END_TEST

START_TEST(a_run_that_failed_at_once)
{
    struct report report = sample_report(&spec);
    report.outcome = REPORT_FAILED;
    report.failure = "m.npy: No space left on device";
    report.elapsed_s = report.startup_s = 0;
    report.done = report.chunks = report.refills = report.messages = report.bytes_on_wire = report.checksum = 0;
    report.faults.duplicate_results = 0;
    check_summary(&report, 80, true,
                  "mandelbrot: failed: m.npy: No space left on device\n"
                  "  done         0 of 1,000 iterations (0.0 %)\n"
                  "  technique    css:chunk=1250\n"
                  "  chunks       0\n"
                  "  topology     hierarchical: 2 masters, 4 workers on 2 nodes\n"
                  "  traffic      0 messages, 0 B\n"
                  "  checksum     0000000000000000\n");
}
END_TEST

START_TEST(what_was_given_up_is_named)
{
    static const struct range failed[] = {{5, 1}, {10, 2}, {20, 1}, {30, 1}, {40, 1}};
    struct report report = sample_report(&spec);
    char *text;
    report.outcome = REPORT_TASKS_FAILED;
    report.done = 994;
    report.failed = failed;
    report.failed_count = 5;
    text = summary_text(&report, 80, true);
    ck_assert_ptr_nonnull(strstr(text, "mandelbrot: done but for what failed\n  done         994 of 1,000"));
    ck_assert_ptr_nonnull(strstr(text, "  given up     5:1, 10:2, 20:1, 30:1 and 1 more (first:count)\n"));
    free(text);
}
END_TEST

START_TEST(tasks_are_called_tasks)
{
    static const struct range failed[] = {{5, 1}, {10, 10}};
    struct reasons reasons = {.count = 2,
                              .items = {{REASON_EXIT, 1, 10, 6, "./fit b.dat", "cannot open b.dat"},
                                        {REASON_SIGNAL, 9, 1, 16, "./fit l.dat", ""}}};
    struct report report = sample_report(&spec);
    char *text;
    report.are_tasks = true;
    report.outcome = REPORT_TASKS_FAILED;
    report.done = report.iterations;
    report.failed_tasks = failed;
    report.failed_task_count = 2;
    report.reasons = &reasons;
    text = summary_text(&report, 100, true);
    ck_assert_ptr_nonnull(
        strstr(text, "mandelbrot: 11 of 1,000 tasks failed\n  done         989 of 1,000 tasks (98.9 %)"));
    ck_assert_ptr_nonnull(strstr(text,
                                 "  failed       tasks 6, 11-20\n"
                                 "  reasons      10 tasks failed with exit 1, e.g. 6 ./fit b.dat: cannot open b.dat\n"
                                 "               1 task was ended by SIGKILL: 16 ./fit l.dat\n"
                                 "  ledger       1000 submitted = 989 done + 11 failed + 0 given up\n"));
    ck_assert_ptr_null(strstr(text, "iteration"));
    free(text);
    report.outcome = REPORT_DONE;
    report.failed_task_count = 0;
    report.reasons = NULL;
    text = summary_text(&report, 80, true);
    ck_assert(strncmp(text, "mandelbrot: 1,000 tasks done in ", 32) == 0);
    free(text);
}
END_TEST

START_TEST(measured_values_stand_below_the_technique)
{
    static const struct technique_param params[] = {
        {.name = "mu", .kind = SCHED_PARAM_REAL, .maximum = 1e9},
        {.name = "swr", .kind = SCHED_PARAM_REAL, .maximum = 1},
        {.name = NULL},
    };
    static const struct technique technique = {.name = "made-up", .params = params};
    const struct sched_spec made_up = {.technique = &technique};
    struct report report = sample_report(&spec);
    report.technique = made_up;
    report.measured[0] = (struct sched_value_used){"mu", 0.0012};
    report.measured[1] = (struct sched_value_used){"swr", 0.25};
    report.measured_count = 2;
    report_compute(&report);
    char *text = summary_text(&report, 80, true);
    ck_assert_ptr_nonnull(
        strstr(text, "\n  technique    made-up\n  measured     mu 1.20 ms, swr 0.25\n  chunks       14 in"));
    free(text);
}
END_TEST

START_TEST(many_bars_are_cut)
{
    static struct report_worker workers[100];
    struct report report = sample_report(&spec);
    for (unsigned i = 0; i < 100; i++)
        workers[i] = (struct report_worker){.rank = 51 + i, .master = 1 + i / 2, .iterations = 1, .compute_s = 5};
    report.workers = 100;
    report.masters = 50;
    report.worker_stats = workers;
    report_compute(&report);
    char *text = summary_text(&report, 80, false);
    ck_assert_ptr_nonnull(strstr(text, "\n      16           2  #"));
    ck_assert_ptr_null(strstr(text, "\n      17           2  #"));
    ck_assert_ptr_nonnull(strstr(text, "  50.0 %\n  and 34 more\n"));
    free(text);
}
END_TEST

static const struct progress running = {
    .name = "mandelbrot", .done = 2170, .total = 4096, .elapsed_s = 6.8, .busy = 3, .workers = 4};

static const struct {
    unsigned width;
    const char *line;
} widths[] = {
    {100, "mandelbrot  │█████████████▎           │   52 %  2,170 of 4,096  319/s  7 s left  3 of 4 busy"},
    {79, "│██████████▏        │   52 %  2,170 of 4,096  319/s  7 s left  3 of 4 busy"},
    {65, "│█████▎    │   52 %  2,170 of 4,096  319/s  7 s left  3 of 4 busy"},
    {64, " 52 %  2,170 of 4,096  319/s  7 s left  3 of 4 busy"},
    {40, " 52 %  2,170 of 4,096  319/s  7 s left"},
    {37, " 52 %  2,170 of 4,096  7 s left"},
    {20, " 52 %  7 s left"},
    {10, " 52 %"},
    {4, ""},
    {0, ""},
};

START_TEST(the_line_fits)
{
    char line[PROGRESS_LINE_MAX];
    ck_assert_str_eq(progress_line(&running, widths[_i].width, true, line), widths[_i].line);
}
END_TEST

static const struct {
    struct progress progress;
    const char *end, *line;
} logged[] = {
    {{.name = "k", .total = 10, .workers = 2}, NULL, "k: 0 of 10 (0 %), 0 of 2 busy"},
    {{.name = "k", .done = 2170, .total = 4096, .elapsed_s = 6.8, .busy = 3, .workers = 4},
     "17:17:48",
     "k: 2,170 of 4,096 (52 %), 319/s, end expected 17:17:48, 3 of 4 busy"},
    {{.name = "k", .done = 500, .total = 1000, .elapsed_s = 50, .busy = 1, .workers = 2, .lost = 1, .draining = true},
     "17:17:48",
     "k: 500 of 1,000 (50 %), 10/s, draining, 1 of 2 busy, 1 lost"},
    {{.name = "k", .done = 1000, .total = 1000, .elapsed_s = 125, .workers = 2},
     "17:17:48",
     "k: 1,000 of 1,000 (100 %), 8/s, 0 of 2 busy"},
};

START_TEST(the_log_tells_the_state)
{
    char line[PROGRESS_LINE_MAX];
    ck_assert_str_eq(progress_log(&logged[_i].progress, logged[_i].end, line), logged[_i].line);
}
END_TEST

static const struct {
    struct progress progress;
    const char *line;
} states[] = {
    {{.total = 10, .workers = 2}, "[                   ]    0 %  0 of 10  0 of 2 busy"},
    {{.total = 10, .elapsed_s = 3, .busy = 2, .workers = 2}, "[                   ]    0 %  0 of 10  2 of 2 busy"},
    {{.workers = 2}, "[###################]  100 %  0 of 0  nothing to do  0 of 2 busy"},
    {{.done = 999, .total = 1000, .elapsed_s = 999, .workers = 2}, "99 %  999 of 1,000  1/s  1 s left  0 of 2 busy"},
    {{.done = INT64_MAX, .total = UINT64_C(1) << 63}, "99 %  9,223,372,036,854,775,807 of 9,223,372,036,854,775,808"},
    {{.done = 1000, .total = 1000, .elapsed_s = 125, .workers = 2}, "100 %  1,000 of 1,000  8/s  took 2 min 05 s"},
    {{.done = 500, .total = 1000, .elapsed_s = 50, .busy = 1, .workers = 2, .draining = true},
     "[##########         ]   50 %  500 of 1,000  10/s  draining  1 of 2 busy"},
    {{.done = 1, .total = 101, .elapsed_s = 2736}, "0 %  1 of 101  1.32/h  3 d 04 h left"},
    {{.done = 1, .total = 1000000, .elapsed_s = 3600}, "1 of 1,000,000  1/h  over 99 d left"},
    {{.done = 600, .resumed = 500, .total = 1000, .elapsed_s = 10}, "600 of 1,000  10/s  40 s left"},
    {{.done = 500, .total = 1000, .elapsed_s = 50, .busy = 1, .workers = 2, .grows = true},
     "[##########         ]  500 of 1,000 so far  10/s  50 s left  1 of 2 busy"},
    {{.done = 1000, .total = 1000, .elapsed_s = 50, .workers = 2, .grows = true},
     "1,000 of 1,000 so far  20/s  waits for more  0 of 2 busy"},
    {{.workers = 2, .grows = true}, "0 of 0 so far  waits for more  0 of 2 busy"},
};

START_TEST(the_line_tells_the_state)
{
    char line[PROGRESS_LINE_MAX];
    progress_line(&states[_i].progress, 79, false, line);
    ck_assert_msg(strstr(line, states[_i].line) != NULL, "'%s' is not in '%s'", states[_i].line, line);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("texts");
    TCase *tests = tcase_create("all");
    tcase_add_loop_test(tests, durations_read_well, 0, sizeof durations / sizeof *durations);
    tcase_add_test(tests, counts_read_well);
    tcase_add_test(tests, bars_fill_by_the_eighth);
    tcase_add_test(tests, a_hierarchical_run);
    tcase_add_test(tests, recalls_are_told_where_there_are_any);
    tcase_add_test(tests, what_was_verified_is_told);
    tcase_add_test(tests, workers_share_cores);
    tcase_add_test(tests, a_central_run_that_was_drained);
    tcase_add_test(tests, loads_are_told);
    tcase_add_test(tests, a_run_in_time_steps);
    tcase_add_test(tests, a_run_that_failed_at_once);
    tcase_add_test(tests, what_was_given_up_is_named);
    tcase_add_test(tests, tasks_are_called_tasks);
    tcase_add_test(tests, measured_values_stand_below_the_technique);
    tcase_add_test(tests, many_bars_are_cut);
    tcase_add_loop_test(tests, the_line_fits, 0, sizeof widths / sizeof *widths);
    tcase_add_loop_test(tests, the_log_tells_the_state, 0, sizeof logged / sizeof *logged);
    tcase_add_loop_test(tests, the_line_tells_the_state, 0, sizeof states / sizeof *states);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
