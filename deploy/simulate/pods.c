/* SPDX-License-Identifier: MIT */
/* See pods.h. The ranks of a pod are known beforehand: they follow all others at the time it joins. */
#include "deploy/simulate/pods.h"

#include "common/util/grow.h"
#include "deploy/simulate/availability.h"

#include <inttypes.h>
#include <stdlib.h>

struct presence {
    unsigned pod;  /* index in run->config.pods + 1; 0: a launched node, or absent */
    unsigned rank; /* of the pod's master */
    double speed;
};

struct lister {
    struct simulation_run *run;
    const struct placement *placement;
    unsigned pod_workers;
    unsigned ranks;
    struct presence *presences; /* [nodes] owned */
    size_t fault_room;
    bool out_of_memory;
};

static void add_fault(struct lister *lister, const struct virtual_fault *fault)
{
    struct simulation_run *run = lister->run;
    struct virtual_fault *faults = grow(run->faults, run->config.fault_count, &lister->fault_room, sizeof *faults);
    lister->out_of_memory |= faults == NULL;
    if (faults == NULL)
        return;
    run->faults = faults;
    run->faults[run->config.fault_count++] = *fault;
    run->config.faults = run->faults;
}

static void add_faults(struct lister *lister, unsigned node, struct virtual_fault fault)
{
    const struct presence *presence = &lister->presences[node];
    for (unsigned i = 0; presence->pod > 0 && i <= lister->pod_workers; i++) {
        fault.rank = presence->rank + i;
        add_fault(lister, &fault);
    }
    for (unsigned rank = 0; presence->pod == 0 && rank < lister->placement->ranks; rank++)
        if (lister->placement->node_of[rank] == node) {
            fault.rank = rank;
            add_fault(lister, &fault);
        }
}

static void add_event(struct lister *lister, const struct availability_event *event)
{
    struct virtual_config *config = &lister->run->config;
    struct presence *presence = &lister->presences[event->node];
    switch (event->kind) {
    case AVAILABILITY_UP:
        lister->run->pods[config->pod_count++] = (struct virtual_pod){event->at_ns, lister->pod_workers, 1, 0};
        *presence = (struct presence){config->pod_count, lister->ranks, 1};
        lister->ranks += 1 + lister->pod_workers;
        break;
    case AVAILABILITY_LEAVES: lister->run->pods[presence->pod - 1].leaves_ns = event->at_ns; break;
    case AVAILABILITY_DOWN:
        add_faults(lister, event->node, (struct virtual_fault){.type = VIRTUAL_KILL, .at_ns = event->at_ns});
        break;
    case AVAILABILITY_SPEED:
        add_faults(lister, event->node,
                   (struct virtual_fault){
                       .type = VIRTUAL_SLOW, .at_ns = event->at_ns, .factor = presence->speed / event->speed});
        presence->speed = event->speed;
        break;
    }
}

static unsigned count_nodes(const struct availability *availability, unsigned launched)
{
    unsigned nodes = launched;
    for (size_t i = 0; i < availability->count; i++)
        nodes = availability->events[i].node >= nodes ? availability->events[i].node + 1 : nodes;
    return nodes;
}

static int check_ranks(const struct availability *availability, const struct lister *lister, struct error *error)
{
    uint64_t ranks = lister->ranks;
    for (size_t i = 0; i < availability->count; i++)
        ranks += availability->events[i].kind == AVAILABILITY_UP ? 1 + lister->pod_workers : 0;
    if (ranks <= SIMULATION_RANKS_MAX)
        return 0;
    return error_set(error, "--availability: %" PRIu64 " ranks come; accepted: up to %u in all", ranks,
                     SIMULATION_RANKS_MAX);
}

int simulation_list_pods(struct simulation_run *run, const struct simulation *simulation, struct error *error)
{
    const struct availability *availability = &simulation->availability;
    const struct placement *placement = &simulation->placement;
    const unsigned nodes = count_nodes(availability, placement->nodes);
    struct lister lister = {
        .run = run,
        .placement = placement,
        .pod_workers = (simulation->workers + placement->nodes - 1) / placement->nodes,
        .ranks = placement->ranks,
        .presences = calloc(nodes, sizeof *lister.presences),
        .fault_room = run->config.fault_count,
    };
    if (check_ranks(availability, &lister, error) < 0) {
        free(lister.presences);
        return -1;
    }
    run->pods = calloc(availability->count + 1, sizeof *run->pods);
    if (lister.presences == NULL || run->pods == NULL) {
        free(lister.presences);
        return error_set(error, "out of memory for %zu events", availability->count);
    }
    run->config.pods = run->pods;
    run->config.is_elastic = availability_has_arrivals(availability);
    for (unsigned n = 0; n < nodes; n++)
        lister.presences[n].speed = 1;
    for (size_t i = 0; i < availability->count; i++)
        add_event(&lister, &availability->events[i]);
    free(lister.presences);
    return lister.out_of_memory ? error_set(error, "out of memory for %zu events", availability->count) : 0;
}
