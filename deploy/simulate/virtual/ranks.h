/* SPDX-License-Identifier: MIT */
/* Ranks shared by several virtual clusters, as jobs of a set share processes: each job is a cluster with its own
 * machines on each rank, and all have one clock.
 *
 * While a rank handles an event of one job, events of others wait. A dead rank is lost to all jobs, including later
 * ones. A worker computes one chunk at a time: among jobs with a chunk there, stride scheduling
 * (common/machine/stride.h) selects one for a turn, which ends with an iteration. A suspended chunk continues later.
 * Without competition a turn has no end, but is charged as the corresponding number of turns.
 *
 * Loops with dependencies, loads and slowdowns are not supported. */
#pragma once

#include "common/machine/stride.h"

#include <stdbool.h>
#include <stdint.h>

struct virtual_cluster;
struct ranks;

struct rank_part {
    struct stride_share share; /* must be the first member */
    struct virtual_cluster *cluster;
    uint64_t
        waits_since_ns; /* since when its chunk is suspended without a job of higher priority; NEVER: not waiting */
    uint64_t longest_wait_ns; /* maximum allowed waiting time so far: other jobs may have left meanwhile */
    bool is_there;            /* the rank has not left the job */
};

struct ranks_figures {
    uint64_t turns, put_off; /* turns, and turns that ended for another job */
    uint64_t overtaken;      /* turns given while a job of higher priority had a chunk */
    uint64_t starved;        /* chunks that waited too long */
    uint64_t unfair;         /* turns after which two passes differed too much */
    uint64_t computed_ns;    /* by all workers */
};

/* NULL if memory runs out. Turns last at least `turn_ns`, and longer if all chunks at a worker take more than
 * `turns_max` turns (0: no limit). Iterations take at most `iteration_ns` on any worker, for `starved` and `unfair`; 0:
 * not checked. */
struct ranks *ranks_new(unsigned count, uint64_t turn_ns, unsigned turns_max, uint64_t iteration_ns);
void ranks_free(struct ranks *ranks);

/* Adds a cluster with the same number of ranks as a job. -1: out of memory. Ranks already lost are reported by
 * ranks_tell_lost() after its start. */
int ranks_add(struct ranks *ranks, struct virtual_cluster *cluster, unsigned weight, int priority);
void ranks_tell_lost(struct ranks *ranks, struct virtual_cluster *cluster, uint64_t now_ns);
void ranks_remove(struct virtual_cluster *cluster);

void ranks_lose(struct ranks *ranks, unsigned rank, uint64_t now_ns);

/* Cluster and time of the next event; NULL: none. */
struct virtual_cluster *ranks_next(const struct ranks *ranks, uint64_t *at_ns);

const struct ranks_figures *ranks_figures(const struct ranks *ranks);
/* Computing time of a job on all workers. */
uint64_t ranks_used_ns(const struct virtual_cluster *cluster);

void ranks_check(const struct ranks *ranks);

/* A chunk has begun and is suspended; a chunk has ended. */
void ranks_begin_chunk(struct virtual_cluster *cluster, unsigned rank);
void ranks_end_chunk(struct virtual_cluster *cluster, unsigned rank);
/* The job's chunk was ended, suspended or not; start the next job unless one computes; a turn has ended. */
void ranks_give_up_chunk(struct virtual_cluster *cluster, unsigned rank);
void ranks_compute(struct virtual_cluster *cluster, unsigned rank);
void ranks_end_turn(struct virtual_cluster *cluster, unsigned rank, uint64_t generation);

void ranks_leave(struct virtual_cluster *cluster, unsigned rank);

/* The rank is busy with an event of the job; the end of the events of all jobs. */
void ranks_note_busy(struct virtual_cluster *cluster, unsigned rank);
uint64_t ranks_busy_until(const struct virtual_cluster *cluster, unsigned rank);
