/* SPDX-License-Identifier: MIT */
/* The measurements that a worker makes before its first chunk: which iterations it times, when it stops, and the
 * result. No clock is read here, and no kernel is called.
 *
 * The probe iterations are spread over the loop, and all workers time the same ones. The total time is noted after 1,
 * 2, 4, 8 .. iterations; each of these times is a level. The probe ends after a level whose total time is at least
 * PROBE_NS. The levels give the speed of the worker.
 *
 * If iterations take long compared with a clock reading, each is also timed alone. This gives their mean, their
 * deviation and a coarse profile of the loop. If iterations are short, some of them are timed alone afterwards
 * (probe_wants_singles()). */
#pragma once

#include "common/util/stats.h"
#include "proto/message.h"
#include "proto/record.h"

#include <stdbool.h>

#define PROBE_NS 4000000u
/* Replaces PROBE_NS if iterations sleep; they are timed by the wall clock. It is longer than PROBE_NS because a sleep
 * may end some milliseconds late. */
#define PROBE_SLEEPING_NS 20000000u
/* Shorter iterations are not timed alone within a level, because reading the core's clock takes some 300 ns. */
#define PROBE_SHORT_NS 30000.0
/* How many short iterations are timed alone. With this number the deviation is known to 10 %, and the timing takes a
 * few milliseconds at most. */
#define PROBE_SINGLES 64
/* The ratio swr is the shortest time divided by the longest. It is taken from the first PROBE_SWR iterations that are
 * timed alone. The technique pls defines it for five iterations ([DCA], eq 13). */
#define PROBE_SWR 5
/* Lower bound of the ratio swr, because 0 means that the worker does not know the ratio. */
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

/* Returns how many probe iterations to run next, starting with number probe->done; 0 if the probe is finished. */
uint64_t probe_next(const struct probe *probe);

bool probe_times_each(const struct probe *probe);

void probe_add(struct probe *probe, uint64_t count, uint64_t elapsed_ns);

void probe_add_single(struct probe *probe, uint64_t k, double elapsed_ns);

/* Returns how many probe iterations, from the first one on, must be timed alone after the probe. Returns 0 if at least
 * half of all probe iterations were timed alone during the probe. Otherwise discards the times of the iterations that
 * were timed alone. */
uint64_t probe_wants_singles(struct probe *probe);

/* Fills `speed` except `worker` and `round_trip_ns`, which the caller sets. */
void probe_finish(const struct probe *probe, struct speed *speed);

void speed_share(struct speed *speed, double share);

struct speed_levels {
    unsigned count;
    uint64_t elapsed_ns[LEVELS_MAX];
};

struct speed_levels speed_levels_of(const struct speed *speed);

/* Fills mean_s[workers] with the seconds per iteration of each worker. The worker with most levels is the reference.
 * Each worker is compared with the reference at the worker's own last level. So a disturbed worker with few levels does
 * not make the other results less precise. */
void probe_compare(const struct speed_levels *levels, unsigned workers, double *mean_s);
