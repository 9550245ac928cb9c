/* SPDX-License-Identifier: MIT */
/* Distributed chunk calculation (DCA): every worker computes its own chunks; the workers share only two counters.
 *
 * Depending on the technique there are three ways to draw:
 *
 *     position   The step alone fixes the place and size of the chunk: closed forms. One fetch-and-add.
 *     step       The step fixes the size; a second fetch-and-add, on the start of the undrawn loop, fixes the
 *                place, as in [RMA]. For weighted chunks of closed forms, for wf and the variants that learn its
 *                weights (awf-b, awf-d), and on request for any closed form.
 *     remaining  The size follows from the remaining work, which is read first: dtss, dfss, dgss, awf-c, awf-e,
 *                and af ([DCA] section 4).
 *
 * Invariants: counters only grow; each iteration is drawn by exactly one rank; a rank that draws beyond the end draws
 * no more. So each rank adds to a counter at most once beyond the end and once to stop the run, and with N P <=
 * DCA_SPAN nothing overflows. Pure: the transport owns the counters. */
#pragma once

#include "common/sched/bounds.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/ranges.h"

enum dca_way { DCA_BY_POSITION, DCA_BY_STEP, DCA_BY_REMAINING };

enum dca_counter {
    DCA_STEP,
    DCA_START,
    DCA_COUNTERS,
};

/* Limit of N P: 64 bits must hold the loop, what P ranks add beyond its end, and twice as much from each rank that
 * stops it. */
#define DCA_SPAN (UINT64_C(1) << 61)

struct dca_measured {
    uint64_t chunks, iterations, compute_ns;
    uint64_t wait_ns;
    uint64_t freedom; /* sum of m - 1 over chunks timed in m pieces */
    double squares;   /* sum of (m - 1) s^2, in ns^2 */
    /* check sum of the other members; a record that was read while it changed is ignored until the next time */
    uint64_t check;
};

struct dca_config {
    const struct sched_spec *technique;
    struct sched_config sched; /* powers as the technique needs them; borrowed during init only */
    bool two_counters;         /* draw by step even if by position is possible */
};

struct dca_core {
    enum dca_way way;
    struct sched sched;   /* owned; for wf, awf-b and awf-d this is fac2, whose chunks are multiplied by the weights */
    struct sched weights; /* by step, if weights are learned: the learning technique; owned; otherwise zeros */
    struct sched_bounds bounds;
    bool weighted;
    /* by step, weighted: variant=paper, which neither carries fractions over nor cuts the rest by factoring */
    bool to_the_letter;
    bool rounds_up;
    double power_sum; /* wf: sum of all powers; 0: a worker's weight is its power */
    uint64_t iterations;
    uint64_t stop; /* this is added to a counter to end the run; at least 2 N */
    /* [workers] what was learned so far, and the latest published records; owned; NULL if nothing is learned */
    struct dca_measured *known, *fresh;
};

/* Fails if the technique cannot run with DCA or its parameters are wrong; nothing is owned then. */
int dca_init(struct dca_core *core, const struct dca_config *config, struct error *error);
void dca_fini(struct dca_core *core);

/* By step: returns the weight of a worker's chunks from its `power` (1 if none is given); 0: not weighted. */
double dca_weight(const struct dca_core *core, double power);

static inline bool dca_draw_step(const struct dca_core *core, uint64_t step, struct range *chunk)
{
    if (step >= core->bounds.count)
        return false;
    chunk->count = sched_bounds_chunk(&core->bounds, step, &chunk->first);
    return true;
}

/* `counter`: value of the first counter of a draw. Returns true if nothing is left. */
bool dca_is_over(const struct dca_core *core, uint64_t counter);

void dca_learn(struct dca_core *core);
void dca_seal(struct dca_measured *measured);

/* Returns a lower bound of the drawn iterations, from the value of the first counter. */
uint64_t dca_drawn(const struct dca_core *core, uint64_t counter);
enum dca_counter dca_first_counter(const struct dca_core *core);

static inline bool dca_learns(const struct dca_core *core)
{
    return core->known != NULL;
}
