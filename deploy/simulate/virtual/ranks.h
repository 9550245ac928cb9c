/* SPDX-License-Identifier: MIT */
/* Ranks that several virtual clusters share, just as the jobs of a set share processes. Each job is a cluster, which
 * has its own machine on each rank. All clusters have one clock.
 *
 * While a rank handles an event of one job, events of other jobs wait. A dead rank is lost to all jobs, including later
 * ones. A worker computes one chunk at a time. Among the jobs that have a chunk at this worker, stride scheduling
 * (common/machine/stride.h) selects one job for a turn. A turn ends at the end of an iteration; the chunk is then
 * suspended and continues later. If no other job has a chunk, the turn has no limit, but the job is charged for as many
 * turns as it has computed.
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

/* Returns NULL if memory runs out. A turn lasts `turn_ns`. If every chunk at a worker would take more than `turns_max`
 * turns, a turn there is so long that the shortest chunk takes `turns_max` turns; if `turns_max` is 0, turns are never
 * longer. `iteration_ns` is a bound of the time of an iteration on any worker, from which `starved` and `unfair` are
 * computed; if it is 0, they are not. */
struct ranks *ranks_new(unsigned count, uint64_t turn_ns, unsigned turns_max, uint64_t iteration_ns);
void ranks_free(struct ranks *ranks);

/* Adds a cluster as a job. It must have as many ranks as `ranks`. Returns -1 if memory runs out. After virtual_begin(),
 * ranks_tell_lost() tells the job which ranks were lost before. */
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
/* ranks_give_up_chunk(): the job has ended a chunk, which may be suspended. ranks_compute(): begins a turn, unless some
 * job is computing. */
void ranks_give_up_chunk(struct virtual_cluster *cluster, unsigned rank);
void ranks_compute(struct virtual_cluster *cluster, unsigned rank);
void ranks_end_turn(struct virtual_cluster *cluster, unsigned rank, uint64_t generation);

void ranks_leave(struct virtual_cluster *cluster, unsigned rank);

void ranks_note_busy(struct virtual_cluster *cluster, unsigned rank);
uint64_t ranks_busy_until(const struct virtual_cluster *cluster, unsigned rank);
