/* SPDX-License-Identifier: MIT */
/* Distributed chunk calculation (DCA): every worker computes its own chunks; what they share is two counters.
 *
 * Which counters a draw needs depends on the technique, and there are three ways:
 *   position   the step alone fixes where the chunk lies: closed forms. One fetch-and-add.
 *   step       the step fixes the size, and a second fetch-and-add on the start of the loop finds the place: the way of
 *          [RMA]. For weighted chunks of closed forms, for wf, also with weights that are learned (awf-b, awf-d), and
 * for any closed form when it is asked for. remaining  the size follows from the remaining work, which is read first:
 * dtss, dfss, dgss, awf-c, awf-e, and af
 *          ([DCA] section 4).
 *
 * Invariants: a counter only grows; iterations before the start are drawn by exactly one rank; whoever draws beyond the
 * end draws no more. So each rank adds to a counter at most once beyond the end and at most once to stop the run, and
 * with N P <= DCA_SPAN nothing overflows. Pure: the counters are the transport's. */
#pragma once

#include "common/sched/bounds.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/ranges.h"

enum dca_way { DCA_BY_POSITION, DCA_BY_STEP, DCA_BY_REMAINING };

enum dca_counter {
    DCA_STEP,  /* scheduling steps drawn */
    DCA_START, /* iterations drawn, by step and by remaining */
    DCA_COUNTERS,
};

/* N P at most: 64 bits hold the loop, what P ranks add beyond its end, and twice as much from each to stop it. */
#define DCA_SPAN (UINT64_C(1) << 61)

/* The measurements of a worker in all, as the others are to know it where the technique learns. */
struct dca_measured {
    uint64_t chunks, iterations, compute_ns;
    uint64_t wait_ns; /* idle before they began */
    uint64_t freedom; /* sum of m - 1 over the chunks, that were timed in m pieces */
    double squares;   /* sum of (m - 1) s^2, in ns^2 */
    uint64_t check;   /* check sum of the rest: a record that was read half old, half new is left for the next time */
};

struct dca_config {
    const struct sched_spec *technique;
    struct sched_config sched; /* powers as the technique wants them; borrowed during init only */
    bool two_counters;         /* by step also where by position is possible */
};

/* The settings of a loop, which are the same for all its workers. */
struct dca_core {
    enum dca_way way;
    struct sched sched;   /* owned; of wf, awf-b and awf-d fac2, which their weights scale */
    struct sched weights; /* by step, where the weights are learned: the technique that does; owned; else zeros */
    struct sched_bounds bounds;
    bool weighted;       /* by step: a chunk is multiplied with its worker's weight */
    bool to_the_letter;  /* by step, weighted: variant=paper, which neither carries fractions nor factors the rest */
    bool rounds_up;      /* to the letter: a weighted chunk is rounded up, as that of wf, else down */
    double power_sum;    /* wf: of all powers, for weights that sum to P; 0: a worker's weight is its power */
    uint64_t iterations; /* N */
    uint64_t stop;       /* added to a counter to end the run; at least 2 N */
    struct dca_measured *known, *fresh; /* [workers] `known`: what was learned of each worker; `fresh`: what each worker
                                           publishes; owned; NULL where nothing is learned */
};

/* -1 with one line: the technique cannot run with DCA, or its parameters are wrong; nothing is owned then. */
int dca_init(struct dca_core *core, const struct dca_config *config, struct error *error);
void dca_fini(struct dca_core *core);

/* By step: the weight of the chunks of a worker whose power is `power` (1 where no powers are given); 0: its chunks are
 * not weighted. */
double dca_weight(const struct dca_core *core, double power);

/* The chunk of a step that was drawn, by position. */
static inline bool dca_draw_step(const struct dca_core *core, uint64_t step, struct range *chunk)
{
    if (step >= core->bounds.count)
        return false;
    chunk->count = sched_bounds_chunk(&core->bounds, step, &chunk->first);
    return true;
}

/* True if `counter`, the first counter of a draw, says that nothing is left for ever. */
bool dca_is_over(const struct dca_core *core, uint64_t counter);

/* Has the technique learn what is new in core->fresh, the measurements of the other workers. A record that does not fit
 * its check is left for the next time. */
void dca_learn(struct dca_core *core);
/* Sets the check of a record that is to be published. */
void dca_seal(struct dca_measured *measured);

/* Iterations that are drawn at least, from the value of the counter that a draw uses first. */
uint64_t dca_drawn(const struct dca_core *core, uint64_t counter);
enum dca_counter dca_first_counter(const struct dca_core *core);

static inline bool dca_learns(const struct dca_core *core)
{
    return core->known != NULL;
}
