/* SPDX-License-Identifier: MIT */
/* Traces of simulated runs: see sim_trace.h. */
#include "deploy/simulate/sim_trace.h"

#include "common/config/job.h"
#include "common/sched/sched.h"
#include "common/trace/join.h"
#include "deploy/simulate/simulation.h"
#include "deploy/simulate/virtual/cluster.h"
#include "hdss/kernel.h"

#include <stdlib.h>

/* Returns the rank that writes trace number i. Traces are in the order supermaster, masters of the launch, masters of
 * pods. */
static unsigned rank_of_noter(const struct virtual_config *config, unsigned i)
{
    unsigned rank = i;
    if (i > config->masters)
        rank = 1 + config->masters + config->workers;
    for (unsigned pod = 0; config->masters + 1 + pod < i; pod++)
        rank += 1 + config->pods[pod].workers;
    return rank;
}

int sim_trace_open(struct sim_trace *trace, const struct simulation *simulation, const struct virtual_config *config,
                   struct error *error)
{
    const char *path = simulation->setup.job.trace;
    const struct trace_clock clock = {.machine_ns = 0};
    const unsigned ranks = 1 + config->masters + config->pod_count;
    if (path[0] == '\0' || simulation->dca || simulation->at_hand.noted != NULL)
        return 0;
    struct error cause;
    if (trace_check(path, &cause) < 0)
        return error_set(error, "--trace: cannot write %s", cause.text);
    trace->spools = calloc(ranks, sizeof *trace->spools);
    trace->sinks = calloc(ranks, sizeof *trace->sinks);
    trace->ranks = calloc(ranks, sizeof *trace->ranks);
    if (trace->spools == NULL || trace->sinks == NULL || trace->ranks == NULL)
        return error_set(error, "out of memory for a trace of %u masters", ranks - 1);
    for (; trace->count < ranks; trace->count++) {
        struct trace_spool *spool = &trace->spools[trace->count];
        trace->ranks[trace->count] = rank_of_noter(config, trace->count);
        if (trace_spool_open(spool, path, trace->ranks[trace->count], &clock, error) < 0)
            return -1;
        trace->sinks[trace->count] = &spool->sink;
    }
    return 0;
}

static struct trace_worker *list_workers(const struct report *report)
{
    struct trace_worker *workers = calloc(report->workers + 1, sizeof *workers);
    for (unsigned w = 0; workers != NULL && w < report->workers; w++) {
        const struct report_worker *worker = &report->worker_stats[w];
        workers[w] = (struct trace_worker){worker->rank, worker->node, worker->master, worker->power};
    }
    return workers;
}

int sim_trace_end(struct sim_trace *trace, const struct simulation *simulation, const struct report *report,
                  struct error *error)
{
    char technique[SCHED_SPEC_TEXT_MAX];
    if (trace->count == 0)
        return 0;
    sched_spec_format(&report->technique, technique, sizeof technique);
    struct trace_worker *workers = list_workers(report);
    const struct trace_about about = {
        .version = report->version,
        .kernel = simulation->setup.kernel->name,
        .technique = technique,
        .iterations = simulation->setup.count,
        .masters = report->masters,
        .workers = report->workers,
        .worker = workers,
    };
    int result = workers != NULL ? 0 : error_set(error, "out of memory for a trace");
    for (unsigned i = 0; i < trace->count && result == 0; i++)
        result = trace_spool_close(&trace->spools[i], error);
    if (result == 0)
        result = trace_join(simulation->setup.job.trace, trace->ranks, trace->count, &about, error);
    free(workers);
    return result;
}

void sim_trace_fini(struct sim_trace *trace)
{
    struct error unused;
    for (unsigned i = 0; i < trace->count; i++)
        trace_spool_close(&trace->spools[i], &unused);
    free(trace->spools);
    free(trace->sinks);
    free(trace->ranks);
    *trace = (struct sim_trace){0};
}
