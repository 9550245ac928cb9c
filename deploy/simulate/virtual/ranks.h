/* SPDX-License-Identifier: MIT */
/* Ranks that several virtual clusters share, as the jobs of a set share their processes: each job is a cluster, with
 * machines of its own on each rank, and all of them are under one clock.
 *
 * Shared is the time of a rank: while it handles an event of one job those of the others wait. A rank that dies is lost
 * to all jobs at once, and to those that begin later. And a worker computes one chunk at a time: of the jobs that have
 * one there stride scheduling (common/machine/stride.h) chooses the next, which computes for a turn, and to the end of
 * the iteration that runs then. A chunk that is put off goes on where it was. A chunk whose worker no other job wants
 * computes without an end of its turn; it is charged as for the turns that it would have been.
 *
 * Loops with dependencies, loads, and ranks that become slower are not for shared ranks. */
#pragma once

#include "common/machine/stride.h"

#include <stdbool.h>
#include <stdint.h>

struct virtual_cluster;
struct ranks;

/* The part of a job on a rank. */
struct rank_part {
    struct stride_share share; /* the first member */
    struct virtual_cluster *cluster;
    uint64_t
        waits_since_ns; /* its chunk is put off since then, and none of higher priority is there; NEVER: it is not */
    uint64_t longest_wait_ns; /* most that was allowed for that since it waits: others may have left meanwhile */
    bool is_there;            /* of a rank that has not left the job */
};

/* Counts of the sharing. */
struct ranks_figures {
    uint64_t turns, put_off; /* turns that were given; of them those that were ended for another job */
    uint64_t overtaken;      /* turns that were given while a job of higher priority had a chunk */
    uint64_t starved;        /* chunks that waited for a turn for longer than they may */
    uint64_t unfair;         /* turns behind which two jobs were further apart than they may be */
    uint64_t computed_ns;    /* by all workers */
};

/* NULL when memory is out. Turns last `turn_ns` at least, and where all chunks at a worker take more than `turns_max`
 * of them (0: any number) longer. Iterations take up to `iteration_ns` on any worker, for `starved` and `unfair`; 0:
 * nothing is said of them. */
struct ranks *ranks_new(unsigned count, uint64_t turn_ns, unsigned turns_max, uint64_t iteration_ns);
void ranks_free(struct ranks *ranks);

/* The cluster, of as many ranks, is a job on them from now on. -1 when memory is out. Ranks that are lost are lost to
 * it once it has begun: ranks_tell_lost(). */
int ranks_add(struct ranks *ranks, struct virtual_cluster *cluster, unsigned weight, int priority);
void ranks_tell_lost(struct ranks *ranks, struct virtual_cluster *cluster, uint64_t now_ns);
/* The cluster is over. */
void ranks_remove(struct virtual_cluster *cluster);

void ranks_lose(struct ranks *ranks, unsigned rank, uint64_t now_ns);
bool ranks_is_lost(const struct ranks *ranks, unsigned rank);

/* The cluster of the next event, and its time; NULL: there is none. */
struct virtual_cluster *ranks_next(const struct ranks *ranks, uint64_t *at_ns);

const struct ranks_figures *ranks_figures(const struct ranks *ranks);
/* Time that a job has computed, on all workers. */
uint64_t ranks_used_ns(const struct virtual_cluster *cluster);

/* Stops the program where an invariant does not hold. */
void ranks_check(const struct ranks *ranks);

/* --- for the clusters --- */

/* The rank's chunk has begun, and is put off; it is over; whoever is next computes, unless one does; a turn is over. */
void ranks_begin_chunk(struct virtual_cluster *cluster, unsigned rank);
void ranks_end_chunk(struct virtual_cluster *cluster, unsigned rank);
/* The job has been ended, put off or not: others compute. */
void ranks_give_up_chunk(struct virtual_cluster *cluster, unsigned rank);
void ranks_compute(struct virtual_cluster *cluster, unsigned rank);
void ranks_end_turn(struct virtual_cluster *cluster, unsigned rank, uint64_t generation);

/* The rank has left the job. */
void ranks_leave(struct virtual_cluster *cluster, unsigned rank);

/* The rank is busy with an event of the job; when it has handled those of all jobs. */
void ranks_note_busy(struct virtual_cluster *cluster, unsigned rank);
uint64_t ranks_busy_until(const struct virtual_cluster *cluster, unsigned rank);
