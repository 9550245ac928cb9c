/* SPDX-License-Identifier: MIT */
/* Configurations of machines: see machines.h. */
#include "deploy/simulate/virtual/machines.h"

#include "common/config/run_spec.h"
#include "common/sched/sched.h"
#include "common/service/service.h"
#include "common/util/random.h"
#include "deploy/simulate/virtual/columns.h"

#include <stdlib.h>

static bool machines_is_dependent(const struct virtual_config *config)
{
    return config->columns > 0;
}

static uint64_t distance_of(const struct virtual_config *config)
{
    return machines_is_dependent(config) ? columns_distance(config) : 0;
}

uint64_t machines_record_bytes(const struct virtual_config *config)
{
    if (config->phantom_bytes > 0)
        return config->phantom_bytes;
    return !config->collect ? 0 : config->variable ? RECORD_VARIABLE : RECORD_BYTES;
}

uint64_t machines_boundary_bytes(const struct virtual_config *config)
{
    return columns_bytes(config, config->columns);
}

static unsigned machines_spread(unsigned index, unsigned count, unsigned nodes)
{
    return (unsigned)((uint64_t)index * nodes / count);
}

static struct hello hello_of(const struct virtual_config *config, unsigned rank)
{
    const unsigned nodes = config->nodes > 0 ? config->nodes : 1;
    struct hello hello = {.protocol = PROTOCOL_VERSION, .role = ROLE_WORKER};
    if (rank == 0) {
        hello.role = ROLE_SUPERMASTER;
    } else if (rank <= config->masters) {
        hello.role = ROLE_MASTER;
        hello.node = machines_spread(rank - 1, config->masters, nodes);
    } else {
        hello.node = machines_spread(rank - 1 - config->masters, config->workers - serving_workers(config), nodes);
    }
    if (config->rank_node != NULL)
        hello.node = config->rank_node[rank];
    return hello;
}

int machines_group(const struct virtual_config *config, struct hello *hellos, struct topology *topology)
{
    for (unsigned rank = 0; rank < launched_ranks(config); rank++)
        hellos[rank] = hello_of(config, rank);
    const unsigned grouping = (config->spec.group_by == RUN_GROUP_BY_NODE ? TOPOLOGY_BY_NODE : TOPOLOGY_EVENLY) |
                              (config->spec.masters_compute ? TOPOLOGY_MASTERS_COMPUTE : 0);
    return topology_init(topology, hellos, launched_ranks(config), grouping);
}

int machines_speeds(const struct virtual_config *config, double **speeds, struct error *error)
{
    *speeds = NULL;
    if (config->spec.power == RUN_POWER_MEASURE)
        return 0;
    *speeds = calloc(config->workers + 1, sizeof **speeds);
    if (*speeds == NULL)
        return error_set(error, "out of memory for %u workers", config->workers);
    for (unsigned w = 0; w < config->workers; w++)
        (*speeds)[w] = config->powers != NULL ? config->powers[w] : 1;
    return 0;
}

struct supermaster_config machines_supermaster(const struct virtual_config *config, const struct topology *topology,
                                               const double *speeds)
{
    bool is_complete = true;
    const bool grows = config->growth_count > 0;
    const uint64_t count = grows ? virtual_grown(config, 0, &is_complete) : config->count;
    return (struct supermaster_config){
        .topology = topology,
        .spec = &config->spec,
        .probe = run_spec_probes(&config->spec),
        .probe_kills = true,
        .first = config->first,
        .count = count,
        .grows = !is_complete,
        .is_told_of_growth = config->is_told_of_growth,
        .step_iterations = config->step_iterations,
        .steps_dependent = config->steps_dependent,
        .distance = distance_of(config),
        .record_bytes = machines_record_bytes(config),
        .no_speculation = config->no_speculation || machines_is_dependent(config),
        .no_isolation = config->no_isolation || machines_is_dependent(config),
        .is_elastic = config->is_elastic,
        .awaited = config->awaited,
        .is_patient = config->is_patient,
        .are_tasks = config->are_tasks,
        .journal = config->journal,
        .records_at_once = config->no_speculation,
        .precedence = config->precedence,
        .done = config->done,
        .done_failed = config->done_failed,
        .done_digest = config->done_digest,
        .deaths = config->deaths,
        .boundary_bytes = machines_is_dependent(config) ? machines_boundary_bytes(config) : 0,
        .point_at = config->point_at,
        .point = config->point,
        .speeds = speeds,
    };
}

