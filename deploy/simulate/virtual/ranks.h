/* SPDX-License-Identifier: MIT */
/* Ranks that several virtual clusters share, just as the jobs of a set share processes. Each job is a cluster, and has
 * its own machine on each rank. All clusters have one clock.
 *
 * While a rank handles an event of one job, events of other jobs wait. A dead rank is lost to all jobs, even to jobs
 * that begin later. A worker computes one chunk at a time. Stride scheduling (common/machine/stride.h) selects a job
 * for a turn among the jobs that have a chunk at this worker. A turn ends at the end of an iteration. The chunk is then
 * suspended and continues later. If no other job has a chunk, the turn has no limit. The job is then charged for as
 * many turns as it has computed.
 *
 * Loops with dependencies, loads and slowdowns are not supported. */
#pragma once

#include "common/machine/stride.h"

#include <stdbool.h>
#include <stdint.h>

struct virtual_cluster;
struct ranks;

struct rank_part {
    struct stride_share share;
    struct virtual_cluster *cluster;
    uint64_t waits_since_ns;
    uint64_t longest_wait_ns;
    bool is_there;
};

struct ranks_figures {
    uint64_t turns, put_off;
    uint64_t overtaken;
    uint64_t starved;
    uint64_t unfair;
    uint64_t computed_ns;
};

/* A turn lasts `turn_ns`. It is longer at a worker if every chunk there would take more than `turns_max` turns: then
 * the shortest chunk takes `turns_max` turns. If `turns_max` is 0, turns are never longer. `iteration_ns` is a bound of
 * the time of an iteration on any worker. `starved` and `unfair` are computed from it; if it is 0, they are not
 * computed. Returns NULL if memory runs out. */
struct ranks *ranks_new(unsigned count, uint64_t turn_ns, unsigned turns_max, uint64_t iteration_ns);
void ranks_free(struct ranks *ranks);

/* Adds a cluster as a job. The cluster must have as many ranks as `ranks`. Returns -1 if memory runs out. After
 * virtual_begin(), ranks_tell_lost() must tell the job which ranks are already lost. */
int ranks_add(struct ranks *ranks, struct virtual_cluster *cluster, unsigned weight, int priority);
void ranks_tell_lost(struct ranks *ranks, struct virtual_cluster *cluster, uint64_t now_ns);
void ranks_remove(struct virtual_cluster *cluster);

void ranks_lose(struct ranks *ranks, unsigned rank, uint64_t now_ns);

struct virtual_cluster *ranks_next(const struct ranks *ranks, uint64_t *at_ns);

const struct ranks_figures *ranks_figures(const struct ranks *ranks);
uint64_t ranks_used_ns(const struct virtual_cluster *cluster);

void ranks_check(const struct ranks *ranks);

void ranks_begin_chunk(struct virtual_cluster *cluster, unsigned rank);
void ranks_end_chunk(struct virtual_cluster *cluster, unsigned rank);
/* ranks_give_up_chunk() ends a chunk of the job, which may be running or suspended. ranks_compute() begins a turn,
 * unless some job is computing. */
void ranks_give_up_chunk(struct virtual_cluster *cluster, unsigned rank);
void ranks_compute(struct virtual_cluster *cluster, unsigned rank);
void ranks_end_turn(struct virtual_cluster *cluster, unsigned rank, uint64_t generation);

void ranks_leave(struct virtual_cluster *cluster, unsigned rank);

void ranks_note_busy(struct virtual_cluster *cluster, unsigned rank);
uint64_t ranks_busy_until(const struct virtual_cluster *cluster, unsigned rank);
