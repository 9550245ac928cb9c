/* SPDX-License-Identifier: MIT */
/* The ranks that share a loop: see team.h. */
#include "deploy/library/team.h"

#include "hdss/hdss.h"

#include <sched.h>
#include <stdlib.h>

int team_join(struct team *team, MPI_Comm comm)
{
    *team = (struct team){.world = MPI_COMM_NULL, .node = MPI_COMM_NULL};
    if (MPI_Comm_dup(comm, &team->world) != MPI_SUCCESS)
        return HDSS_ERROR_MPI;
    MPI_Comm_rank(team->world, &team->rank);
    MPI_Comm_size(team->world, &team->ranks);
    return HDSS_OK;
}

static void count_cores(struct team *team, MPI_Comm shared)
{
    cpu_set_t own, all;
    int ranks;
    CPU_ZERO(&own);
    sched_getaffinity(0, sizeof own, &own);
    MPI_Allreduce(&own, &all, sizeof own, MPI_BYTE, MPI_BOR, shared);
    MPI_Comm_size(shared, &ranks);
    team->cores_are_free = ranks <= CPU_COUNT(&all);
    team->is_far = ranks < team->ranks;
}

static void number_groups(struct team *team)
{
    for (int i = 0; i < team->ranks; i++) {
        int leader = (int)team->group_of[i];
        if (leader == i)
            team->leaders[team->groups++] = i;
        unsigned group = team->groups - 1;
        while (team->leaders[group] != leader)
            group--;
        team->group_of[i] = group;
    }
    team->group = team->group_of[team->rank];
}

int team_group(struct team *team, uint64_t size)
{
    MPI_Comm shared;
    int on_node, status = 0;
    MPI_Comm_split_type(team->world, MPI_COMM_TYPE_SHARED, team->rank, MPI_INFO_NULL, &shared);
    count_cores(team, shared);
    MPI_Comm_rank(shared, &on_node);
    int part = size > 0 && size < (uint64_t)team->ranks ? on_node / (int)size : 0;
    MPI_Comm_split(shared, part, team->rank, &team->node);
    MPI_Comm_free(&shared);
    MPI_Comm_rank(team->node, &team->group_rank);
    MPI_Comm_size(team->node, &team->group_ranks);
    team->group_of = calloc((size_t)team->ranks, sizeof *team->group_of);
    team->leaders = calloc((size_t)team->ranks, sizeof *team->leaders);
    if (team->group_of == NULL || team->leaders == NULL)
        status = -1;
    unsigned leader = (unsigned)team->rank;
    MPI_Bcast(&leader, 1, MPI_UNSIGNED, 0, team->node);
    /* the next call is collective, so all ranks must agree first: no rank may make it if one of them has no memory */
    if (team_agree(team, status, NULL) < 0)
        return status;
    MPI_Allgather(&leader, 1, MPI_UNSIGNED, team->group_of, 1, MPI_UNSIGNED, team->world);
    number_groups(team);
    return 0;
}

void team_fini(struct team *team)
{
    if (team->node != MPI_COMM_NULL)
        MPI_Comm_free(&team->node);
    if (team->world != MPI_COMM_NULL)
        MPI_Comm_free(&team->world);
    free(team->group_of);
    free(team->leaders);
}

int team_agree(const struct team *team, int status, struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    struct {
        int status, rank;
    } own = {status, team->rank}, worst;
    MPI_Allreduce(&own, &worst, 1, MPI_2INT, MPI_MINLOC, team->world);
    if (worst.status < 0 && error != NULL)
        MPI_Bcast(error->text, sizeof error->text, MPI_CHAR, worst.rank, team->world);
    return worst.status;
}

bool team_is_same(const struct team *team, uint64_t value)
{
    uint64_t own[2] = {value, ~value}, least[2];
    MPI_Allreduce(own, least, 2, MPI_UINT64_T, MPI_MIN, team->world);
    return least[0] == ~least[1];
}
