/* SPDX-License-Identifier: MIT */
/* The ranks that share a loop: communicator, groups and agreement. */
#pragma once

#include "common/util/error.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct team {
    MPI_Comm world; /* only for the loop */
    MPI_Comm node;  /* this rank's group, which shares memory */
    int rank, ranks;
    unsigned groups, group; /* number of groups, and this rank's; in order of their first ranks */
    unsigned *group_of;     /* [ranks] owned */
    int *leaders;           /* [groups] first rank of each; owned */
    int group_rank, group_ranks;
    bool is_far;         /* the loop has ranks on other nodes */
    bool cores_are_free; /* there is a core for each rank of this node */
};

/* Collective. Duplicates `comm`; team_agree() works afterwards. Returns an enum hdss_status. */
int team_join(struct team *team, MPI_Comm comm);

/* Collective. Groups of `size` ranks on a node; 0: the whole node. -1: out of memory on this rank. */
int team_group(struct team *team, uint64_t size);

/* Collective. */
void team_fini(struct team *team);

/* Returns the worst status of all ranks; for an error, all get the line of the lowest rank with it. */
int team_agree(const struct team *team, int status, struct error *error);

bool team_is_same(const struct team *team, uint64_t value);
