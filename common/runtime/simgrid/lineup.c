/* See lineup.h. The same machines are made of the same configuration as in common/runtime/virtual/lineup.c. */
#include "common/runtime/simgrid/lineup.h"

#include "common/config/job.h"
#include "common/machine/probe.h"

#include <stdlib.h>

/* What the virtual cluster can and this one cannot. */
static const char *find_unknown(const struct virtual_config *config)
{
    if (config->fault_count > 0 || config->outcome != NULL || config->slow_worker_plus_1 > 0)
        return "failures and slowdowns";
    if (config->load_count > 0)
        return "loads";
    if (config->collect || config->journal || config->done != NULL)
        return "results, journals and resumed runs";
    return config->drain_at_ns > 0 ? "drains" : NULL;
}

static int init_topology(struct lineup *lineup, const struct simgrid_config *config, struct error *error)
{
    const struct placement *placement = config->placement;
    struct hello *hellos = calloc(placement->ranks, sizeof *hellos);
    lineup->run.hellos = hellos;
    lineup->run.inboxes = calloc(placement->ranks, sizeof *lineup->run.inboxes);
    for (unsigned i = 0; hellos != NULL && i < placement->ranks; i++)
        hellos[i] = (struct hello){
            .protocol = PROTOCOL_VERSION,
            .role = i == 0                      ? ROLE_SUPERMASTER
                    : i <= config->run->masters ? ROLE_MASTER
                                                : ROLE_WORKER,
            .node = placement->node_of[i],
        };
    if (hellos == NULL || lineup->run.inboxes == NULL ||
        topology_init(&lineup->topology, hellos, placement->ranks, !config->run->group_even) < 0)
        return error_set(error, "out of memory for %u ranks", placement->ranks);
    return 0;
}

static int init_speeds(struct lineup *lineup, const struct virtual_config *run, struct error *error)
{
    if (run->measure_power)
        return 0;
    lineup->speeds = calloc(run->workers, sizeof *lineup->speeds);
    if (lineup->speeds == NULL)
        return error_set(error, "out of memory for %u workers", run->workers);
    for (unsigned w = 0; w < run->workers; w++)
        lineup->speeds[w] = run->powers != NULL ? run->powers[w] : 1;
    return 0;
}

static int init_results(struct lineup *lineup, const struct virtual_config *run, struct error *error)
{
    if (run->imagined_bytes == 0)
        return 0;
    lineup->results = calloc(run->imagined_bytes > SLICE_MAX ? run->imagined_bytes : SLICE_MAX, 1);
    if (lineup->results == NULL)
        return error_set(error, "out of memory for results of %llu bytes", (unsigned long long)run->imagined_bytes);
    lineup->run.results = lineup->results;
    lineup->run.record_bytes = run->imagined_bytes;
    return 0;
}

static void configure_supermaster(struct lineup *lineup, const struct virtual_config *run)
{
    lineup->run.supermaster_config = (struct supermaster_config){
        .topology = &lineup->topology,
        .technique = run->job->technique,
        .technique_auto = run->job->technique_auto,
        .ask_ahead = run->ask_ahead != ASK_AHEAD_OFF,
        .probe = job_probes(run->job),
        .weighting = run->weighting,
        .min_chunk = run->min_chunk,
        .first = run->first,
        .count = run->count,
        .each = run->each,
        .chained = run->chained,
        .once = run->once,
        .childless = run->childless,
        .are_tasks = run->are_tasks,
        .record_bytes = run->imagined_bytes,
        .drain_ns = run->job->drain_ns,
        .retries = run->retries,
        .speeds = lineup->speeds,
    };
}

static void configure_others(struct simulated_run *own, const struct virtual_config *run)
{
    own->master_config = (struct master_config){
        .record_bytes = run->imagined_bytes,
        .drain_ns = run->job->drain_ns,
        .once = run->once,
        .childless = run->childless,
        .feedback = job_learns(run->job),
        .retries = run->retries,
    };
    own->worker_config = (struct worker_config){
        .probe = job_probes(run->job) && run->count > 0,
        .drain_ns = run->job->drain_ns,
        .ask_ahead = run->ask_ahead,
        .ask_ahead_chunks = run->ask_ahead_chunks,
        .load = run->weighting == SCHED_WEIGHTING_ACP ? LOAD_ONE : 0,
    };
}

int lineup_init(struct lineup *lineup, const struct simgrid_config *config, struct error *error)
{
    const struct virtual_config *run = config->run;
    struct simulated_run *own = &lineup->run;
    const char *unknown = find_unknown(run);
    if (unknown != NULL)
        return error_set(error, "--backend simgrid has no %s; accepted: --backend virtual", unknown);
    if (init_topology(lineup, config, error) < 0 || init_speeds(lineup, run, error) < 0 ||
        init_results(lineup, run, error) < 0)
        return -1;
    configure_supermaster(lineup, run);
    configure_others(own, run);
    own->topology = &lineup->topology;
    own->supermaster = &lineup->supermaster;
    own->supermaster->first_assign_ns = NEVER;
    own->busy_ns = calloc(1 + lineup->topology.masters, sizeof *own->busy_ns);
    if (own->busy_ns == NULL)
        return error_set(error, "out of memory for %u masters", lineup->topology.masters);
    own->costs = config->costs;
    own->probe_first = run->first;
    own->probe_count = run->each > 0 && run->each < run->count ? run->each : run->count;
    own->probe_least = job_wants_swr(run->job) ? PROBE_SWR : 1;
    own->spread = job_learns(run->job);
    own->flops_per_ns = config->file != NULL ? config->file->flops_per_ns : SIMGRID_FLOPS_PER_NS;
    own->speeds = run->speeds;
    own->event_ns = (double)run->service_ns;
    own->message_ns = run->message_ns;
    own->byte_ns = run->byte_ns;
    own->calculation_ns = run->calculation_ns;
    own->assignment_ns = run->assignment_ns;
    own->folder = config->folder;
    return 0;
}

void lineup_fini(struct lineup *lineup)
{
    struct simulated_run *own = &lineup->run;
    if (own->supermaster_is_there)
        supermaster_fini(own->supermaster);
    for (unsigned i = 0; own->inboxes != NULL && i < lineup->topology.ranks; i++)
        free(own->inboxes[i].from);
    free(own->inboxes);
    free(own->busy_ns);
    free(own->hellos);
    free(lineup->speeds);
    free(lineup->results);
    topology_fini(&lineup->topology);
}
