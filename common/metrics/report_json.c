/* SPDX-License-Identifier: MIT */
/* The report as JSON. The names of fields and their order are stable: see the manual.
 *
 * The head is an indented object. Each worker has one line, so even a report with thousands of workers is readable. */
#include "common/metrics/report.h"
#include "common/metrics/json_text.h"
#include "common/metrics/reasons.h"
#include "common/predict/choose.h"
#include "common/util/text.h"
#include "hdss/kernel.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIME_TEXT_MAX 72

static json_t *choice(const char *choices, uint64_t index)
{
    while (index-- > 0)
        choices += strcspn(choices, "|") + 1;
    return json_stringn(choices, strcspn(choices, "|"));
}

static json_t *kernel_value(const struct hdss_param *param, union hdss_value value)
{
    switch (param->kind) {
    case HDSS_PARAM_INTEGER: return json_integer(value.integer);
    case HDSS_PARAM_REAL: return json_of_number(value.real);
    case HDSS_PARAM_CHOICE: return choice(param->choices, (uint64_t)value.integer);
    case HDSS_PARAM_TEXT: return json_of_text(value.text);
    }
    return NULL;
}

static json_t *kernel_params(const struct report *report)
{
    json_t *object = json_object();
    const struct hdss_param *params = report->kernel->params;
    for (size_t i = 0; params != NULL && params[i].name != NULL; i++)
        json_object_set_new(object, params[i].name, kernel_value(&params[i], report->values[i]));
    return object;
}

static json_t *technique_value(const struct technique_param *param, union sched_value value)
{
    switch (param->kind) {
    case SCHED_PARAM_INTEGER: return json_of_count(value.integer);
    case SCHED_PARAM_REAL: return json_of_number(value.real);
    case SCHED_PARAM_CHOICE: return choice(param->choices, value.integer);
    }
    return NULL;
}

/* Leaves out parameters that the user has not given, because their values follow from the loop. */
static json_t *technique_params(const struct sched_spec *spec)
{
    json_t *object = json_object();
    const struct technique_param *params = spec->technique->params;
    for (size_t i = 0; params != NULL && params[i].name != NULL; i++)
        if (spec->given[i])
            json_object_set_new(object, params[i].name, technique_value(&params[i], spec->values[i]));
    return object;
}

static json_t *technique_measured(const struct report *report)
{
    json_t *object = json_object();
    for (unsigned i = 0; i < report->measured_count; i++)
        json_object_set_new(object, report->measured[i].name, json_of_number(report->measured[i].value));
    return object;
}

/* Writes for each technique the number of seconds that the last decision of `auto` predicted. Writes null if the
 * technique cuts too many chunks to be simulated, or if it rejects the loop. */
static json_t *technique_choice(const struct choice *choice)
{
    json_t *predicted = json_object();
    for (unsigned i = 0; i < choice->count; i++) {
        const struct candidate *candidate = &choice->candidates[i];
        json_object_set_new(predicted, candidate->name,
                            candidate->predicted_s > 0 ? json_of_number(candidate->predicted_s) : json_null());
    }
    return json_pack("{s:o, s:o, s:o}", "decisions", json_of_count(choice->times), "iterations",
                     json_of_count(choice->iterations), "predicted_s", predicted);
}

static json_t *technique_of(const struct report *report)
{
    json_t *object =
        json_pack("{s:s, s:o, s:o, s:s, s:o}", "name", report->technique.technique->name, "params",
                  technique_params(&report->technique), "measured", technique_measured(report), "weighting",
                  sched_weighting_name(report->weighting), "min_chunk", json_of_count(report->min_chunk));
    if (report->max_chunk > 0)
        json_object_set_new(object, "max_chunk", json_of_count(report->max_chunk));
    if (report->technique_by_kernel)
        json_object_set_new(object, "default", json_string("kernel"));
    if (report->choice != NULL)
        json_object_set_new(object, "auto", technique_choice(report->choice));
    return object;
}

