/* SPDX-License-Identifier: MIT */
/* Flat scheduling (DCA): every worker computes its own chunks; what they share is two counters.
 *
 * Which counters a draw needs depends on the technique, and there are three ways:
 *   position   the step alone fixes where the chunk lies: closed forms. One fetch-and-add.
 *   step       the step fixes the size, and a second fetch-and-add on the start of the loop finds the place: the way of
 *          [RMA]. For weighted chunks of closed forms, for wf, and for any closed form when it is asked for.
 *   remaining  the size follows from the remaining work, which is read first: dtss, dfss, dgss, and af ([DCA] section
 * 4).
 *
 * Invariants: a counter only grows; iterations before the start are drawn by exactly one rank; whoever draws beyond the
 * end draws no more. So each rank adds to a counter at most once beyond the end and at most once to stop the run, and
 * with N P <= FLAT_SPAN nothing overflows. Pure: the counters are the transport's. */
#pragma once

#include "common/sched/bounds.h"
#include "common/util/ranges.h"

enum flat_way { FLAT_BY_POSITION, FLAT_BY_STEP, FLAT_BY_REMAINING };

enum flat_counter {
    FLAT_STEP,  /* scheduling steps drawn */
    FLAT_START, /* iterations drawn, by step and by remaining */
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

struct flat_config {
    const struct sched_spec *technique;
    struct sched_config sched; /* powers as the technique wants them; borrowed during init only */
    bool two_counters;         /* by step also where by position is possible */
};

/* What is the same for all workers of a loop. */
struct flat_core {
    enum flat_way way;
    struct sched sched; /* owned */
    struct sched_bounds bounds;
    bool weighted;       /* by step: a chunk is multiplied with its worker's weight */
    double power_sum;    /* wf: of all powers, for weights that sum to P; 0: a worker's weight is its power */
    uint64_t iterations; /* N */
    uint64_t stop;       /* added to a counter to end the run; at least 2 N */
    struct flat_measured *known, *fresh; /* [workers] what was learned of each, and what is published of each; owned;
                                            NULL where nothing is learned */
};

/* -1 with one line: the technique cannot run flat, or its parameters are wrong; nothing is owned then. */
int flat_init(struct flat_core *core, const struct flat_config *config, struct error *error);
void flat_fini(struct flat_core *core);

/* By step: the weight of the chunks of a worker whose power is `power` (1 where no powers are given); 0: its chunks are
 * not weighted. */
double flat_weight(const struct flat_core *core, double power);

/* The chunk of a step that was drawn, by position. */
static inline bool flat_draw_step(const struct flat_core *core, uint64_t step, struct range *chunk)
{
    if (step >= core->bounds.count)
        return false;
    chunk->count = sched_bounds_chunk(&core->bounds, step, &chunk->first);
    return true;
}

/* Whether the first counter of a draw, which was `counter`, says that there is no more, for ever. */
bool flat_is_over(const struct flat_core *core, uint64_t counter);

/* What the others have measured is in core->fresh: the technique learns what is new in it. A record that does not fit
 * its check is left for the next time. */
void flat_learn(struct flat_core *core);
/* Sets the check of a record that is to be published. */
void flat_seal(struct flat_measured *measured);

/* Iterations that are drawn at least, from the value of the counter that a draw uses first. */
uint64_t flat_drawn(const struct flat_core *core, uint64_t counter);
enum flat_counter flat_first_counter(const struct flat_core *core);

static inline bool flat_learns(const struct flat_core *core)
{
    return core->known != NULL;
}

const char *flat_way_name(enum flat_way way);
