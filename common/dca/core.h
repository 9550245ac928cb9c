/* SPDX-License-Identifier: MIT */
/* Distributed chunk calculation (DCA): every worker computes its own chunks; the workers share only two counters.
 *
 * Depending on the technique there are three ways to draw:
 *
 *     position   The scheduling step alone fixes the place and size of the chunk, by a closed form.
 *                A draw takes one fetch-and-add.
 *     step       The step fixes the size of the chunk. A second fetch-and-add, on the number of the first undrawn
 *                iteration, fixes its place, as in [RMA]. Used for closed forms with weights, for wf, and for the
 *                variants of wf that learn the weights (awf-b, awf-d). Used for any closed form on request.
 *     remaining  The worker reads the remaining work, and calculates the size of the chunk from it.
 *                Used for dtss, dfss, dgss, awf-c, awf-e, and af ([DCA] section 4).
 *
 * Invariants: counters only grow. Each iteration is drawn by exactly one rank. A rank that draws beyond the end draws
 * no more. So after the end of the loop is reached, each rank adds to a counter at most once, and at most once more to
 * stop the run. With N P <= DCA_SPAN no counter overflows. The code is pure: the transport owns the counters. */
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

/* Limit of N P, the number of iterations times the number of ranks. A 64-bit counter must not overflow. It can reach
 * the sum of N, what each of the P ranks adds beyond N, and the `stop` that each rank may add. */
#define DCA_SPAN (UINT64_C(1) << 61)

struct dca_measured {
    uint64_t chunks, iterations, compute_ns;
    uint64_t wait_ns;
    uint64_t freedom; /* sum of m - 1 over all chunks, if each chunk is timed in m pieces */
    /* sum of (m - 1) s^2 over all chunks, in ns^2, if each chunk is timed in m pieces and has the `deviation_ns` s */
    double squares;
    /* checksum of the other members; a record with a wrong checksum has changed while it was read, and is ignored */
    uint64_t check;
};

struct dca_config {
    const struct sched_spec *technique;
    /* `powers` in this structure has the powers that the technique uses; it is borrowed only during dca_init() */
    struct sched_config sched;
    bool two_counters; /* chunks are drawn by step even if drawing by position is possible */
};

struct dca_core {
    enum dca_way way;
    /* If the technique is wf, awf-b or awf-d, this is fac2: the weights multiply the chunks of fac2. Owned. */
    struct sched sched;
    /* the technique that learns the weights, if chunks are drawn by step; otherwise zeros; owned */
    struct sched weights;
    struct sched_bounds bounds;
    bool weighted;
    /* True if variant=paper is given, and chunks are drawn by step and weighted. In this case no fraction is carried to
     * the next chunk, and chunks after the last step of the closed form are not enlarged. */
    bool to_the_letter;
    bool rounds_up;
    /* if the technique is wf or learns the weights of wf: sum of the given powers; 0: the weight of a worker is its
     * power */
    double power_sum;
    uint64_t iterations;
    uint64_t stop; /* amount that a rank adds to a counter to end the run; at least 2 N */
    /* [workers] `known`: the record of each worker from which the technique has learned last. `fresh`: the record of
     * each worker that was read last. Owned; NULL if the technique does not learn. */
    struct dca_measured *known, *fresh;
};

/* Fails if the technique cannot run with DCA, or if its parameters are wrong. In that case `core` owns nothing. */
int dca_init(struct dca_core *core, const struct dca_config *config, struct error *error);
void dca_fini(struct dca_core *core);

/* Returns the weight of a worker's chunks. `power`: the given power of the worker, or 1. Returns 0 if chunks are not
 * weighted, or not drawn by step. */
double dca_weight(const struct dca_core *core, double power);

static inline bool dca_draw_step(const struct dca_core *core, uint64_t step, struct range *chunk)
{
    if (step >= core->bounds.count)
        return false;
    chunk->count = sched_bounds_chunk(&core->bounds, step, &chunk->first);
    return true;
}

/* Returns true if all iterations are drawn. `counter`: the value of the counter that a draw reads first. */
bool dca_is_over(const struct dca_core *core, uint64_t counter);

void dca_learn(struct dca_core *core);
void dca_seal(struct dca_measured *measured);

/* Returns a lower bound of the number of drawn iterations. `counter`: the value of the counter that dca_first_counter()
 * returns. */
uint64_t dca_drawn(const struct dca_core *core, uint64_t counter);
enum dca_counter dca_first_counter(const struct dca_core *core);

static inline bool dca_learns(const struct dca_core *core)
{
    return core->known != NULL;
}
