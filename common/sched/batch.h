/* SPDX-License-Identifier: MIT */
/* Batches as in fac2: P chunks of one size, which is computed at the start of the batch. Used by techniques that
 * weight the chunks of a batch, and by techniques whose batches do not take half of the remaining work. */
#pragma once

#include "common/sched/sched.h"
#include "common/sched/technique.h"

/* Indices of sched->state. BATCH_CARRY is a twofold and takes two elements. A technique may use the indices from
 * BATCH_OWN on. */
enum { BATCH_NUMBER, BATCH_LEFT, BATCH_CHUNK, BATCH_CARRY, BATCH_OWN = BATCH_CARRY + 2 };

/* Counts a chunk. If the chunk is the first of a new batch, returns true, and the caller must set BATCH_CHUNK. */
static inline bool batch_begins(struct sched *sched)
{
    uint64_t *state = sched->state.integer;
    bool begins = state[BATCH_LEFT] == 0;
    if (begins) {
        state[BATCH_LEFT] = sched->workers;
        state[BATCH_NUMBER]++;
    }
    state[BATCH_LEFT]--;
    return begins;
}

/* K = ceil(R/(2P)) at the start of each batch, [DCA] eq 7. */
static inline uint64_t batch_half(struct sched *sched)
{
    if (batch_begins(sched))
        sched->state.integer[BATCH_CHUNK] = ceil_div(sched->remaining, 2 * (uint64_t)sched->workers);
    return sched->state.integer[BATCH_CHUNK];
}

/* Returns w_j = P V_j / V. The weights sum to P, so a batch takes half of the remaining work. */
static inline struct twofold batch_power_weight(const struct sched *sched, unsigned worker)
{
    struct twofold power = twofold_multiply(power_meant(sched, worker), twofold_of(sched->workers));
    return twofold_divide(power, sched->power_total);
}

/* Tolerance for the fraction that is carried from chunk to chunk, relative to N. The fraction has the absolute error
 * of the chunk from which it comes. That chunk may be far larger than the chunk to which the fraction is added. A
 * share takes three operations, and adding the fraction takes one more. Each operation has a relative error of
 * 2^-100, so a chunk has a relative error of 2^-98. All chunks together have N iterations, so the tolerance is a
 * part of N. */
#define CARRY_GUARD 0x1p-98

/* Returns K w, [RMA] Table 2, but rounds down instead of up. The lost fraction is added to the next chunk of any
 * worker. If the weights sum to P, the chunks of a batch therefore sum to P K. `doubt` is the relative error of the
 * weight. */
static inline uint64_t batch_weighted(struct sched *sched, uint64_t chunk, struct twofold weight, double doubt)
{
    double *carry = sched->state.real + BATCH_CARRY;
    struct twofold share = twofold_multiply(twofold_of_integer(chunk), weight);
    share = twofold_add(share, twofold_kept(carry));
    struct twofold off = twofold_of((double)sched->iterations * CARRY_GUARD);
    uint64_t whole = floor_twofold(twofold_add(share, off), doubt);
    struct twofold rest = twofold_subtract(share, twofold_of_integer(whole));
    /* A share below 1 is raised to 1, so no fraction is lost. */
    bool has_rest = whole > 0 && rest.high > 0 && rest.high < 1;
    twofold_keep(carry, has_rest ? rest : twofold_of(0));
    return whole > 0 ? whole : 1;
}

static inline uint64_t batch_weighted_up(uint64_t chunk, struct twofold weight, double doubt)
{
    return ceil_to_integer(twofold_multiply(twofold_of_integer(chunk), weight), doubt);
}
