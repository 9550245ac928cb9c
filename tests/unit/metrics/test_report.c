/* SPDX-License-Identifier: MIT */
/* The report: figures against numbers computed by hand, and the JSON read back. */
#include "common/metrics/reasons.h"
#include "common/metrics/report.h"
#include "common/metrics/summary.h"
#include "common/predict/choose.h"
#include "common/sched/sched.h"
#include "common/util/ranges.h"
#include "hdss/kernel.h"
#include "tests/lib/suite.h"
#include "tests/unit/metrics/sample.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static struct sched_spec spec;

static json_t *read_back(const struct report *report)
{
    json_error_t error;
    char *text = report_json(report);
    ck_assert_ptr_nonnull(text);
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(object != NULL, "%s in %s", error.text, text);
    free(text);
    return object;
}

START_TEST(figures_follow_from_the_measurements)
{
    struct report report = sample_report(&spec);
    report_compute(&report);
    ck_assert_double_eq(report.compute_s, 30);
    ck_assert_double_eq(report.overhead_s, 2.5);                       /* 10 - 30 / 4 */
    ck_assert_double_eq(report.efficiency, 0.75);                      /* 30 / (10 * 4) */
    ck_assert_double_eq(report.imbalance.max_over_mean, 1.25);         /* 10 / 8 */
    ck_assert_double_eq_tol(report.imbalance.cov, sqrt(2) / 8, 1e-15); /* of 10, 8, 8, 6 */
}
END_TEST

/* Finishing times 10, 8, 8, 6 and busy times 9, 7, 6, 8 of a loop of 10 s. */
START_TEST(figures_of_merit_follow_from_their_definitions)
{
    struct report report = sample_report(&spec);
    report_compute(&report);
    ck_assert_double_eq(report.cost_s, 40);
    ck_assert_double_eq(report.imbalance.excess, 0.25);
    ck_assert_double_eq_tol(report.imbalance.percent, 100 * (10 - 8.) / 10 * 4 / 3, 1e-12);
    ck_assert_double_eq_tol(report.busy.max_over_mean, 9 / 7.5, 1e-12);
    ck_assert_double_eq_tol(report.busy.cov, sqrt(1.25) / 7.5, 1e-12);
    ck_assert_double_eq_tol(report.busy.percent, 100 * (9 - 7.5) / 9 * 4 / 3, 1e-12);
    ck_assert_double_eq(report.scheduling_s, 1); /* 1, 1, 2, and 0: nobody waits for less than no time */
    ck_assert_double_eq(report.idle_s, 2);       /* 0, 2, 2, 4 */
}
END_TEST

START_TEST(one_worker_that_does_it_all_is_100_percent)
{
    const struct report_worker rows[3] = {{.compute_s = 0}, {.compute_s = 10, .finish_s = 10}, {.compute_s = 0}};
    struct report report = sample_report(&spec);
    report.worker_stats = rows;
    report.workers = 3;
    report_compute(&report);
    ck_assert_double_eq_tol(report.busy.percent, 100, 1e-12);
    ck_assert_double_eq_tol(report.busy.excess, 2, 1e-12);
    ck_assert_double_eq_tol(report.idle_s, 20. / 3, 1e-12);
    ck_assert_double_eq(report.scheduling_s, 0);
    report.worker_stats = &rows[1];
    report.workers = 1;
    report_compute(&report);
    ck_assert_double_eq(report.busy.percent, 0);
    ck_assert_double_eq(report.busy.max_over_mean, 1);
}
END_TEST

/* Four workers of a node with two cores, which are inside the kernel for 90 % of the time and have a core for half of
 * it. */
START_TEST(workers_that_share_cores_are_measured_by_these)
{
    struct report_worker rows[4];
    struct report report = sample_report(&spec);
    for (unsigned i = 0; i < 4; i++)
        rows[i] = (struct report_worker){.rank = i, .compute_s = 9, .finish_s = 10, .cores = 0.5, .processor_s = 4.75};
    report.worker_stats = rows;
    report_compute(&report);
    ck_assert_double_eq(report.compute_s, 36);
    ck_assert_double_eq(report.shared.cores, 2);
    ck_assert_double_eq(report.shared.compute_s, 19);
    ck_assert_double_eq(report.efficiency, 0.95); /* 19 / (10 * 2) */
    ck_assert_double_eq(report.overhead_s, 0.5);  /* 10 - 19 / 2 */
    ck_assert_double_eq(report.cost_s, 20);
    for (unsigned i = 0; i < 4; i++)
        rows[i].compute_s = 3; /* the rest of their processor time went to messages */
    report_compute(&report);
    ck_assert_double_eq(report.shared.compute_s, 12);
    ck_assert_double_eq(report.efficiency, 0.6);
}
END_TEST

