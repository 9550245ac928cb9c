/* tss: chunks fall linearly from `first` to `last`.
 *
 * The decrement is kept as a fraction of integers, rise/run, which is D/1 for the paper's whole decrement and
 * (F-L)/(S-1) for decrement=real, so that both are exact and one formula serves both. (F-L)(S-1) < 2N fits 64
 * bits. */
#include "common/sched/trapezoid.h"

enum { PARAM_FIRST, PARAM_LAST, PARAM_DECREMENT };
enum { DECREMENT_FLOOR, DECREMENT_REAL };
enum { FIRST, LAST, RISE, RUN, LAST_STEP }; /* constant */
enum { STEP };                              /* state: the step in the trapezoid, i until it starts again */

static const struct sched_param tss_params[] = {
    [PARAM_FIRST] = {.name = "first",
                     .kind = SCHED_PARAM_INTEGER,
                     .fallback = "ceil(N/(2P))",
                     .minimum = 1,
                     .maximum = (double)SCHED_ITERATIONS_MAX,
                     .summary = "size of the first chunk, iterations"},
    [PARAM_LAST] = {.name = "last",
                    .kind = SCHED_PARAM_INTEGER,
                    .fallback = "1",
                    .minimum = 1,
                    .maximum = (double)SCHED_ITERATIONS_MAX,
                    .summary = "size of the last chunk, iterations"},
    [PARAM_DECREMENT] = {.name = "decrement",
                         .kind = SCHED_PARAM_CHOICE,
                         .fallback = "floor",
                         .choices = "floor|real",
                         .summary =
                             "floor: whole, as published, 0 where P is large against N; real: keeps the fraction"},
    {.name = NULL},
};

/* F = ceil(N/(2P)), L = 1, S = ceil(2N/(F+L)), D = floor((F-L)/(S-1)), [DCA] eq 6. */
static int tss_init(struct sched *sched, struct error *error)
{
    uint64_t *constant = sched->constant.integer;
    uint64_t fallback = ceil_div(sched->iterations, 2 * (uint64_t)sched->workers);
    constant[LAST] = param_integer(sched, PARAM_LAST, 1);
    constant[FIRST] = param_integer(sched, PARAM_FIRST, fallback > constant[LAST] ? fallback : constant[LAST]);
    if (constant[FIRST] < constant[LAST])
        return error_set(error,
                         "technique tss: first=%" PRIu64 " is smaller than last=%" PRIu64 ": accepted is first >= last",
                         constant[FIRST], constant[LAST]);
    uint64_t fall = constant[FIRST] - constant[LAST];
    uint64_t run = trapezoid_steps(sched->iterations, constant[FIRST], constant[LAST]) - 1;
    bool real = param_integer(sched, PARAM_DECREMENT, DECREMENT_FLOOR) == DECREMENT_REAL;
    constant[RISE] = real ? fall : fall / run;
    constant[RUN] = real ? run : 1;
    constant[LAST_STEP] = constant[RISE] == 0 ? UINT64_MAX : real ? run : fall / constant[RISE];
    return 0;
}

/* K_i = F - i D, [DCA] eq 17; for the real decrement rounded up, so that S chunks are enough for N. */
static uint64_t tss_at(const struct sched *sched, uint64_t step)
{
    const uint64_t *constant = sched->constant.integer;
    if (constant[RISE] == 0)
        return constant[FIRST];
    if (step > constant[LAST_STEP])
        return constant[LAST];
    uint64_t fall = step * constant[RISE];
    return constant[FIRST] - (constant[RUN] == 1 ? fall : fall / constant[RUN]);
}

static uint64_t step_to_start_again(const struct sched *sched)
{
    const uint64_t *constant = sched->constant.integer;
    double decrement = (double)constant[RISE] / (double)constant[RUN], first = (double)constant[FIRST];
    double level = trapezoid_level(sched->remaining, first, (double)constant[LAST], decrement);
    uint64_t step = floor_real((first - level) / decrement);
    return step < constant[LAST_STEP] ? step : constant[LAST_STEP];
}

/* K_i = K_(i-1) - D, [DCA] eq 6. */
static uint64_t tss_next(struct sched *sched, unsigned worker)
{
    (void)worker;
    if (sched->state.integer[STEP] > sched->constant.integer[LAST_STEP])
        sched->state.integer[STEP] = step_to_start_again(sched);
    return tss_at(sched, sched->state.integer[STEP]++);
}

const struct technique technique_tss = {
    .name = "tss",
    .title = "trapezoid self-scheduling",
    .rule = "K_i = F - i D; F = first, L = last, S = ceil(2N/(F+L)), D = floor((F-L)/(S-1)); "
            "decrement=real: K_i = ceil(F - i (F-L)/(S-1))",
    .source = "Eleliemy and Ciorba, A Distributed Chunk Calculation Approach for Self-scheduling, eq 6 and 17",
    .params = tss_params,
    .init = tss_init,
    .next = tss_next,
    .at = tss_at,
};
