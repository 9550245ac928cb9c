/* SPDX-License-Identifier: MIT */
/* Flat scheduling (DCA): every worker computes its own chunks; what they share is two counters.
 *
 * Which counters a draw needs depends on the technique, and there are three ways:
 *   place  the step alone fixes where the chunk lies: closed forms. One fetch-and-add.
 *   step   the step fixes the size, and a second fetch-and-add on the start of the loop finds the place: the way of
 *          [RMA]. For weighted chunks of closed forms, for wf, and for any closed form when it is asked for.
 *   rest   the size follows from the remaining work, which is read first: dtss, dfss, dgss, and af ([DCA] section 4).
 *
 * Invariants: a counter only grows; iterations before the start are drawn by exactly one rank; whoever draws beyond the
 * end draws no more. So each rank adds to a counter at most once beyond the end and at most once to stop the run, and
 * with N P <= FLAT_SPAN nothing overflows. Pure: the counters are the transport's. */
#pragma once

#include "common/sched/bounds.h"
#include "common/util/ranges.h"

enum flat_way { FLAT_BY_PLACE, FLAT_BY_STEP, FLAT_BY_REST };

enum flat_counter {
    FLAT_STEP,  /* scheduling steps drawn */
    FLAT_START, /* iterations drawn, by step and by rest */
    FLAT_COUNTERS,
};

/* N P at most: 64 bits hold the loop, what P ranks add beyond its end, and twice as much from each to stop it. */
#define FLAT_SPAN (UINT64_C(1) << 61)

/* What a worker has measured in all, as the others are to know it where the technique learns. */
struct flat_measured {
    uint64_t chunks, iterations, compute_ns;
    uint64_t freedom; /* sum of m - 1 over the chunks, that were timed in m pieces */
    double squares;   /* sum of (m - 1) s^2, in ns^2 */
    uint64_t check;   /* of the others: a record that was read half old, half new is left for the next time */
};

/* How the ranks reach what they share. */
struct flat_counters {
    void *self;
    /* Adds to the counter and returns what it was; with 0 it reads. */
    uint64_t (*fetch_add)(void *self, enum flat_counter counter, uint64_t amount);
    /* Publishes `own` and fills `all`, one for each worker. Only for techniques that learn. */
    void (*share)(void *self, const struct flat_measured *own, struct flat_measured *all);
    /* A chunk is being calculated: for --inject-delay. NULL: no delay. */
    void (*calculating)(void *self);
};

struct flat_config {
    const struct sched_spec *technique;
    struct sched_config sched; /* powers as the technique wants them; borrowed during init only */
    unsigned worker;           /* which one this is, 0 .. P-1 */
    bool two_counters;         /* by step also where by place is possible */
};

struct flat_core {
    enum flat_way way;
    struct sched sched; /* owned */
    struct sched_bounds bounds;
    unsigned worker;
    double power;        /* by step: what a chunk is multiplied with; 0: not weighted */
    double load;         /* by step: and divided by */
    double carry;        /* of rounding, see flat_draw() */
    uint64_t iterations; /* N */
    uint64_t rest;       /* remaining work, as last seen */
    uint64_t stop;       /* added to a counter to end the run; at least 2 N */
    struct flat_measured own;
    struct flat_measured *known, *fresh; /* [workers] of the others; owned; NULL where nothing is learned */
};

/* -1 with one line: the technique cannot run flat, or its parameters are wrong; nothing is owned then. */
int flat_init(struct flat_core *core, const struct flat_config *config, struct error *error);
void flat_fini(struct flat_core *core);

/* Draws the next chunk, counted from the loop's beginning. False when there is none, for ever. */
bool flat_draw(struct flat_core *core, const struct flat_counters *counters, struct range *chunk);

/* With weighting acp: so many runnable processes, at least 1, compete for this worker's core from now on, itself being
 * one. */
void flat_set_load(struct flat_core *core, double load);

/* The chunk of a step that was drawn, by place. */
static inline bool flat_draw_step(const struct flat_core *core, uint64_t step, struct range *chunk)
{
    if (step >= core->bounds.count)
        return false;
    chunk->count = sched_bounds_chunk(&core->bounds, step, &chunk->first);
    return true;
}

/* The parts of flat_draw(), for those to whom each counter's answer comes later: what the first counter has told
 * (FLAT_STEP after adding 1; by rest FLAT_START, to which nothing is added) says whether there is no more, for ever,
 * and by step and by rest how many iterations are then added to FLAT_START; its answer says which they are, and false
 * where there are none left. */
bool flat_is_over(const struct flat_core *core, uint64_t counter);
uint64_t flat_size(struct flat_core *core, uint64_t counter);
bool flat_take(struct flat_core *core, uint64_t start, uint64_t size, struct range *chunk);

/* Nobody draws from now on. At most once for each rank. */
void flat_stop(const struct flat_core *core, const struct flat_counters *counters);

/* Whether somebody has stopped the run. */
bool flat_is_stopped(const struct flat_core *core, const struct flat_counters *counters);

/* Iterations that are drawn at least, from the value of the counter that flat_draw() uses first. */
uint64_t flat_drawn(const struct flat_core *core, uint64_t counter);
enum flat_counter flat_first_counter(const struct flat_core *core);

/* Takes what was measured of an own chunk, where the technique learns. */
void flat_measure(struct flat_core *core, uint64_t iterations, uint64_t compute_ns, double deviation_ns,
                  unsigned samples);

static inline bool flat_learns(const struct flat_core *core)
{
    return core->known != NULL;
}

const char *flat_way_name(enum flat_way way);
