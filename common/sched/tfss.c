/* SPDX-License-Identifier: MIT */
/* tfss: batches of P equal chunks, as in factoring. The chunk size falls linearly from batch to batch, as in tss. */
#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/sched/trapezoid.h"
#include "common/util/error.h"

/* In sched->constant: the first batch whose chunk would be below `last`, and the first batch whose chunk is
 * raised to min_chunk or `last`. */
enum { END_BATCH = TRAPEZOID_OWN, LEVEL_BATCH };
enum { STEP }; /* in sched->state: present step of the trapezoid; it becomes smaller if the trapezoid starts again */

static uint64_t tfss_smallest(const struct sched *sched)
{
    uint64_t last = sched->constant.integer[TRAPEZOID_LAST];
    return last > sched->min_chunk ? last : sched->min_chunk;
}

/* The mean of F - i D over i = bP .. bP+P-1 is F - (2bP + P-1) rise/(2 run). Rounded down, that is F minus ceil((2bP +
 * P-1) rise/(2 run)) = floor((slope b + offset)/divisor). */
static uint128 slope_of(const struct sched *sched)
{
    return 2 * (uint128)sched->workers * sched->constant.integer[TRAPEZOID_RISE];
}

static uint128 divisor_of(const struct sched *sched)
{
    return 2 * (uint128)sched->constant.integer[TRAPEZOID_RUN];
}

static uint128 offset_of(const struct sched *sched)
{
    return (uint128)(sched->workers - 1) * sched->constant.integer[TRAPEZOID_RISE] + divisor_of(sched) - 1;
}

/* Returns the first batch b with F - floor((slope b + offset)/divisor) <= chunk, which means slope b >= (F -
 * chunk) divisor - offset. */
static uint64_t batch_not_above(const struct sched *sched, uint64_t chunk)
{
    const uint64_t *constant = sched->constant.integer;
    if (constant[TRAPEZOID_FIRST] <= chunk)
        return 0;
    if (constant[TRAPEZOID_RISE] == 0)
        return UINT64_MAX;
    uint128 fall = (constant[TRAPEZOID_FIRST] - chunk) * divisor_of(sched), offset = offset_of(sched);
    return fall <= offset ? 0 : (uint64_t)((fall - offset + slope_of(sched) - 1) / slope_of(sched));
}

static int tfss_init(struct sched *sched, struct error *error)
{
    if (trapezoid_init(sched, error) < 0)
        return -1;
    uint64_t *constant = sched->constant.integer;
    constant[END_BATCH] = batch_not_above(sched, constant[TRAPEZOID_LAST] - 1);
    constant[LEVEL_BATCH] = batch_not_above(sched, tfss_smallest(sched));
    return 0;
}

/* K = floor((sum of F - i D over the batch) / P), but at least `last`; [DCA] eq 8 and 18, whose printed sum has
 * P+1 terms. */
static uint64_t tfss_chunk_of_batch(const struct sched *sched, uint64_t batch)
{
    const uint64_t *constant = sched->constant.integer;
    if (constant[TRAPEZOID_RISE] == 0)
        return constant[TRAPEZOID_FIRST];
    if (batch >= constant[END_BATCH])
        return constant[TRAPEZOID_LAST];
    uint128 fall = slope_of(sched) * batch + offset_of(sched);
    return constant[TRAPEZOID_FIRST] - (uint64_t)(fall / divisor_of(sched));
}

static uint64_t tfss_at(const struct sched *sched, uint64_t step)
{
    return tfss_chunk_of_batch(sched, step / sched->workers);
}

static uint64_t tfss_start(const struct sched *sched, uint64_t step)
{
    const uint64_t *constant = sched->constant.integer;
    /* No chunk is empty, so at least `step` iterations precede this chunk. */
    if (step >= sched->iterations)
        return sched->iterations;
    uint64_t batch = step / sched->workers, falling = batch < constant[LEVEL_BATCH] ? batch : constant[LEVEL_BATCH];
    uint128 before = sched->workers * trapezoid_sum(constant[TRAPEZOID_FIRST], slope_of(sched), offset_of(sched),
                                                    divisor_of(sched), falling);
    /* number of earlier chunks in the same batch; from LEVEL_BATCH on, number of all earlier chunks with the smallest
     * size */
    uint128 others = step - (uint128)falling * sched->workers;
    uint64_t chunk = falling < constant[LEVEL_BATCH] ? tfss_chunk_of_batch(sched, falling) : tfss_smallest(sched);
    return start_within(sched, before + others * chunk);
}

static uint64_t tfss_next(struct sched *sched, unsigned worker)
{
    (void)worker;
    uint64_t *step = &sched->state.integer[STEP], end = sched->constant.integer[END_BATCH];
    if (*step / sched->workers >= end && end > 0 && trapezoid_begins_again(sched)) {
        uint64_t batch = trapezoid_step_again(sched) / sched->workers;
        *step = (batch < end ? batch : end - 1) * sched->workers;
    }
    return tfss_at(sched, (*step)++);
}

const struct technique technique_tfss = {
    .name = "tfss",
    .title = "trapezoid factoring self-scheduling",
    .rule = "K = floor of the mean of F - i D over the batch's steps i = bP .. bP+P-1, at least L; F = first, L = "
            "last, S = ceil(2N/(F+L)), D = floor((F-L)/(S-1)); decrement=real: D = (F-L)/(S-1); after the last step "
            "the trapezoid begins again where it covers R; variant=paper: K = L there",
    .source = "Eleliemy and Ciorba, A Distributed Chunk Calculation Approach for Self-scheduling, eq 8 and 18, whose "
              "print has P+1 terms",
    .when = "as tss, if all workers should get chunks of one size in turn",
    .params = trapezoid_params,
    .init = tfss_init,
    .next = tfss_next,
    .at = tfss_at,
    .start = tfss_start,
};