struct master_config machines_master(const struct virtual_config *config, const struct topology *topology, unsigned m,
                                     unsigned *ranks)
{
    topology_served_ranks(topology, m, ranks);
    return (struct master_config){
        .spec = &config->spec,
        .rank = topology->master_rank[m],
        .supermaster = topology->supermaster,
        .ranks = ranks,
        .workers = topology_count(topology, m),
        .record_bytes = machines_record_bytes(config),
        .no_speculation = config->no_speculation || machines_is_dependent(config),
        .no_isolation = config->no_isolation || machines_is_dependent(config),
        .feedback = run_spec_learns(&config->spec),
        .distance = distance_of(config),
        .first = config->first,
        .is_pod = m >= topology->launched,
        .sync = config->sync,
    };
}

double machines_load(const struct virtual_config *config, unsigned w)
{
    double load = 1;
    for (unsigned i = 0; i < config->load_count; i++)
        if (config->loads[i].worker == w && config->loads[i].at_ns == 0)
            load = config->loads[i].load;
    return load;
}

static uint16_t first_load(const struct virtual_config *config, unsigned w)
{
    return config->spec.weighting == SCHED_WEIGHTING_ACP ? (uint16_t)(machines_load(config, w) * LOAD_ONE) : 0;
}

struct worker_config machines_worker(const struct virtual_config *config, const struct topology *topology, unsigned w,
                                     struct boundaries *boundaries)
{
    return (struct worker_config){
        .spec = &config->spec,
        .rank = topology->worker_rank[w],
        .master = topology->masters > 0 ? topology->master_rank[topology->master_of[w]] : topology->supermaster,
        .supermaster =
            topology_is_in_pod(topology, w) ? topology->master_rank[topology->master_of[w]] : topology->supermaster,
        .probe = run_spec_probes(&config->spec) && config->count > 0,
        .in_steps = config->step_iterations > 0 && config->step_iterations < config->count,
        .ahead = config->begins_ahead,
        .load = first_load(config, w),
        .boundaries = boundaries,
        .boundary_bytes = machines_boundary_bytes(config),
        .end = config->first + config->count,
        .topology = topology,
    };
}

void machines_begin_probe(const struct virtual_config *config, struct probe *probe)
{
    bool in_steps = config->step_iterations > 0 && config->step_iterations < config->count;
    probe_init(probe, config->first, in_steps ? config->step_iterations : config->count,
               run_spec_wants_swr(&config->spec) ? PROBE_SWR : 1);
}

bool machines_watches(const struct topology *topology, unsigned watcher, unsigned rank, bool masterless)
{
    unsigned w = topology_worker(topology, rank), v = topology_worker(topology, watcher);
    if (watcher == rank)
        return false;
    if (rank == topology->supermaster)
        return v == topology->workers || !topology_is_in_pod(topology, v);
    if (v < topology->workers && topology->masters > 0 && topology->master_rank[topology->master_of[v]] == rank)
        return true;
    if (v < topology->workers && !topology_does_both(topology, watcher))
        return false;
    if (w == topology->workers || topology_master(topology, rank) < topology->masters)
        return watcher == topology->supermaster;
    unsigned master = topology->masters > 0 ? topology->master_rank[topology->master_of[w]] : topology->supermaster;
    return watcher == master || (watcher == topology->supermaster && masterless);
}

uint64_t machines_notice_ns(const struct virtual_config *config, unsigned watcher, unsigned rank)
{
    const bool is_of_pod = rank >= launched_ranks(config) && config->pod_detect_ns > 0;
    const uint64_t detect_ns = is_of_pod ? config->pod_detect_ns : config->detect_ns;
    return 1 + random_at(config->fault_seed, (uint64_t)watcher << 32 | rank) % (detect_ns + 1);
}
