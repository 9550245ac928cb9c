/* SPDX-License-Identifier: MIT */
/* DLS_GroupSetup(): division into groups. The ranks of each node, without the coordinator, are divided evenly into as
 * few groups as possible. A group has at most GROUP_MOST ranks. So a group has more than one rank, unless the node has
 * only one rank for groups. The coordinator becomes rank 0 of the foremen's communicator. */
#include "deploy/library/dls4lb.h"

#define GROUP_MOST 4

static MPI_Comm make_group(MPI_Comm world, bool is_member)
{
    MPI_Comm node, members, group;
    int rank, count, index;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_split(node, is_member ? 0 : MPI_UNDEFINED, rank, &members);
    MPI_Comm_free(&node);
    if (members == MPI_COMM_NULL)
        return MPI_COMM_NULL;
    MPI_Comm_size(members, &count);
    MPI_Comm_rank(members, &index);
    int groups = (count + GROUP_MOST - 1) / GROUP_MOST;
    MPI_Comm_split(members, (int)((int64_t)index * groups / count), index, &group);
    MPI_Comm_free(&members);
    return group;
}

static MPI_Comm make_foremen(MPI_Comm world, MPI_Comm group, bool coordinates)
{
    MPI_Comm foremen;
    int rank, place = -1;
    MPI_Comm_rank(world, &rank);
    if (group != MPI_COMM_NULL)
        MPI_Comm_rank(group, &place);
    MPI_Comm_split(world, coordinates || place == 0 ? 0 : MPI_UNDEFINED, coordinates ? 0 : rank + 1, &foremen);
    return foremen;
}

void DLS_GroupSetup(MPI_Comm world, int coordinator, infoDLS *GS, infoDLS *LS)
{
    int rank, ranks, foremen = 0;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &ranks);
    bool coordinates = rank == coordinator, alone = ranks == 1;
    MPI_Comm group = make_group(world, !coordinates || alone);
    MPI_Comm outer = make_foremen(world, group, coordinates);
    if (outer != MPI_COMM_NULL)
        MPI_Comm_size(outer, &foremen);
    dls_init(LS, group, 0);
    dls_init(GS, outer, 0);
    LS->crew = GS->crew = group;
    if (group != MPI_COMM_NULL)
        MPI_Comm_size(group, &GS->crewSize);
    LS->crewSize = GS->crewSize;
    /* without this communicator, nobody passes pieces on: the ranks of the group share the inner loop themselves */
    LS->crew = MPI_COMM_NULL;
    if (outer != MPI_COMM_NULL && !alone) {
        GS->firstRank = 1;
        GS->commSize = GS->minChunk = foremen - 1;
    }
    ((struct dls_own *)GS->own)->leader_idles = !alone;
    ((struct dls_own *)GS->own)->frees_communicators = true;
}