/* A node with two workers of two threads on three cores, and one with a worker that has cores enough for its two. */
START_TEST(only_nodes_with_too_few_cores_count_by_these)
{
    struct report_worker rows[3];
    struct report report = sample_report(&spec);
    for (unsigned i = 0; i < 3; i++)
        rows[i] = (struct report_worker){.rank = i, .node = i / 2, .compute_s = 8, .finish_s = 10, .threads = 2};
    rows[0].cores = rows[1].cores = 1.5;
    rows[0].processor_s = 13.5; /* of two threads, which were inside the kernel for 16 s */
    rows[1].processor_s = 15.5;
    report.workers = 3;
    report.worker_stats = rows;
    report_compute(&report);
    ck_assert_double_eq(report.shared.cores, 5);
    ck_assert_double_eq(report.shared.compute_s, 45); /* 13.5 + 15.5 + 2 * 8 */
    ck_assert_double_eq(report.efficiency, 0.9);
    ck_assert_double_eq(report.overhead_s, 1);
    rows[0].cores = rows[1].cores = 0; /* cores enough for all: as ever */
    report_compute(&report);
    ck_assert_double_eq(report.shared.cores, 0);
    ck_assert_double_eq(report.cost_s, 60); /* 10 s of six threads */
    ck_assert_double_eq(report.efficiency, 0.8);
    ck_assert_double_eq(report.overhead_s, 2);
}
END_TEST

START_TEST(what_is_shared_is_told)
{
    struct report_worker rows[2];
    struct report report = sample_report(&spec);
    for (unsigned i = 0; i < 2; i++)
        rows[i] = (struct report_worker){.compute_s = 9, .finish_s = 10, .cores = 0.5, .processor_s = 4.5};
    report.workers = 2;
    report.worker_stats = rows;
    report_compute(&report);
    json_t *object = read_back(&report);
    char *text = json_dumps(json_object_get(object, "shared"), JSON_REAL_PRECISION(15));
    ck_assert_str_eq(text, "{\"cores\": 1.0, \"compute_s\": 9.0}");
    free(text);
    json_t *worker = json_array_get(json_object_get(object, "worker_stats"), 1);
    ck_assert_double_eq(json_real_value(json_object_get(worker, "cores")), 0.5);
    ck_assert_double_eq(json_real_value(json_object_get(worker, "processor_s")), 4.5);
    json_decref(object);
}
END_TEST

/* The last two of the sample have joined: one for 7 of the 10 s, and one for 9, which is still there. */
static struct report report_with_pods(struct report_worker rows[4])
{
    struct report report = sample_report(&spec);
    memcpy(rows, sample_workers, sizeof sample_workers);
    rows[2].is_of_pod = rows[2].has_left = rows[3].is_of_pod = true;
    rows[2].presence_s = 7;
    rows[3].presence_s = 9;
    report.worker_stats = rows;
    report.masters = 4;
    report.pods = (struct report_pods){.joined = 2, .left = 1};
    return report;
}

START_TEST(those_who_have_joined_count_while_they_were_there)
{
    struct report_worker rows[4];
    struct report report = report_with_pods(rows);
    report_compute(&report);
    ck_assert_double_eq(report.compute_s, 30);
    ck_assert_double_eq_tol(report.efficiency, 30. / 36, 1e-15); /* 10 + 10 + 7 + 9 */
    ck_assert_double_eq(report.overhead_s, 1.5);                 /* (36 - 30) / 4 */
    ck_assert_double_eq(report.cost_s, 36);
    ck_assert_double_eq_tol(report.scheduling_s, 2. / 3, 1e-12); /* 1, 1, and 0 of who joined at 1 */
    ck_assert_double_eq_tol(report.idle_s, 2, 1e-12);            /* 0, 2, 4 */
    ck_assert_double_eq(report.imbalance.max_over_mean, 1.25);   /* 10 / 8, of those that are there at the end */
}
END_TEST

