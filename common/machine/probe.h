/* SPDX-License-Identifier: MIT */
/* The measurements of a worker before its first chunk, without clocks and kernels: which iterations are probed, when
 * the probe ends, and its result.
 *
 * The probe iterations are spread over the loop and are the same for all workers. They are timed in levels, each with
 * twice as many iterations as the level before, until a level takes PROBE_NS: these times give the speed of the worker.
 * Iterations that are long compared with reading a clock are also timed one by one, for their mean, their deviation and
 * a coarse profile of the loop. If the iterations are short, some of them are timed again one by one afterwards
 * (probe_wants_singles()). */
#pragma once

#include "common/util/stats.h"
#include "proto/message.h"
#include "proto/record.h"

#include <stdbool.h>

#define PROBE_NS 4000000u
/* Used instead of PROBE_NS, in wall-clock time, for iterations that sleep: a sleep may end a few milliseconds late. */
#define PROBE_SLEEPING_NS 20000000u
/* Shorter iterations are not timed one by one within a level: reading the core's clock takes some 300 ns. */
#define PROBE_SHORT_NS 30000.0
/* How many short iterations are timed again one by one: enough to know the deviation to 10 %, and few enough to take a
 * few milliseconds at most. */
#define PROBE_SINGLES 64
/* The ratio swr is the shortest over the longest time of the first PROBE_SWR iterations. The technique pls times five
 * iterations for it ([DCA], eq 13). */
#define PROBE_SWR 5
/* Lower bound of the ratio swr; the value 0 means that the worker does not know it. */
#define PROBE_SWR_MIN 1e-9

struct probe {
    uint64_t first, count;
    unsigned least;
    uint64_t enough_ns;
    uint64_t done;
    uint64_t elapsed_ns;
    unsigned levels;
    uint64_t level_ns[LEVELS_MAX];
    struct stats all;
    double shortest_ns, longest_ns;
    struct {
        double sum_ns;
        uint32_t count;
    } cells[SPEED_CELLS];
};

void probe_init(struct probe *probe, uint64_t first, uint64_t count, unsigned least);

uint64_t probe_iteration(const struct probe *probe, uint64_t k);

/* Starts with probe iteration probe->done; 0: the probe is finished. */
uint64_t probe_next(const struct probe *probe);

bool probe_times_each(const struct probe *probe);

void probe_add(struct probe *probe, uint64_t count, uint64_t elapsed_ns);

void probe_add_single(struct probe *probe, uint64_t k, double elapsed_ns);

/* Returns how many iterations to time again one by one, beginning with the first. Returns 0 unless most iterations were
 * too short to be timed one by one; otherwise it discards all times of single iterations so far. */
uint64_t probe_wants_singles(struct probe *probe);

/* Fills `speed` except `worker` and `round_trip_ns`, which the caller sets. */
void probe_finish(const struct probe *probe, struct speed *speed);

void speed_share(struct speed *speed, double share);

struct speed_levels {
    unsigned count;
    uint64_t elapsed_ns[LEVELS_MAX];
};

struct speed_levels speed_levels_of(const struct speed *speed);

/* Fills mean_s[workers] with the seconds per iteration of each worker. Compares each worker, at its own last level,
 * with the worker that has most levels. So a disturbed worker with few levels does not reduce the precision of the
 * others. */
void probe_compare(const struct speed_levels *levels, unsigned workers, double *mean_s);