/* Years begin in March in this calculation, because a leap day is then the last day of its year. */
static void format_time(char text[TIME_TEXT_MAX], int64_t seconds)
{
    const int64_t last = 253402300799; /* 9999-12-31T23:59:59Z */
    unsigned long time = seconds < 0 ? 0 : (unsigned long)(seconds < last ? seconds : last);
    unsigned of_day = time % 86400, days = (unsigned)(time / 86400) + 719468; /* days since 0000-03-01 */
    unsigned era = days / 146097, of_era = days % 146097;                     /* an era has 400 years */
    unsigned year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    unsigned of_year = of_era - (365 * year + year / 4 - year / 100);
    unsigned month = (5 * of_year + 2) / 153, day = of_year - (153 * month + 2) / 5 + 1;
    month += month < 10 ? 3 : -9u;
    snprintf(text, TIME_TEXT_MAX, "%04u-%02u-%02uT%02u:%02u:%02uZ", era * 400 + year + (month <= 2), month, day,
             of_day / 3600, of_day / 60 % 60, of_day % 60);
}

static json_t *spread_json(const struct report_spread *spread)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "max_over_mean", json_of_number(spread->max_over_mean), "cov",
                     json_of_number(spread->cov), "excess", json_of_number(spread->excess), "percent",
                     json_of_number(spread->percent));
}

static void set_figures(json_t *object, const struct report *report)
{
    json_object_set_new(object, "elapsed_s", json_of_number(report->elapsed_s));
    json_object_set_new(object, "startup_s", json_of_number(report->startup_s));
    json_object_set_new(object, "compute_s", json_of_number(report->compute_s));
    json_object_set_new(object, "overhead_s", json_of_number(report->overhead_s));
    json_object_set_new(object, "scheduling_s", json_of_number(report->scheduling_s));
    json_object_set_new(object, "idle_s", json_of_number(report->idle_s));
    json_object_set_new(object, "efficiency", json_of_number(report->efficiency));
    json_object_set_new(object, "cost_s", json_of_number(report->cost_s));
    if (report->shared.cores > 0)
        json_object_set_new(object, "shared",
                            json_pack("{s:o, s:o}", "cores", json_of_number(report->shared.cores), "compute_s",
                                      json_of_number(report->shared.compute_s)));
    json_object_set_new(object, "imbalance", spread_json(&report->imbalance));
    json_object_set_new(object, "busy", spread_json(&report->busy));
}

static void set_thread_level(json_t *object, const struct report *report)
{
    if (report->thread_technique == NULL)
        return;
    json_object_set_new(
        object, "threads",
        json_pack("{s:o, s:{s:s, s:o}, s:o, s:{s:o, s:o}}", "count", json_of_count(report->thread_level.threads),
                  "technique", "name", report->thread_technique->technique->name, "params",
                  technique_params(report->thread_technique), "chunks", json_of_count(report->thread_level.chunks),
                  "imbalance", "max_over_mean", json_of_number(report->thread_level.max_over_mean), "cov",
                  json_of_number(report->thread_level.cov)));
}

static const char *outcome_name(enum report_outcome outcome)
{
    static const char *const names[] = {
        [REPORT_DONE] = "done",
        [REPORT_TASKS_FAILED] = "tasks-failed",
        [REPORT_DRAINED] = "drained",
        [REPORT_FAILED] = "failed",
    };
    return names[outcome];
}

static void set_pods(json_t *object, const struct report_pods *pods)
{
    if (pods->joined > 0)
        json_object_set_new(object, "pods",
                            json_pack("{s:o, s:o, s:o}", "joined", json_of_count(pods->joined), "left",
                                      json_of_count(pods->left), "lost", json_of_count(pods->lost)));
}

