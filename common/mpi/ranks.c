/* SPDX-License-Identifier: MIT */
/* What a rank knows of the ranks: their numbers and roles, which rank serves a worker, hosts and cores. Also ends this
 * rank without waiting for the others. */
#include "common/mpi/runtime.h"
#include "common/carrier/carrier.h"
#include "common/machine/topology.h"
#include "common/mpi/lanes.h"
#include "common/mpi/ops.h"
#include "common/mpi/rank.h"
#include "proto/message.h"

#include <assert.h>
#include <stdio.h>

unsigned runtime_rank(const struct runtime *runtime)
{
    return runtime->rank;
}

unsigned runtime_ranks(const struct runtime *runtime)
{
    return runtime->ranks;
}

bool runtime_is_pod(const struct runtime *runtime)
{
    return runtime->first_rank > 0;
}

const char *runtime_carrier(void)
{
    return carrier->name;
}

unsigned runtime_cores(const struct runtime *runtime)
{
    return runtime->cores;
}

void runtime_note_sharing(const struct runtime *runtime, struct threads *threads)
{
    const struct topology *topology = &runtime->topology;
    const unsigned workers = topology_beside(topology, topology_worker(topology, runtime->rank));
    bool shared = (uint64_t)workers * threads->count > runtime->node_cores;
    threads->cores = shared ? runtime->node_cores : 0;
    threads->workers = shared ? workers : 0;
}

unsigned runtime_master_of(const struct runtime *runtime, unsigned rank)
{
    const struct topology *topology = &runtime->topology;
    unsigned w = topology_worker(topology, rank);
    assert(w < topology->workers);
    return topology->masters == 0 ? topology->supermaster : topology->master_rank[topology->master_of[w]];
}

const char *runtime_host_of(const struct runtime *runtime, unsigned rank)
{
    unsigned low = 0, high = runtime->node_count;
    const unsigned first_rank = runtime_has_rank(runtime, rank) ? runtime->hellos[rank].node : runtime->ranks;
    while (low < high) {
        const unsigned middle = low + (high - low) / 2;
        if (runtime->nodes[middle].first_rank < first_rank)
            low = middle + 1;
        else
            high = middle;
    }
    const bool is_known = low < runtime->node_count && runtime->nodes[low].first_rank == first_rank;
    return is_known && runtime->nodes[low].name[0] != '\0' ? runtime->nodes[low].name : NULL;
}

enum role runtime_role_of(const struct runtime *runtime, unsigned rank)
{
    const struct topology *topology = &runtime->topology;
    if (runtime_has_rank(runtime, rank))
        return runtime->hellos[rank].role;
    return rank == topology->supermaster                         ? ROLE_SUPERMASTER
           : topology_master(topology, rank) < topology->masters ? ROLE_MASTER
                                                                 : ROLE_WORKER;
}

void runtime_abort(const struct runtime *runtime, int status)
{
    if (runtime->lanes != NULL)
        lanes_abort(runtime->lanes, status);
    carrier->abort(runtime->world, status);
}

void runtime_exit_alone(struct runtime *runtime)
{
    runtime->ops->abandon(runtime);
    fflush(stderr);
    runtime->ops->end_process(EXIT_STATUS_FAILED);
}

unsigned runtime_supermaster(const struct runtime *runtime)
{
    return runtime->topology.supermaster;
}
