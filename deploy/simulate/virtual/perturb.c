/* SPDX-License-Identifier: MIT */
/* See perturb.h. SimGrid could change speeds by its own profiles. They are not used, because computing overlaps with
 * other work of the worker, and the end of a chunk must be known when the chunk begins. */
#include "deploy/simulate/virtual/perturb.h"

#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/util/error.h"
#include "common/util/grow.h"
#include "deploy/simulate/virtual/cluster.h"
#include "deploy/simulate/virtual/machines.h"

#include <stdlib.h>

static int compare_slowings(const void *a, const void *b)
{
    const struct slowing *first = a, *second = b;
    if (first->rank != second->rank)
        return first->rank < second->rank ? -1 : 1;
    return (first->at_ns > second->at_ns) - (first->at_ns < second->at_ns);
}

static int list_slowings(struct perturbations *perturbations, const struct virtual_config *config)
{
    unsigned *first = perturbations->first_slowing = calloc(cluster_ranks(config) + 1, sizeof *first), count = 0;
    struct slowing *slowings = perturbations->slowings = calloc(config->fault_count, sizeof *slowings);
    if (first == NULL || slowings == NULL)
        return -1;
    for (unsigned i = 0; i < config->fault_count; i++)
        if (config->faults[i].type == VIRTUAL_SLOW)
            slowings[count++] =
                (struct slowing){config->faults[i].rank, config->faults[i].at_ns, config->faults[i].factor};
    qsort(slowings, count, sizeof *slowings, compare_slowings);
    for (unsigned i = 0; i < count; i++) {
        first[slowings[i].rank + 1]++;
        if (i > 0 && slowings[i].rank == slowings[i - 1].rank)
            slowings[i].factor *= slowings[i - 1].factor;
    }
    for (unsigned rank = 0; rank < cluster_ranks(config); rank++)
        first[rank + 1] += first[rank];
    return 0;
}

struct list {
    const struct virtual_config *config;
    const struct topology *topology;
    const uint64_t *ends_ns;
    struct notice *notices;
    size_t count, room;
    bool failed;
};

static int compare_notices(const void *a, const void *b)
{
    const struct notice *first = a, *second = b;
    if (first->rank != second->rank)
        return first->rank < second->rank ? -1 : 1;
    if (first->at_ns != second->at_ns)
        return first->at_ns < second->at_ns ? -1 : 1;
    return (first->lost > second->lost) - (first->lost < second->lost);
}

static void add_notice(struct list *list, unsigned watcher, unsigned lost, uint64_t after_ns)
{
    struct notice *notices = grow(list->notices, list->count, &list->room, sizeof *notices);
    list->failed |= notices == NULL;
    if (notices == NULL)
        return;
    list->notices = notices;
    notices[list->count++] = (struct notice){
        .rank = watcher, .lost = lost, .at_ns = after_ns + machines_notice_ns(list->config, watcher, lost)};
}

static void perturb_add_workers(struct list *list, unsigned m)
{
    const struct topology *topology = list->topology;
    uint64_t end_ns = list->ends_ns[topology->master_rank[m]];
    for (unsigned w = 0; w < topology->workers; w++)
        if (topology->master_of[w] == m && list->ends_ns[topology->worker_rank[w]] < end_ns)
            add_notice(list, topology->supermaster, topology->worker_rank[w], end_ns + list->config->detect_ns);
}

static void add_worker(struct list *list, unsigned w)
{
    const struct topology *topology = list->topology;
    unsigned rank = topology->worker_rank[w];
    unsigned master = topology->masters > 0 ? topology->master_rank[topology->master_of[w]] : topology->supermaster;
    bool masterless = list->ends_ns[master] <= list->ends_ns[rank];
    add_notice(list, master, rank, list->ends_ns[rank]);
    if (master != topology->supermaster && machines_watches(topology, topology->supermaster, rank, masterless))
        add_notice(list, topology->supermaster, rank, list->ends_ns[rank]);
}

static void add_failure(struct list *list, unsigned rank)
{
    const struct topology *topology = list->topology;
    unsigned m = topology_master(topology, rank), w = topology_worker(topology, rank);
    if (w < topology->workers && !topology_does_both(topology, rank)) {
        add_worker(list, w);
        return;
    }
    for (unsigned watcher = 0; watcher < topology->ranks; watcher++)
        if (machines_watches(topology, watcher, rank, false))
            add_notice(list, watcher, rank, list->ends_ns[rank]);
    if (m < topology->masters)
        perturb_add_workers(list, m);
}

