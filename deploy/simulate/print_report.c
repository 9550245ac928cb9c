/* SPDX-License-Identifier: MIT */
/* Prints the summary and writes the report of a simulated run: see print_report.h. */
#include "deploy/simulate/print_report.h"

#include "common/config/job.h"
#include "common/job/job_setup.h"
#include "common/job/terminal.h"
#include "common/metrics/summary.h"
#include "common/os/files.h"
#include "common/util/error.h"
#include "hdss/kernel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int print_report_write_report(const struct simulation *simulation, const struct report *report)
{
    const char *path = simulation->setup.job.report;
    struct error error;
    if (path[0] == '\0')
        return 0;
    char *text = report_json(report);
    int result =
        text == NULL ? error_set(&error, "%s: out of memory", path) : file_write(path, text, strlen(text), &error);
    free(text);
    if (result < 0)
        fprintf(stderr, "hdss simulate: %s\n", error.text);
    return result;
}

static double print_report_share(const struct report *report, double busy_s)
{
    return report->elapsed_s > 0 && busy_s >= 0 ? fmin(1, busy_s / report->elapsed_s) : -1;
}

static struct report_recorded print_report_recorded(const struct simulation *simulation)
{
    const struct recorded_speeds *speeds = &simulation->recorded_speeds;
    struct report_recorded recorded = {.workers = speeds->workers,
                                       .known = speeds->known,
                                       .are_different = speeds->are_different,
                                       .are_simulated = simulation->recorded == RECORDED_SIMULATE,
                                       .slowest = 1,
                                       .quickest = 1};
    for (unsigned w = 0; w < speeds->workers; w++) {
        recorded.slowest = fmin(recorded.slowest, speeds->speed[w]);
        recorded.quickest = fmax(recorded.quickest, speeds->speed[w]);
    }
    return recorded;
}

int simulation_print_report(const struct simulation *simulation, struct report *report, int status)
{
    if (simulation->at_hand.noted != NULL) {
        *simulation->at_hand.noted = (struct simulation_times){report->elapsed_s, report->startup_s};
        return status;
    }
    const struct report_simulation simulated = {
        .backend = simulation->backend == SIMULATION_VIRTUAL ? "virtual" : "simgrid",
        .platform = simulation->platform.name,
        .nodes = simulation->platform.nodes,
        .seed = simulation->at_hand.order,
        .repetitions = simulation->repetitions,
        .least_s = simulation->at_hand.range.least_s,
        .median_s = simulation->at_hand.range.median_s,
        .most_s = simulation->at_hand.range.most_s,
        .costs = simulation->costs_name != NULL ? simulation->costs_name : "model",
        .recorded = print_report_recorded(simulation),
        .supermaster_busy = print_report_share(report, simulation->at_hand.supermaster_busy_s),
        .master_busy = simulation->masters > 0 ? print_report_share(report, simulation->at_hand.master_busy_s) : -1,
    };
    struct terminal terminal;
    terminal_init(&terminal, &simulation->setup.job);
    report->kernel = simulation->setup.kernel;
    report->values = simulation->setup.values;
    report->are_tasks = simulation->setup.loop.are_tasks;
    report->simulated = &simulated;
    const struct job *job = &simulation->setup.job;
    report->thread_technique = job->spec.threads > 1 ? &job->spec.thread_technique : NULL;
    report_compute(report);
    FILE *to = job_reports_to_output(job) ? stderr : stdout;
    char *text = job->summary == JOB_SUMMARY_TEXT   ? summary_text(report, terminal.width, terminal.utf8)
                 : job->summary == JOB_SUMMARY_JSON ? report_json(report)
                                                    : NULL;
    if (text != NULL)
        fputs(text, to);
    fflush(to);
    free(text);
    return print_report_write_report(simulation, report) < 0 ? EXIT_STATUS_FAILED : status;
}