START_TEST(a_lost_worker_is_not_taken_to_have_finished_at_once)
{
    struct report_worker rows[4];
    struct report report = sample_report(&spec);
    memcpy(rows, sample_workers, sizeof sample_workers);
    rows[3] = (struct report_worker){.rank = rows[3].rank, .has_left = true};
    report.worker_stats = rows;
    report_compute(&report);
    ck_assert_double_eq_tol(report.imbalance.max_over_mean, 10 / (26. / 3), 1e-12); /* of 10, 8, 8 */
    ck_assert_double_eq_tol(report.busy.max_over_mean, 9 / (22. / 3), 1e-12);       /* of 9, 7, 6 */
}
END_TEST

START_TEST(those_who_have_joined_are_told)
{
    struct report_worker rows[4];
    struct report report = report_with_pods(rows);
    report_compute(&report);
    json_t *object = read_back(&report);
    char *pods = json_dumps(json_object_get(object, "pods"), 0), *text = summary_text(&report, 80, false);
    ck_assert_str_eq(pods, "{\"joined\": 2, \"left\": 1, \"lost\": 0}");
    ck_assert_msg(strstr(text, "  pods         2 masters joined with workers, 1 left again, 0 lost\n") != NULL, "%s",
                  text);
    for (unsigned i = 0; i < 4; i++) {
        const json_t *presence =
            json_object_get(json_array_get(json_object_get(object, "worker_stats"), i), "presence_s");
        ck_assert_int_eq(presence != NULL, i >= 2);
        ck_assert_double_eq(json_number_value(presence), rows[i].presence_s);
    }
    free(pods);
    free(text);
    json_decref(object);
    report = sample_report(&spec);
    object = read_back(&report);
    text = summary_text(&report, 80, false);
    ck_assert_ptr_null(json_object_get(object, "pods"));
    ck_assert_ptr_null(strstr(text, "pods"));
    free(text);
    json_decref(object);
}
END_TEST

START_TEST(late_workers_are_told_where_there_are_any)
{
    for (unsigned late = 0; late < 3; late++) {
        struct report report = sample_report(&spec);
        report.faults.late_workers = late;
        report_compute(&report);
        char *text = report_json(&report);
        json_t *object = json_loads(text, 0, NULL);
        const json_t *count = json_object_get(json_object_get(object, "faults"), "late_workers");
        ck_assert(late > 0 ? json_integer_value(count) == late : count == NULL);
        json_decref(object);
        free(text);
    }
}
END_TEST

START_TEST(nodes_that_were_put_aside_are_listed)
{
    const struct report_aside aside[] = {{.node = 2, .failed = 11, .worked = 19, .beside = 20},
                                         {.node = 2, .is_back = true}};
    for (size_t count = 0; count <= 2; count++) {
        struct report report = sample_report(&spec);
        report.aside = aside;
        report.aside_count = count;
        report_compute(&report);
        char *text = report_json(&report);
        json_t *object = json_loads(text, 0, NULL);
        const json_t *list = json_object_get(object, "put_aside");
        ck_assert_uint_eq(json_array_size(list), count > 0);
        const json_t *first = json_array_get(list, 0);
        ck_assert(count == 0 || json_integer_value(json_object_get(first, "node")) == 2);
        ck_assert(count == 0 || json_integer_value(json_object_get(first, "failed")) == 11);
        ck_assert(count == 0 || json_integer_value(json_object_get(first, "worked_elsewhere")) == 19);
        ck_assert(count == 0 || json_integer_value(json_object_get(first, "ended_elsewhere")) == 20);
        json_decref(object);
        free(text);
    }
}
END_TEST

START_TEST(nothing_done_divides_nothing_by_zero)
{
    static const struct report_worker idle[2] = {{.rank = 1}, {.rank = 2}};
    struct report report = sample_report(&spec);
    report.workers = 2;
    report.worker_stats = idle;
    report.iterations = report.done = report.chunks = 0;
    report.elapsed_s = 0;
    report_compute(&report);
    ck_assert_double_eq(report.compute_s, 0);
    ck_assert_double_eq(report.overhead_s, 0);
    ck_assert_double_eq(report.efficiency, 0);
    static const struct report_worker sharing[2] = {{.rank = 1, .cores = 0.5}, {.rank = 2, .cores = 0.5}};
    report.worker_stats = sharing;
    report_compute(&report);
    ck_assert_double_eq(report.overhead_s, 0);
    ck_assert_double_eq(report.efficiency, 0);
    ck_assert_double_eq(report.imbalance.max_over_mean, 1);
    ck_assert_double_eq(report.imbalance.cov, 0);
    ck_assert_double_eq(report.busy.percent, 0);
    ck_assert_double_eq(report.cost_s, 0);
}
END_TEST

