/* SPDX-License-Identifier: MIT */
/* fac2, also called fss: factoring by two. A batch of P equal chunks takes half of the remaining work. */
#include "common/sched/halving.h"
#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/util/error.h"

/* in sched->constant: floor((N-1)/P), and the number of the first batch whose chunks are raised to min_chunk */
enum { QUOTIENT, LEVEL_BATCH };
enum { LEFT, CHUNK }; /* in sched->state: number of chunks that the batch still has, and their size */

/* K_i = ceil(R_i/(2P)) at the start of a batch of P chunks, K_(i-1) within the batch, [DCA] eq 7. */
static uint64_t fac2_next(struct sched *sched, unsigned worker)
{
    (void)worker;
    if (sched->state.integer[LEFT] == 0) {
        sched->state.integer[LEFT] = sched->workers;
        sched->state.integer[CHUNK] = ceil_div(sched->remaining, 2 * (uint64_t)sched->workers);
    }
    sched->state.integer[LEFT]--;
    return sched->state.integer[CHUNK];
}

/* K_i = ceil((1/2)^(b+1) N/P) with b = floor(i/P), [DCA] eq 15. This equals floor(Q/2^(b+1)) + 1 with Q =
 * floor((N-1)/P), because rounding down after each of two divisions gives the same as rounding down once. */
static uint64_t fac2_chunk_of_batch(uint64_t quotient, uint64_t batch)
{
    return halved(quotient / 2, batch) + 1;
}

static int fac2_init(struct sched *sched, struct error *error)
{
    (void)error;
    uint64_t quotient = sched->iterations > 0 ? (sched->iterations - 1) / sched->workers : 0, batch = 0;
    while (batch < 64 && fac2_chunk_of_batch(quotient, batch) > sched->min_chunk)
        batch++;
    sched->constant.integer[QUOTIENT] = quotient;
    sched->constant.integer[LEVEL_BATCH] = batch;
    return 0;
}

static uint64_t fac2_at(const struct sched *sched, uint64_t step)
{
    return fac2_chunk_of_batch(sched->constant.integer[QUOTIENT], step / sched->workers);
}

static uint64_t fac2_start(const struct sched *sched, uint64_t step)
{
    uint64_t quotient = sched->constant.integer[QUOTIENT], level = sched->constant.integer[LEVEL_BATCH];
    /* No chunk is empty, so at least `step` iterations precede this chunk. */
    if (step >= sched->iterations)
        return sched->iterations;
    uint64_t batch = step / sched->workers, falling = batch < level ? batch : level;
    uint128 before = (uint128)sched->workers * (falling + halved_sum(quotient, falling));
    /* number of earlier chunks in the same batch; from batch `level` on, number of all earlier chunks with the size
     * min_chunk */
    uint64_t others = step - falling * sched->workers;
    uint64_t chunk = falling < level ? fac2_chunk_of_batch(quotient, falling) : sched->min_chunk;
    return start_within(sched, before + (uint128)others * chunk);
}

const struct technique technique_fac2 = {
    .name = "fac2",
    .alias = "fss",
    .title = "factoring by two",
    .rule = "recursive K = ceil(R/(2P)) at the start of each batch of P chunks; "
            "closed K_i = ceil((1/2)^(b+1) N/P) with b = floor(i/P)",
    .source = "Eleliemy and Ciorba, A Distributed Chunk Calculation Approach for Self-scheduling, eq 7 and 15",
    .when = "iterations differ much in time: even out a large rest with many small chunks at the end",
    .init = fac2_init,
    .next = fac2_next,
    .at = fac2_at,
    .start = fac2_start,
};
