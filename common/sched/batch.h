/* SPDX-License-Identifier: MIT */
/* Batches, as fac2 has them: P chunks of one size, which is computed at the start of the batch. For the techniques that
 * weight them, or choose another part of what remains. */
#pragma once

#include "common/sched/sched.h"
#include "common/sched/technique.h"

/* In sched->state: integers but for the last, which has two places. Free for the technique from BATCH_OWN on. */
enum { BATCH_NUMBER, BATCH_LEFT, BATCH_CHUNK, BATCH_CARRY, BATCH_OWN = BATCH_CARRY + 2 };

/* Takes one of the batch's chunks; true where that is the first of a new batch, whose number counts from 1: the caller
 * then sets its BATCH_CHUNK. */
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

/* w_j = P V_j / V: the weights sum to P, so that a batch takes half of what remains. */
static inline struct twofold batch_power_weight(const struct sched *sched, unsigned worker)
{
    struct twofold power = twofold_multiply(power_meant(sched, worker), twofold_of(sched->workers));
    return twofold_divide(power, sched->power_total);
}

/* The rest that is carried from chunk to chunk is as far off as the chunks that it is left of, which may be far larger
 * than the one that it goes to. Three operations make a share, and one adds what is carried, each right to 2^-100: a
 * chunk is right to 2^-98 of itself, and all of them together are N iterations. */
#define CARRY_GUARD 0x1p-98

/* K w, [RMA] Table 2, which rounds up. Here what rounding down cuts off goes to the next chunk, whoever gets it: the
 * chunks of a batch then sum to P K wherever the weights sum to P. The weight may be off by the part `doubt` of itself.
 */
static inline uint64_t batch_weighted(struct sched *sched, uint64_t chunk, struct twofold weight, double doubt)
{
    double *carry = sched->state.real + BATCH_CARRY;
    struct twofold share = twofold_multiply(twofold_of_integer(chunk), weight);
    share = twofold_add(share, twofold_kept(carry));
    struct twofold off = twofold_of((double)sched->iterations * CARRY_GUARD);
    uint64_t whole = floor_twofold(twofold_add(share, off), doubt);
    struct twofold rest = twofold_subtract(share, twofold_of_integer(whole));
    bool has_rest = whole > 0 && rest.high > 0 && rest.high < 1; /* a share below 1 becomes 1: nothing was cut off */
    twofold_keep(carry, has_rest ? rest : twofold_of(0));
    return whole > 0 ? whole : 1;
}

/* K w by variant=paper: rounded up. */
static inline uint64_t batch_weighted_up(uint64_t chunk, struct twofold weight, double doubt)
{
    return ceil_to_integer(twofold_multiply(twofold_of_integer(chunk), weight), doubt);
}
