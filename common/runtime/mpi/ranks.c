/* Who this rank is, and who serves whom. */
#include "common/runtime/mpi/internal.h"

unsigned runtime_rank(const struct runtime *runtime)
{
    return runtime->rank;
}

unsigned runtime_ranks(const struct runtime *runtime)
{
    return runtime->ranks;
}

unsigned runtime_cores(const struct runtime *runtime)
{
    return runtime->cores;
}

unsigned runtime_master_of(const struct runtime *runtime, unsigned rank)
{
    const struct topology *topology = &runtime->topology;
    unsigned w = topology_worker(topology, rank);
    return topology->masters == 0 ? topology->supermaster : topology->master_rank[topology->master_of[w]];
}

unsigned runtime_supermaster(const struct runtime *runtime)
{
    return runtime->topology.supermaster;
}
