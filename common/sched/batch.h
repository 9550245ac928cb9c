/* SPDX-License-Identifier: MIT */
/* Batches, as fac2 has them: P chunks of one size, which is computed at the start of the batch. For the techniques that
 * weight them, or choose another part of what remains. */
#pragma once

#include "common/sched/sched.h"
#include "common/sched/technique.h"

/* In sched->state: integers but for the last. Free for the technique from BATCH_OWN on. */
enum { BATCH_NUMBER, BATCH_LEFT, BATCH_CHUNK, BATCH_CARRY, BATCH_OWN };

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

/* K w, [RMA] Table 2, which rounds up. Here what rounding down cuts off goes to the next chunk, whoever gets it: the
 * chunks of a batch then sum to P K wherever the weights sum to P. */
static inline uint64_t batch_weighted(struct sched *sched, uint64_t chunk, double weight)
{
    double *carry = &sched->state.real[BATCH_CARRY], share = (double)chunk * weight + *carry;
    uint64_t whole = floor_real(share);
    if (whole == 0) { /* the share becomes 1, and nothing was cut off */
        *carry = 0;
        return 1;
    }
    double rest = share - (double)whole;
    *carry = rest > 0 && rest < 1 ? rest : 0;
    return whole;
}