static void set_counters(json_t *object, const struct report *report)
{
    const struct report_faults *faults = &report->faults;
    char checksum[20];
    bool is_real = report->simulated == NULL;
    snprintf(checksum, sizeof checksum, "%016" PRIx64, report->checksum);
    json_object_set_new(object, "chunks", json_of_count(report->chunks));
    json_object_set_new(object, "refills", json_of_count(report->refills));
    json_object_set_new(object, "recalls",
                        json_pack("{s:o, s:o, s:o}", "count", json_of_count(report->recalls.count), "iterations",
                                  json_of_count(report->recalls.iterations), "worth_s",
                                  json_of_number(report->recalls.worth_s)));
    set_pods(object, &report->pods);
    json_object_set_new(object, "messages", json_of_count(report->messages));
    json_object_set_new(object, "bytes_on_wire", json_of_count(report->bytes_on_wire));
    json_object_set_new(object, "checksum", is_real ? json_string(checksum) : json_null());
    json_t *counts =
        json_pack("{s:o, s:o, s:o, s:o, s:o}", "lost_workers", json_of_count(faults->lost_workers), "lost_masters",
                  json_of_count(faults->lost_masters), "reissued_chunks", json_of_count(faults->reissued_chunks),
                  "duplicate_results", json_of_count(faults->duplicate_results), "resumed_iterations",
                  json_of_count(faults->resumed_iterations));
    if (faults->late_workers > 0)
        json_object_set_new(counts, "late_workers", json_of_count(faults->late_workers));
    json_object_set_new(object, "faults", counts);
}

static json_t *list_ranges(const struct range *ranges, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array,
                              json_pack("[o, o]", json_of_count(ranges[i].first), json_of_count(ranges[i].count)));
    return array;
}

static json_t *failures(const struct report *report)
{
    json_t *array = json_array();
    for (size_t i = 0; i < report->failure_count; i++) {
        const struct report_failure *failure = &report->failures[i];
        if (failure->given_up)
            json_array_append_new(
                array, json_pack("{s:o, s:o, s:o, s:o}", "first", json_of_count(failure->range.first), "count",
                                 json_of_count(failure->range.count), "worker",
                                 failure->rank == REPORT_NO_RANK ? json_null() : json_of_count(failure->rank), "reason",
                                 json_of_text(failure->text)));
    }
    return array;
}

/* The failed tasks that were read last, which come first. */
static void set_task_failures(json_t *object, const struct reasons *reasons)
{
    if (reasons == NULL || reasons->latest == NULL)
        return;
    json_t *array = json_array();
    const uint64_t count = reasons->added < REASONS_LATEST ? reasons->added : REASONS_LATEST;
    for (uint64_t i = 0; i < count; i++) {
        const struct failed_task *task = &reasons->latest[(reasons->added - 1 - i) % REASONS_LATEST];
        json_array_append_new(array, json_pack("{s:o, s:o, s:o, s:o}", "task", json_of_count(task->number), "end",
                                               json_of_text(task->end), "command", json_of_text(task->command), "error",
                                               json_of_text(task->error)));
    }
    json_object_set_new(object, "task_failures", array);
}

static void set_aside(json_t *object, const struct report *report)
{
    json_t *array = json_array();
    for (size_t i = 0; i < report->aside_count; i++) {
        const struct report_aside *aside = &report->aside[i];
        if (!aside->is_back)
            json_array_append_new(array, json_pack("{s:o, s:o, s:o, s:o}", "node", json_of_count(aside->node), "failed",
                                                   json_of_count(aside->failed), "worked_elsewhere",
                                                   json_of_count(aside->worked), "ended_elsewhere",
                                                   json_of_count(aside->beside)));
    }
    if (report->aside_count > 0)
        json_object_set_new(object, "put_aside", array);
    else
        json_decref(array);
}

static void set_verify(json_t *object, const struct report_verify *verify)
{
    if (verify->share == 0)
        return;
    json_t *mismatches = json_array();
    for (size_t i = 0; i < verify->count; i++) {
        const struct report_mismatch *mismatch = &verify->list[i];
        json_t *workers = json_array();
        for (unsigned k = 0; k < mismatch->workers; k++)
            json_array_append_new(workers, json_of_count(mismatch->rank[k]));
        json_array_append_new(
            mismatches, json_pack("{s:o, s:o, s:o, s:o}", "first", json_of_count(mismatch->range.first), "count",
                                  json_of_count(mismatch->range.count), "workers", workers, "wrong",
                                  mismatch->wrong < 0 ? json_null() : json_of_count(mismatch->rank[mismatch->wrong])));
    }
    json_object_set_new(object, "verify",
                        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "share", json_of_number(verify->share), "seed",
                                  json_of_count(verify->seed), "alike", json_of_count(verify->alike), "differing",
                                  json_of_count(verify->differing), "unverified", json_of_count(verify->unverified),
                                  "mismatches", mismatches));
}

