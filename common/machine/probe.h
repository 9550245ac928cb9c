/* SPDX-License-Identifier: MIT */
/* The measurements of a worker about itself before its first chunk, apart from clocks and kernels: which iterations
 * are probed, when it is enough, and what is made of their times.
 *
 * The probe iterations are spread over the loop and the same for every worker. They are timed in stretches that double
 * their number, until a level has taken long enough: these times are the worker's speed. Iterations that are long
 * against a reading of the clock are also timed one by one, for their mean, their deviation and a coarse profile of the
 * loop; where they are short, whoever runs the probe times some of them again, with more care (probe_wants_singles). */
#pragma once

#include "common/util/stats.h"
#include "proto/message.h"
#include "proto/record.h"

#include <stdbool.h>

/* A probe ends when a level has taken this long. */
#define PROBE_NS 4000000u
/* Length of a level where iterations sleep, and are timed by the wall clock: a sleep that ends late by less is made up
 * for within the level, or at least is not all of it. */
#define PROBE_SLEEPING_NS 20000000u
/* An iteration that is shorter is not timed within a stretch: reading a clock of the core's own time takes some 300 ns.
 */
#define PROBE_SHORT_NS 30000.0
/* The number of short iterations that are timed again one by one: enough for a deviation to 10 %, and at most a few
 * milliseconds. */
#define PROBE_SINGLES 64
/* The shortest over the longest (swr) is of the first so many: pls is said to time five ([DCA], eq 13). */
#define PROBE_SWR 5
/* The least ratio: 0 means that the worker does not know it. */
#define PROBE_SWR_MIN 1e-9

struct probe {
    uint64_t first, count; /* the loop */
    unsigned least;        /* iterations to be timed whatever it takes, if the loop has so many */
    uint64_t enough_ns;    /* PROBE_NS after probe_init() */
    uint64_t done;
    uint64_t elapsed_ns; /* time of the `done` iterations */
    unsigned levels;
    uint64_t level_ns[LEVELS_MAX];
    struct stats all; /* times of the iterations timed one by one, in ns */
    double shortest_ns, longest_ns;
    struct {
        double sum_ns;
        uint32_t count;
    } cells[CELLS];
};

void probe_init(struct probe *probe, uint64_t first, uint64_t count, unsigned least);

/* The k-th probe iteration. */
uint64_t probe_iteration(const struct probe *probe, uint64_t k);

/* Number of iterations to time next, from the k-th = probe->done on; 0: enough. */
uint64_t probe_next(const struct probe *probe);

/* True if the iterations of probe_next() are long enough to be timed one by one as well, as far as is known. */
bool probe_times_each(const struct probe *probe);

/* `count` iterations, at most those of probe_next(), took `elapsed_ns` together. */
void probe_add(struct probe *probe, uint64_t count, uint64_t elapsed_ns);

/* Adds that the k-th probe iteration took `elapsed_ns` by itself. */
void probe_add_single(struct probe *probe, uint64_t k, double elapsed_ns);

/* Number of iterations, from the first on, to be timed once more one by one: 0 unless most were too short for it. If
 * so, all times of single iterations are forgotten. */
uint64_t probe_wants_singles(struct probe *probe);

/* Makes the result; `worker` and `round_trip_ns` are the caller's. */
void probe_finish(const struct probe *probe, struct speed *speed);

/* Makes it the speed of `share` threads together, of which one has probed. */
void speed_share(struct speed *speed, double share);

/* The elapsed_ns of a SPEED. */
struct speed_levels {
    unsigned count; /* 1 .. LEVELS_MAX */
    uint64_t elapsed_ns[LEVELS_MAX];
};

/* Returns the levels of a SPEED. */
struct speed_levels speed_levels_of(const struct speed *speed);

/* Fills mean_s[workers] with the time of an iteration on each worker, in seconds. Each worker is compared at its own
 * last level with the worker that has the most levels: a disturbed worker, with few levels, does not take the others'
 * precision away. */
void probe_compare(const struct speed_levels *levels, unsigned workers, double *mean_s);