/* Names, order and values, as the manual has them. */
static const char expected[] =
    "{\"hdss\": \"1.2.3\", \"topology\": \"hierarchical\","
    " \"kernel\": {\"name\": \"mandelbrot\","
    " \"params\": {\"width\": 4096, \"xmin\": -0.1, \"unit\": \"row\", \"file\": \"a \\\"b\\\"\"}},"
    " \"technique\": {\"name\": \"css\", \"params\": {\"chunk\": 1250}, \"measured\": {}, \"weighting\": \"power\", "
    "\"min_chunk\": 7},"
    " \"outcome\": \"done\", \"first\": 0, \"iterations\": 1000, \"done\": 1000,"
    " \"masters\": 2, \"workers\": 4, \"nodes\": 3, \"started_at\": \"2024-02-29T12:30:45Z\","
    " \"elapsed_s\": 10.0, \"startup_s\": 0.25, \"compute_s\": 30.0, \"overhead_s\": 2.5,"
    " \"scheduling_s\": 1.0, \"idle_s\": 2.0, \"efficiency\": 0.75, \"cost_s\": 40.0,"
    " \"imbalance\": {\"max_over_mean\": 1.25, \"cov\": 0.176776695296637, \"excess\": 0.25, \"percent\": "
    "26.6666666666667},"
    " \"busy\": {\"max_over_mean\": 1.2, \"cov\": 0.149071198499986, \"excess\": 0.2, \"percent\": "
    "22.2222222222222},"
    " \"chunks\": 14, \"refills\": 6,"
    " \"recalls\": {\"count\": 2, \"iterations\": 100, \"worth_s\": 3.0}, \"messages\": 40, \"bytes_on_wire\": 1536, "
    "\"checksum\": \"000000000000abc0\","
    " \"faults\": {\"lost_workers\": 11, \"lost_masters\": 12, \"reissued_chunks\": 13, \"duplicate_results\": 1,"
    " \"resumed_iterations\": 15}, \"failed\": [[7, 3], [20, 1]],"
    " \"failures\": [{\"first\": 7, \"count\": 3, \"worker\": 5, \"reason\": \"no \\\"luck\\\"\"},"
    " {\"first\": 20, \"count\": 1, \"worker\": null, \"reason\": \"dead\"}],"
    " \"failed_tasks\": [[2, 1]],"
    " \"task_failures\": [{\"task\": 3, \"end\": \"exit 1\", \"command\": \"./fit\", \"error\": \"no ?\"}],"
    " \"worker_stats\": ["
    "{\"rank\": 3, \"node\": 0, \"master\": 1, \"power\": 1.0, \"iterations\": 100, \"chunks\": 2, \"compute_s\": 9.0,"
    " \"wait_s\": 0.5, \"finish_s\": 10.0}, "
    "{\"rank\": 4, \"node\": 0, \"master\": 1, \"power\": 2.5, \"iterations\": 200, \"chunks\": 3, \"compute_s\": 7.0,"
    " \"wait_s\": 1.0, \"finish_s\": 8.0}, "
    "{\"rank\": 5, \"node\": 1, \"master\": 2, \"power\": 1.0, \"iterations\": 300, \"chunks\": 4, \"compute_s\": 6.0,"
    " \"wait_s\": 2.0, \"finish_s\": 8.0}, "
    "{\"rank\": 6, \"node\": 1, \"master\": 2, \"power\": 1.0, \"iterations\": 400, \"chunks\": 5, \"compute_s\": 8.0,"
    " \"wait_s\": 1.0, \"finish_s\": 6.0}]}";