static void set_recorded(json_t *simulated, const struct report_recorded *recorded)
{
    if (recorded->workers == 0)
        return;
    json_t *facts = json_pack("{s:o, s:o, s:b, s:b, s:o, s:o}", "workers", json_of_count(recorded->workers), "known",
                              json_of_count(recorded->known), "different", recorded->are_different, "simulated",
                              recorded->are_simulated, "slowest", json_of_number(recorded->slowest), "quickest",
                              json_of_number(recorded->quickest));
    json_object_set_new(simulated, "recorded_workers", facts);
}

static void set_simulated(json_t *object, const struct report_simulation *simulated)
{
    if (simulated == NULL)
        return;
    json_t *facts =
        json_pack("{s:s, s:o, s:o, s:o}", "backend", simulated->backend, "platform", json_of_text(simulated->platform),
                  "platform_nodes", json_of_count(simulated->nodes), "costs", json_of_text(simulated->costs));
    set_recorded(facts, &simulated->recorded);
    if (simulated->seed > 0)
        json_object_set_new(facts, "seed", json_of_count(simulated->seed));
    if (simulated->repetitions > 0) {
        json_object_set_new(facts, "repetitions", json_of_count(simulated->repetitions));
        json_object_set_new(facts, "elapsed_s",
                            json_pack("{s:o, s:o, s:o}", "least", json_of_number(simulated->least_s), "median",
                                      json_of_number(simulated->median_s), "most", json_of_number(simulated->most_s)));
    }
    if (simulated->supermaster_busy >= 0)
        json_object_set_new(facts, "supermaster_busy", json_of_number(simulated->supermaster_busy));
    if (simulated->master_busy >= 0)
        json_object_set_new(facts, "master_busy", json_of_number(simulated->master_busy));
    json_object_set_new(object, "simulated", facts);
}

static json_t *make_head(const struct report *report)
{
    json_t *object = json_object();
    char started_at[TIME_TEXT_MAX];
    format_time(started_at, report->started_at);
    json_object_set_new(object, "hdss", json_string(report->version));
    json_object_set_new(object, "topology", json_string(report_topology_name(report->topology)));
    if (report->carrier != NULL)
        json_object_set_new(object, "carrier", json_string(report->carrier));
    json_object_set_new(object, "kernel",
                        json_pack("{s:s, s:o}", "name", report->kernel->name, "params", kernel_params(report)));
    json_object_set_new(object, "technique", technique_of(report));
    if (report->sync_points > 0)
        json_object_set_new(object, "sync_points", json_of_count(report->sync_points));
    json_object_set_new(object, "outcome", json_string(outcome_name(report->outcome)));
    json_object_set_new(object, "first", json_of_count(report->first));
    json_object_set_new(object, "iterations", json_of_count(report->iterations));
    json_object_set_new(object, "done", json_of_count(report->done));
    json_object_set_new(object, "masters", json_of_count(report->masters));
    json_object_set_new(object, "workers", json_of_count(report->workers));
    json_object_set_new(object, "nodes", json_of_count(report->nodes));
    json_object_set_new(object, "started_at", report->simulated == NULL ? json_string(started_at) : json_null());
    set_simulated(object, report->simulated);
    set_figures(object, report);
    set_thread_level(object, report);
    set_counters(object, report);
    set_aside(object, report);
    set_verify(object, &report->verify);
    json_object_set_new(object, "failed", list_ranges(report->failed, report->failed_count));
    json_object_set_new(object, "failures", failures(report));
    json_object_set_new(object, "failed_tasks", list_ranges(report->failed_tasks, report->failed_task_count));
    set_task_failures(object, report->reasons);
    return object;
}

