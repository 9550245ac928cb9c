/* SPDX-License-Identifier: MIT */
/* Ranks that several virtual clusters share, as the jobs of a set share processes. Each job is a cluster with its
 * own machine on each rank, and all have one clock.
 *
 * While a rank handles an event of one job, events of other jobs wait. A dead rank is lost to all jobs, including
 * later ones. A worker computes one chunk at a time: among the jobs that have a chunk there, stride scheduling
 * (common/machine/stride.h) selects one for a turn, which ends with an iteration. A suspended chunk continues later.
 * If no other job has a chunk, a turn has no end, but the job is charged for the number of turns that it lasts.
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

/* Returns NULL if memory runs out. A turn lasts at least `turn_ns`, and longer if all chunks at a worker take more
 * than `turns_max` turns (0: no limit). `iteration_ns`: no iteration takes longer on any worker; `starved` and
 * `unfair` are computed from it; 0: they are not checked. */
struct ranks *ranks_new(unsigned count, uint64_t turn_ns, unsigned turns_max, uint64_t iteration_ns);
void ranks_free(struct ranks *ranks);

/* Adds a cluster, which must have as many ranks, as a job. Returns -1 if memory runs out. After virtual_begin(),
 * ranks_tell_lost() tells the job which ranks are lost already. */
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
/* ranks_give_up_chunk(): the job has ended its chunk, which may be suspended. ranks_compute(): begins a turn, unless
 * a job is computing. */
void ranks_give_up_chunk(struct virtual_cluster *cluster, unsigned rank);
void ranks_compute(struct virtual_cluster *cluster, unsigned rank);
void ranks_end_turn(struct virtual_cluster *cluster, unsigned rank, uint64_t generation);

void ranks_leave(struct virtual_cluster *cluster, unsigned rank);

void ranks_note_busy(struct virtual_cluster *cluster, unsigned rank);
uint64_t ranks_busy_until(const struct virtual_cluster *cluster, unsigned rank);
