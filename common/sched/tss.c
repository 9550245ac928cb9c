/* SPDX-License-Identifier: MIT */
/* tss: chunks fall linearly from `first` to `last`. */
#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/sched/trapezoid.h"
#include "common/util/error.h"

/* in sched->constant: the first step whose chunk is raised to min_chunk or `last` */
enum { LEVEL_STEP = TRAPEZOID_OWN };
enum { STEP }; /* in sched->state: present step of the trapezoid; it becomes smaller if the trapezoid starts again */

static uint64_t tss_smallest(const struct sched *sched)
{
    uint64_t last = sched->constant.integer[TRAPEZOID_LAST];
    return last > sched->min_chunk ? last : sched->min_chunk;
}

/* Returns the first step i with F - floor(i rise/run) <= chunk. */
static uint64_t step_not_above(const uint64_t *constant, uint64_t chunk)
{
    if (constant[TRAPEZOID_FIRST] <= chunk)
        return 0;
    if (constant[TRAPEZOID_RISE] == 0)
        return UINT64_MAX;
    uint128 fall = (uint128)(constant[TRAPEZOID_FIRST] - chunk) * constant[TRAPEZOID_RUN];
    return (uint64_t)((fall + constant[TRAPEZOID_RISE] - 1) / constant[TRAPEZOID_RISE]);
}

static int tss_init(struct sched *sched, struct error *error)
{
    if (trapezoid_init(sched, error) < 0)
        return -1;
    sched->constant.integer[LEVEL_STEP] = step_not_above(sched->constant.integer, tss_smallest(sched));
    return 0;
}

/* K_i = F - i D, [DCA] eq 17; rounded up for a real decrement, so that S chunks cover N. */
static uint64_t tss_at(const struct sched *sched, uint64_t step)
{
    const uint64_t *constant = sched->constant.integer;
    if (constant[TRAPEZOID_RISE] == 0)
        return constant[TRAPEZOID_FIRST];
    if (step > constant[TRAPEZOID_END])
        return constant[TRAPEZOID_LAST];
    uint64_t fall = step * constant[TRAPEZOID_RISE];
    return constant[TRAPEZOID_FIRST] - (constant[TRAPEZOID_RUN] == 1 ? fall : fall / constant[TRAPEZOID_RUN]);
}

static uint64_t tss_start(const struct sched *sched, uint64_t step)
{
    const uint64_t *constant = sched->constant.integer;
    /* No chunk is empty, so at least `step` iterations precede this chunk. */
    if (step >= sched->iterations)
        return sched->iterations;
    uint64_t falling = step < constant[LEVEL_STEP] ? step : constant[LEVEL_STEP];
    uint128 before =
        trapezoid_sum(constant[TRAPEZOID_FIRST], constant[TRAPEZOID_RISE], 0, constant[TRAPEZOID_RUN], falling);
    return start_within(sched, before + (uint128)(step - falling) * tss_smallest(sched));
}

/* K_i = K_(i-1) - D, [DCA] eq 6. */
static uint64_t tss_next(struct sched *sched, unsigned worker)
{
    (void)worker;
    if (sched->state.integer[STEP] > sched->constant.integer[TRAPEZOID_END] && trapezoid_begins_again(sched))
        sched->state.integer[STEP] = trapezoid_step_again(sched);
    return tss_at(sched, sched->state.integer[STEP]++);
}

const struct technique technique_tss = {
    .name = "tss",
    .title = "trapezoid self-scheduling",
    .rule = "K_i = F - i D; F = first, L = last, S = ceil(2N/(F+L)), D = floor((F-L)/(S-1)); decrement=real: K_i = "
            "ceil(F - i (F-L)/(S-1)); after the last step the trapezoid begins again where it covers R; variant=paper: "
            "K_i = L there",
    .source = "Eleliemy and Ciorba, A Distributed Chunk Calculation Approach for Self-scheduling, eq 6 and 17",
    .when = "a good first choice: few chunks, and small ones at the end, whatever the iterations take",
    .params = trapezoid_params,
    .init = tss_init,
    .next = tss_next,
    .at = tss_at,
    .start = tss_start,
};