START_TEST(the_json_is_the_report)
{
    struct report report = sample_report(&spec);
    report.weighting = SCHED_WEIGHTING_POWER;
    report.min_chunk = 7;
    report.nodes = 3;
    static const struct range failed[] = {{7, 3}, {20, 1}};
    report.recalls = (struct report_recalls){.count = 2, .iterations = 100};
    report.faults = (struct report_faults){11, 12, 13, 1, 15};
    report.failed = failed;
    report.failed_count = 2;
    static char luck[] = "no \"luck\"", dead[] = "dead";
    const struct report_failure failures[] = {
        {{30, 1}, 5, false, luck}, {{7, 3}, 5, true, luck}, {{20, 1}, REPORT_NO_RANK, true, dead}};
    report.failures = failures;
    report.failure_count = 3;
    report.failed_tasks = &(const struct range){2, 1};
    report.failed_task_count = 1;
    struct failed_task task = {3, "exit 1", "./fit", "no \xff"};
    report.reasons = &(const struct reasons){.latest = &task, .added = 1};
    report_compute(&report);
    json_t *object = read_back(&report);
    char *text = json_dumps(object, JSON_REAL_PRECISION(15)); /* the order is kept */
    ck_assert_str_eq(text, expected);
    free(text);
    json_decref(object);
}
END_TEST

START_TEST(what_was_verified_is_told_where_it_was_wanted)
{
    struct report report = sample_report(&spec);
    const struct report_mismatch list[] = {{{5, 2}, 2, {3, 4}, -1}, {{9, 1}, 3, {6, 4, 5}, 1}};
    report.verify = (struct report_verify){0.25, 7, 200, 3, 4, list, 2};
    report_compute(&report);
    json_t *object = read_back(&report);
    char *text = json_dumps(json_object_get(object, "verify"), 0);
    ck_assert_str_eq(text, "{\"share\": 0.25, \"seed\": 7, \"alike\": 200, \"differing\": 3, \"unverified\": 4,"
                           " \"mismatches\": [{\"first\": 5, \"count\": 2, \"workers\": [3, 4], \"wrong\": null},"
                           " {\"first\": 9, \"count\": 1, \"workers\": [6, 4, 5], \"wrong\": 4}]}");
    free(text);
    json_decref(object);
}
END_TEST

START_TEST(the_steps_are_told)
{
    struct report report = sample_report(&spec);
    uint64_t cut[] = {1, 2, 3, 4};
    const struct report_step steps[] = {{0.5, 14, cut}, {0, 0, NULL}};
    report.steps = steps;
    report.step_count = 2;
    report_compute(&report);
    json_t *object = read_back(&report);
    char *text = json_dumps(json_object_get(object, "steps"), 0);
    ck_assert_str_eq(text, "[{\"elapsed_s\": 0.5, \"chunks\": 14, \"iterations\": [1, 2, 3, 4]},"
                           " {\"elapsed_s\": 0.0, \"chunks\": 0}]");
    free(text);
    json_decref(object);
}
END_TEST

START_TEST(what_auto_predicted_is_told)
{
    struct report report = sample_report(&spec);
    struct choice choice = {.count = 3, .chosen = 1, .times = 2, .iterations = 750};
    choice.candidates[0] = (struct candidate){.spec = {.technique = sched_find("ss")}, .name = "ss", .too_many = 1000};
    choice.candidates[1] =
        (struct candidate){.spec = {.technique = sched_find("css")}, .name = "css", .predicted_s = 1.5};
    choice.candidates[2] =
        (struct candidate){.spec = {.technique = sched_find("gss")}, .name = "gss", .predicted_s = 2.5};
    report_compute(&report);
    json_t *object = read_back(&report);
    ck_assert_ptr_null(json_object_get(json_object_get(object, "technique"), "auto"));
    json_decref(object);
    report.choice = &choice;
    object = read_back(&report);
    const json_t *told = json_object_get(json_object_get(object, "technique"), "auto");
    const json_t *predicted = json_object_get(told, "predicted_s");
    ck_assert_int_eq(json_integer_value(json_object_get(told, "decisions")), 2);
    ck_assert_int_eq(json_integer_value(json_object_get(told, "iterations")), 750);
    ck_assert_uint_eq(json_object_size(predicted), 3);
    ck_assert(json_is_null(json_object_get(predicted, "ss")));
    ck_assert_double_eq(json_number_value(json_object_get(predicted, "css")), 1.5);
    ck_assert_double_eq(json_number_value(json_object_get(predicted, "gss")), 2.5);
    json_decref(object);
}
END_TEST