static int index_notices(struct perturbations *perturbations, unsigned ranks, size_t count)
{
    unsigned *first = perturbations->first_notice = calloc(ranks + 1, sizeof *first);
    if (first == NULL)
        return -1;
    qsort(perturbations->notices, count, sizeof *perturbations->notices, compare_notices);
    for (size_t i = 0; i < count; i++)
        first[perturbations->notices[i].rank + 1]++;
    for (unsigned rank = 0; rank < ranks; rank++)
        first[rank + 1] += first[rank];
    return 0;
}

static int list_notices(struct perturbations *perturbations, const struct virtual_config *config,
                        const struct topology *topology)
{
    struct list list = {.config = config, .topology = topology, .ends_ns = perturbations->ends_ns};
    for (unsigned rank = 0; rank < topology->ranks; rank++)
        if (list.ends_ns[rank] != NEVER)
            add_failure(&list, rank);
    perturbations->notices = list.notices;
    return list.failed ? -1 : index_notices(perturbations, topology->ranks, list.count);
}

static int list_failures(struct perturbations *perturbations, const struct virtual_config *config,
                         const struct topology *topology)
{
    unsigned failures = 0;
    for (unsigned i = 0; i < config->fault_count; i++)
        failures += config->faults[i].type == VIRTUAL_KILL;
    if (failures == 0)
        return 0;
    uint64_t *ends_ns = perturbations->ends_ns = calloc(topology->ranks, sizeof *ends_ns);
    if (ends_ns == NULL)
        return -1;
    for (unsigned rank = 0; rank < topology->ranks; rank++)
        ends_ns[rank] = NEVER;
    for (unsigned i = 0; i < config->fault_count; i++) {
        const struct virtual_fault *fault = &config->faults[i];
        if (fault->type == VIRTUAL_KILL && fault->at_ns < ends_ns[fault->rank])
            ends_ns[fault->rank] = fault->at_ns;
    }
    return list_notices(perturbations, config, topology);
}

int perturbations_init(struct perturbations *perturbations, const struct virtual_config *config,
                       const struct topology *topology, struct error *error)
{
    *perturbations = (struct perturbations){.slowings = NULL};
    if (config->fault_count == 0 ||
        (list_slowings(perturbations, config) == 0 && list_failures(perturbations, config, topology) == 0))
        return 0;
    return error_set(error, "out of memory for %u ranks", topology->ranks);
}

void perturbations_fini(struct perturbations *perturbations)
{
    free(perturbations->slowings);
    free(perturbations->first_slowing);
    free(perturbations->ends_ns);
    free(perturbations->notices);
    free(perturbations->first_notice);
}

double perturbed_ns(const struct perturbations *perturbations, unsigned rank, double from_ns, double ns)
{
    const unsigned *first = perturbations->first_slowing;
    double at_ns = from_ns, factor = 1;
    if (perturbations->slowings == NULL || first[rank] == first[rank + 1])
        return ns;
    for (unsigned i = first[rank]; i < first[rank + 1]; i++) {
        const struct slowing *slowing = &perturbations->slowings[i];
        double until_ns = (double)slowing->at_ns;
        if (until_ns > at_ns) {
            if (at_ns + ns * factor <= until_ns)
                break;
            ns -= (until_ns - at_ns) / factor;
            at_ns = until_ns;
        }
        factor = slowing->factor;
    }
    return at_ns + ns * factor - from_ns;
}

double unperturbed_ns(const struct perturbations *perturbations, unsigned rank, double from_ns, double until_ns)
{
    const unsigned *first = perturbations->first_slowing;
    double at_ns = from_ns, factor = 1, ns = 0;
    if (perturbations->slowings == NULL || first[rank] == first[rank + 1])
        return until_ns - from_ns;
    for (unsigned i = first[rank]; i < first[rank + 1]; i++) {
        const struct slowing *slowing = &perturbations->slowings[i];
        if ((double)slowing->at_ns >= until_ns)
            break;
        if ((double)slowing->at_ns > at_ns) {
            ns += ((double)slowing->at_ns - at_ns) / factor;
            at_ns = (double)slowing->at_ns;
        }
        factor = slowing->factor;
    }
    return ns + (until_ns - at_ns) / factor;
}