static json_t *make_worker(const struct report_worker *worker)
{
    json_t *object = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "rank", json_of_count(worker->rank),
                               "node", json_of_count(worker->node), "master", json_of_count(worker->master), "power",
                               json_of_number(worker->power), "iterations", json_of_count(worker->iterations), "chunks",
                               json_of_count(worker->chunks), "compute_s", json_of_number(worker->compute_s), "wait_s",
                               json_of_number(worker->wait_s), "finish_s", json_of_number(worker->finish_s));
    if (worker->is_of_pod)
        json_object_set_new(object, "presence_s", json_of_number(worker->presence_s));
    if (worker->weight > 0)
        json_object_set_new(object, "weight", json_of_number(worker->weight));
    if (worker->threads > 0)
        json_object_set_new(object, "threads",
                            json_pack("{s:o, s:o, s:o, s:o}", "count", json_of_count(worker->threads), "chunks",
                                      json_of_count(worker->thread_chunks), "max_over_mean",
                                      json_of_number(worker->thread_max_over_mean), "cov",
                                      json_of_number(worker->thread_cov)));
    if (worker->load > 0)
        json_object_set_new(object, "load", json_of_number(worker->load));
    if (worker->cores > 0) {
        json_object_set_new(object, "cores", json_of_number(worker->cores));
        json_object_set_new(object, "processor_s", json_of_number(worker->processor_s));
    }
    return object;
}

static json_t *make_step(const struct report *report, const struct report_step *step)
{
    json_t *object =
        json_pack("{s:o, s:o}", "elapsed_s", json_of_number(step->elapsed_s), "chunks", json_of_count(step->chunks));
    if (step->cut == NULL)
        return object;
    json_t *list = json_array();
    for (unsigned w = 0; w < report->workers; w++)
        json_array_append_new(list, json_of_count(step->cut[w]));
    json_object_set_new(object, "iterations", list);
    return object;
}

/* Returns how many digits are needed for real numbers. 15 digits are readable (0.1 stays 0.1) and enough for times.
 * More digits are needed if 15 do not give the exact value of some parameter of the kernel. */
static int digits_needed(const struct report *report)
{
    const struct hdss_param *params = report->kernel->params;
    for (size_t i = 0; params != NULL && params[i].name != NULL; i++) {
        char text[40];
        if (params[i].kind != HDSS_PARAM_REAL)
            continue;
        snprintf(text, sizeof text, "%.15g", report->values[i].real);
        if (strtod(text, NULL) != report->values[i].real)
            return 17;
    }
    return 15;
}

static bool add_json(struct text *text, json_t *object, size_t flags, size_t cut)
{
    char *dump = object != NULL ? json_dumps(object, flags) : NULL;
    json_decref(object);
    if (dump != NULL)
        text_add(text, "%.*s", (int)(strlen(dump) - cut), dump);
    free(dump);
    return dump != NULL;
}

char *report_json(const struct report *report)
{
    struct text text;
    int digits = digits_needed(report);
    text_init(&text);
    bool ok = add_json(&text, make_head(report), JSON_INDENT(2) | JSON_REAL_PRECISION(digits), strlen("\n}"));
    if (report->step_count > 0)
        text_add(&text, ",\n  \"steps\": [");
    for (uint64_t i = 0; ok && i < report->step_count; i++) {
        text_add(&text, "%s\n    ", i > 0 ? "," : "");
        ok = add_json(&text, make_step(report, &report->steps[i]), JSON_REAL_PRECISION(15), 0);
    }
    if (report->step_count > 0)
        text_add(&text, "\n  ]");
    text_add(&text, ",\n  \"worker_stats\": [");
    for (unsigned i = 0; ok && i < report->workers; i++) {
        text_add(&text, "%s\n    ", i > 0 ? "," : "");
        ok = add_json(&text, make_worker(&report->worker_stats[i]), JSON_REAL_PRECISION(15), 0);
    }
    text_add(&text, report->workers > 0 ? "\n  ]\n}\n" : "]\n}\n");
    if (ok)
        return text_take(&text);
    text_fini(&text);
    return NULL;
}