START_TEST(what_was_measured_and_learned_is_told)
{
    struct report_worker workers[] = {{.rank = 1, .weight = 0.5, .load = 1.75}, {.rank = 2}};
    struct report report = sample_report(&spec);
    report.workers = 2;
    report.worker_stats = workers;
    report.measured[0] = (struct sched_value_used){"mu", 0.0012};
    report.measured[1] = (struct sched_value_used){"sigma", 0};
    report.measured_count = 2;
    json_t *object = read_back(&report), *rows = json_object_get(object, "worker_stats");
    json_t *measured = json_object_get(json_object_get(object, "technique"), "measured");
    ck_assert_uint_eq(json_object_size(measured), 2);
    ck_assert_double_eq(json_number_value(json_object_get(measured, "mu")), 0.0012);
    ck_assert_double_eq(json_number_value(json_object_get(measured, "sigma")), 0);
    ck_assert_double_eq(json_number_value(json_object_get(json_array_get(rows, 0), "weight")), 0.5);
    ck_assert_ptr_null(json_object_get(json_array_get(rows, 1), "weight"));
    ck_assert_double_eq(json_number_value(json_object_get(json_array_get(rows, 0), "load")), 1.75);
    ck_assert_ptr_null(json_object_get(json_array_get(rows, 1), "load"));
    json_decref(object);
}
END_TEST

START_TEST(what_json_cannot_hold_does_no_harm)
{
    union hdss_value values[4];
    struct report report = sample_report(&spec);
    memcpy(values, sample_values, sizeof values);
    values[1].real = -0.74364388703715871; /* needs 17 digits */
    values[3].text = "caf\xe9";            /* no UTF-8 */
    report.values = values;
    report.elapsed_s = NAN;
    report.workers = 0;
    json_t *object = read_back(&report);
    json_t *params = json_object_get(json_object_get(object, "kernel"), "params");
    ck_assert_double_eq(json_real_value(json_object_get(params, "xmin")), values[1].real);
    ck_assert_str_eq(json_string_value(json_object_get(params, "file")), "caf?");
    ck_assert_double_eq(json_real_value(json_object_get(object, "elapsed_s")), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(object, "worker_stats")), 0);
    json_decref(object);
}
END_TEST

static const struct {
    int64_t seconds;
    const char *text;
} times[] = {
    {0, "1970-01-01T00:00:00Z"},          {951782399, "2000-02-28T23:59:59Z"},  {951782400, "2000-02-29T00:00:00Z"},
    {1735689599, "2024-12-31T23:59:59Z"}, {4107542400, "2100-03-01T00:00:00Z"}, {INT64_MAX, "9999-12-31T23:59:59Z"},
    {-1, "1970-01-01T00:00:00Z"},
};

START_TEST(times_are_utc)
{
    struct report report = sample_report(&spec);
    report.started_at = times[_i].seconds;
    json_t *object = read_back(&report);
    ck_assert_str_eq(json_string_value(json_object_get(object, "started_at")), times[_i].text);
    json_decref(object);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("report");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, figures_follow_from_the_measurements);
    tcase_add_test(tests, figures_of_merit_follow_from_their_definitions);
    tcase_add_test(tests, one_worker_that_does_it_all_is_100_percent);
    tcase_add_test(tests, those_who_have_joined_count_while_they_were_there);
    tcase_add_test(tests, a_lost_worker_is_not_taken_to_have_finished_at_once);
    tcase_add_test(tests, those_who_have_joined_are_told);
    tcase_add_test(tests, late_workers_are_told_where_there_are_any);
    tcase_add_test(tests, nodes_that_were_put_aside_are_listed);
    tcase_add_test(tests, nothing_done_divides_nothing_by_zero);
    tcase_add_test(tests, workers_that_share_cores_are_measured_by_these);
    tcase_add_test(tests, only_nodes_with_too_few_cores_count_by_these);
    tcase_add_test(tests, what_is_shared_is_told);
    tcase_add_test(tests, the_json_is_the_report);
    tcase_add_test(tests, what_was_verified_is_told_where_it_was_wanted);
    tcase_add_test(tests, the_steps_are_told);
    tcase_add_test(tests, what_auto_predicted_is_told);
    tcase_add_test(tests, what_was_measured_and_learned_is_told);
    tcase_add_test(tests, what_json_cannot_hold_does_no_harm);
    tcase_add_loop_test(tests, times_are_utc, 0, sizeof times / sizeof *times);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
