/* SPDX-License-Identifier: MIT */
/* fiss: chunks grow linearly from batch to batch, so that about `stages` batches cover the loop. */
#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/util/error.h"

enum { PARAM_STAGES };
/* in sched->constant; LEVEL_BATCH is the number of the first batch whose chunks reach min_chunk */
enum { FIRST, RISE, LEVEL_BATCH };

static const struct technique_param fiss_params[] = {
    [PARAM_STAGES] = {.name = "stages",
                      .kind = SCHED_PARAM_INTEGER,
                      .fallback = "the batches of fac2",
                      .minimum = 2,
                      .maximum = (double)SCHED_ITERATIONS_MAX,
                      .summary = "B, batches that the loop is planned for"},
    {.name = NULL},
};

/* Returns the number of batches that the closed form of fac2, ceil((1/2)^(b+1) N/P), gives. [DCA] suggests this number
 * for B. */
static uint64_t batches_of_fac2(const struct sched *sched)
{
    const uint64_t quotient = sched->iterations > 0 ? (sched->iterations - 1) / sched->workers : 0;
    uint64_t batches = 0;
    for (uint128 cut = 0; cut < sched->iterations; batches++)
        cut += ((uint128)(batches < 63 ? quotient >> (batches + 1) : 0) + 1) * sched->workers;
    return batches > 2 ? batches : 2;
}

/* K0 = floor(N/((2+B)P)), C = floor(2N(1 - B/(2+B))/(P B (B-1))), [DCA] eq 9. 1 - B/(2+B) is 2/(2+B), and rounding down
 * after each of two divisions gives the same as rounding down once. No product exceeds 2^127. */
static int fiss_init(struct sched *sched, struct error *error)
{
    (void)error;
    uint64_t *constant = sched->constant.integer, stages = param_integer(sched, PARAM_STAGES, batches_of_fac2(sched));
    uint128 parts = ((uint128)stages + 2) * sched->workers, iterations = sched->iterations;
    constant[FIRST] = (uint64_t)(iterations / parts);
    constant[RISE] = (uint64_t)(4 * iterations / parts / ((uint128)stages * (stages - 1)));
    if (constant[FIRST] >= sched->min_chunk)
        constant[LEVEL_BATCH] = 0;
    else
        constant[LEVEL_BATCH] =
            constant[RISE] > 0 ? ceil_div(sched->min_chunk - constant[FIRST], constant[RISE]) : UINT64_MAX;
    return 0;
}

/* K = K0 + b C, [DCA] eq 19, which prints i instead of b. */
static uint128 fiss_chunk_of_batch(const struct sched *sched, uint64_t batch)
{
    return sched->constant.integer[FIRST] + (uint128)batch * sched->constant.integer[RISE];
}

static uint64_t fiss_at(const struct sched *sched, uint64_t step)
{
    uint128 chunk = fiss_chunk_of_batch(sched, step / sched->workers);
    return chunk < SCHED_ITERATIONS_MAX ? (uint64_t)chunk : SCHED_ITERATIONS_MAX;
}

/* Before batch `level` all chunks have size min_chunk. From batch `level` to batch b - 1 chunks have (K_level +
 * K_(b-1))/2 iterations on average. In batch b they have K_b. Because K_(b-1) < N, the product in the second part of
 * the sum is below 2^127. */
static uint64_t fiss_start(const struct sched *sched, uint64_t step)
{
    uint64_t batch = step / sched->workers, level = sched->constant.integer[LEVEL_BATCH];
    /* No chunk is empty, so at least `step` iterations precede this chunk. */
    if (step >= sched->iterations)
        return sched->iterations;
    if (batch < level)
        return start_of_equal(sched, sched->min_chunk, step);
    if (batch > level && fiss_chunk_of_batch(sched, batch - 1) >= sched->iterations)
        return sched->iterations;
    uint128 before = (uint128)level * sched->workers * sched->min_chunk;
    if (batch > level)
        before += (uint128)(batch - level) * sched->workers *
                  (fiss_chunk_of_batch(sched, level) + fiss_chunk_of_batch(sched, batch - 1)) / 2;
    return start_within(sched, before + step % sched->workers * fiss_chunk_of_batch(sched, batch));
}

static uint64_t fiss_next(struct sched *sched, unsigned worker)
{
    (void)worker;
    return fiss_at(sched, sched->step);
}

const struct technique technique_fiss = {
    .name = "fiss",
    .title = "fixed increase self-scheduling",
    .rule = "K = K0 + b C; B = stages, K0 = floor(N/((2+B)P)), C = floor(2N(1 - B/(2+B))/(P B (B-1)))",
    .source = "Eleliemy and Ciorba, A Distributed Chunk Calculation Approach for Self-scheduling, eq 9 and 19, whose "
              "print says ceil and i",
    .when = "handing out a chunk is expensive, and iterations get shorter along the loop",
    .params = fiss_params,
    .init = fiss_init,
    .next = fiss_next,
    .at = fiss_at,
    .start = fiss_start,
};
