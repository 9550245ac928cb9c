/* The summary and the report of a simulated run: see say.h. */
#include "common/runtime/simulate/say.h"

#include "common/files/files.h"
#include "common/metrics/summary.h"
#include "common/runtime/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int write_report(const struct simulation *simulation, const struct report *report)
{
    const char *path = simulation->plan.job.report;
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

int simulation_say(const struct simulation *simulation, struct report *report, int status)
{
    const struct report_simulation simulated = {
        .backend = simulation->backend == SIMULATION_VIRTUAL ? "virtual" : "simgrid",
        .platform = simulation->platform.name,
        .nodes = simulation->platform.nodes,
        .costs = simulation->costs_name != NULL ? simulation->costs_name : "model",
    };
    struct terminal terminal;
    terminal_init(&terminal, JOB_PROGRESS_NEVER);
    report->kernel = simulation->plan.kernel;
    report->values = simulation->plan.values;
    report->are_tasks = simulation->plan.loop.are_tasks;
    report->simulated = &simulated;
    report_compute(report);
    char *text = summary_text(report, terminal.width, terminal.utf8);
    if (text != NULL)
        fputs(text, stdout);
    fflush(stdout);
    free(text);
    return write_report(simulation, report) < 0 ? EXIT_STATUS_FAILED : status;
}
