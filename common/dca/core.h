/* SPDX-License-Identifier: MIT */
/* Distributed chunk calculation (DCA): every worker computes its own chunks; the workers share only two counters.
 *
 * Depending on the technique there are three ways to draw:
 *
 *     position   The scheduling step alone fixes the place and size of the chunk, by a closed form.
 *                A draw takes one fetch-and-add.
 *     step       The step fixes the size of the chunk. A second fetch-and-add, on the number of the first undrawn
 *                iteration, fixes its place, as in [RMA]. Used for closed forms with weights, for wf and the
 *                variants that learn its weights (awf-b, awf-d), and on request for any closed form.
 *     remaining  The worker reads the remaining work, and calculates the size of the chunk from it.
 *                Used for dtss, dfss, dgss, awf-c, awf-e, and af ([DCA] section 4).
 *
 * Invariants: counters only grow; each iteration is drawn by exactly one rank; a rank that draws beyond the end draws
 * no more. So each rank adds to a counter at most once after the end of the loop is reached and once to stop the run,
 * and with N P <= DCA_SPAN no counter overflows. The code is pure: the transport owns the counters. */
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

/* Limit of N P, the number of iterations times the number of ranks. A counter must hold in 64 bits: N, what each of the
 * P ranks adds beyond N, and the `stop` that each rank may add. */
#define DCA_SPAN (UINT64_C(1) << 61)

struct dca_measured {
    uint64_t chunks, iterations, compute_ns;
    uint64_t wait_ns;
    uint64_t freedom; /* sum of m - 1 over all chunks; a chunk is timed in m pieces */
    double squares;   /* sum of (m - 1) s^2 over all chunks, in ns^2; s: `deviation_ns` of a chunk */
    /* checksum of the other members: a reader ignores a record that changed while it was read */
    uint64_t check;
};

struct dca_config {
    const struct sched_spec *technique;
    struct sched_config sched; /* its powers are those that the technique uses, borrowed during dca_init() only */
    bool two_counters;         /* draw by step even if drawing by position is possible */
};

struct dca_core {
    enum dca_way way;
    struct sched sched;   /* owned; for wf, awf-b and awf-d this is fac2, whose chunks are multiplied by the weights */
    struct sched weights; /* the technique that learns the weights, if drawn by step; owned; otherwise zeros */
    struct sched_bounds bounds;
    bool weighted;
    /* by step with weights: variant=paper, so no fraction is carried to the next chunk, and chunks beyond the closed
     * form's steps are not enlarged */
    bool to_the_letter;
    bool rounds_up;
    double power_sum; /* wf: sum of the powers of all workers; 0: a worker's weight is its power */
    uint64_t iterations;
    uint64_t stop; /* the amount added to a counter to end the run; at least 2 N */
    /* [workers] `known`: the records learned so far; `fresh`: the latest published records; owned; NULL if the
     * technique does not learn */
    struct dca_measured *known, *fresh;
};

/* Fails if the technique cannot run with DCA or its parameters are wrong; `core` then owns nothing. */
int dca_init(struct dca_core *core, const struct dca_config *config, struct error *error);
void dca_fini(struct dca_core *core);

/* Returns the weight of a worker's chunks from its `power` (1 if none is given). 0: chunks are not weighted, or not
 * drawn by step. */
double dca_weight(const struct dca_core *core, double power);

static inline bool dca_draw_step(const struct dca_core *core, uint64_t step, struct range *chunk)
{
    if (step >= core->bounds.count)
        return false;
    chunk->count = sched_bounds_chunk(&core->bounds, step, &chunk->first);
    return true;
}

/* Returns true if no iterations are left. `counter`: the value of the counter that a draw reads first. */
bool dca_is_over(const struct dca_core *core, uint64_t counter);

void dca_learn(struct dca_core *core);
void dca_seal(struct dca_measured *measured);

/* Returns a lower bound of the number of drawn iterations. `counter`: the value of the counter that dca_first_counter()
 * names. */
uint64_t dca_drawn(const struct dca_core *core, uint64_t counter);
enum dca_counter dca_first_counter(const struct dca_core *core);

static inline bool dca_learns(const struct dca_core *core)
{
    return core->known != NULL;
}
