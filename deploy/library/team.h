/* SPDX-License-Identifier: MIT */
/* The ranks that share a loop: their communicator, their groups, and how they agree. */
#pragma once

#include "common/util/error.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct team {
    MPI_Comm world; /* communicator of the loop alone */
    MPI_Comm node;  /* communicator of this rank's group, which shares memory */
    int rank, ranks;
    unsigned groups, group; /* groups in the order of their first ranks; this rank's */
    unsigned *group_of;     /* [ranks], owned */
    int *leaders;           /* [groups] the first rank of each, owned */
    int group_rank, group_ranks;
    bool is_far;         /* the loop has ranks on other nodes */
    bool cores_are_free; /* each rank of this node can have a core of its own */
};

/* Collective. A duplicate of `comm`, with which team_agree() works. An enum hdss_status. */
int team_join(struct team *team, MPI_Comm comm);

/* Collective. Groups of `size` ranks of a node; 0: of all of it. -1 when memory is out, for this rank. */
int team_group(struct team *team, uint64_t size);

/* Collective, where team_join() was. */
void team_fini(struct team *team);

/* The worst status of all ranks; where that is an error, all have the line of the lowest rank that has it. */
int team_agree(const struct team *team, int status, struct error *error);

/* True if all ranks have the same value. */
bool team_is_same(const struct team *team, uint64_t value);
