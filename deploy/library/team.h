/* SPDX-License-Identifier: MIT */
/* The ranks that share a loop: their communicator and groups, and how they agree. */
#pragma once

#include "common/util/error.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct team {
    MPI_Comm world;
    MPI_Comm node; /* the ranks of this rank's group, all of one node */
    int rank, ranks;
    unsigned groups, group;
    unsigned *group_of;
    int *leaders;
    int group_rank, group_ranks;
    bool is_far;
    bool cores_are_free;
};

/* Collective. Duplicates `comm`; afterwards team_agree() can be called. Returns an enum hdss_status. */
int team_join(struct team *team, MPI_Comm comm);

/* Collective. Divides the ranks of each node into groups of `size` ranks; 0: one group per node. Returns -1 if memory
 * runs out on this rank. */
int team_group(struct team *team, uint64_t size);

void team_fini(struct team *team);

/* Collective. Returns the worst status of all ranks. If it is an error, all ranks get the error text of the
 * lowest-numbered rank that has this status. */
int team_agree(const struct team *team, int status, struct error *error);

bool team_is_same(const struct team *team, uint64_t value);
