/* SPDX-License-Identifier: MIT */
/* dtss: the trapezoid of tss over units of power. A worker of power V_j takes V_j steps of it at once.
 *
 * carry=chunk goes on from the previous chunk as it was truncated, instead of from the real level of the
 * trapezoid; that is the weighted TSS of [SW]. */
#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/sched/trapezoid.h"
#include "common/util/error.h"

enum { PARAM_FIRST, PARAM_LAST, PARAM_DECREMENT, PARAM_CARRY };
enum { DECREMENT_FLOOR, DECREMENT_REAL };
enum { CARRY_LEVEL, CARRY_CHUNK };
enum { FIRST, LAST, DECREMENT }; /* constant, for one unit of power */
enum { LEVEL, PREVIOUS_POWER };  /* state: the level of one unit of power; the power it was last served to */

static const struct technique_param dtss_params[] = {
    [PARAM_FIRST] = {.name = "first",
                     .kind = SCHED_PARAM_INTEGER,
                     .fallback = "max(1, floor(N/(2V)))",
                     .minimum = 1,
                     .maximum = (double)SCHED_ITERATIONS_MAX,
                     .summary = "first step of the trapezoid, iterations per unit of power"},
    [PARAM_LAST] = {.name = "last",
                    .kind = SCHED_PARAM_INTEGER,
                    .fallback = "1",
                    .minimum = 1,
                    .maximum = (double)SCHED_ITERATIONS_MAX,
                    .summary = "last step of the trapezoid, iterations per unit of power"},
    [PARAM_DECREMENT] = {.name = "decrement",
                         .kind = SCHED_PARAM_CHOICE,
                         .fallback = "floor",
                         .choices = "floor|real",
                         .summary =
                             "floor: whole, as published, 0 where V is large against N; real: keeps the fraction"},
    [PARAM_CARRY] = {.name = "carry",
                     .kind = SCHED_PARAM_CHOICE,
                     .fallback = "level",
                     .choices = "level|chunk",
                     .summary =
                         "what the next chunk follows: the trapezoid's level, or the previous chunk as truncated"},
    {.name = NULL},
};

/* F = max(1, floor(N/(2V))), L = 1, S = max(2, ceil(2N/(F+L))), D = floor((F-L)/(S-1)), [H] Algorithm 1. */
static int dtss_init(struct sched *sched, struct error *error)
{
    uint64_t fallback = floor_real((double)sched->iterations / (2 * sched->power_sum));
    uint64_t last = param_integer(sched, PARAM_LAST, 1);
    uint64_t first = param_integer(sched, PARAM_FIRST, fallback > last ? fallback : last);
    if (first < last)
        return error_set(
            error, "technique dtss: first=%" PRIu64 " is smaller than last=%" PRIu64 ": accepted is first >= last",
            first, last);
    uint64_t fall = first - last, run = trapezoid_steps(sched->iterations, first, last) - 1;
    uint64_t whole = fall / run;
    bool real = param_integer(sched, PARAM_DECREMENT, DECREMENT_FLOOR) == DECREMENT_REAL;
    sched->constant.real[FIRST] = (double)first;
    sched->constant.real[LAST] = (double)last;
    sched->constant.real[DECREMENT] = real ? (double)fall / (double)run : (double)whole;
    sched->state.real[LEVEL] = (double)first;
    return 0;
}

static double level_to_start_again(const struct sched *sched)
{
    const double *constant = sched->constant.real;
    return trapezoid_level(sched->remaining, constant[FIRST], constant[LAST], constant[DECREMENT]);
}

/* V_j steps of which the last ones would fall below L: those are L. */
static double sum_with_floor(const double *constant, double level, double power)
{
    double falling = (level - constant[LAST]) / constant[DECREMENT] + 1;
    if (!(falling < power))
        falling = power;
    return falling * (level - constant[DECREMENT] * (falling - 1) / 2) + (power - falling) * constant[LAST];
}

static uint64_t chunk_at_level(const double *constant, double level, double power)
{
    double chunk = power * (level - constant[DECREMENT] * (power - 1) / 2);
    if (chunk < power * constant[LAST])
        chunk = sum_with_floor(constant, level, power);
    return floor_real(chunk);
}

/* K = floor(V_j (cur - D (V_j - 1)/2)), cur -= D V_j: the loop of [H] Algorithm 1 over k = 1..V_j, for every real
 * V_j. */
static uint64_t next_by_level(struct sched *sched, double power)
{
    const double *constant = sched->constant.real;
    double *level = &sched->state.real[LEVEL];
    if (*level < constant[LAST])
        *level = level_to_start_again(sched);
    uint64_t chunk = chunk_at_level(constant, *level, power);
    *level -= constant[DECREMENT] * power;
    return chunk;
}

/* K = floor(V_j (prev/V_prev - D (V_prev + V_j)/2)), [SW] Table 2, W-TSS; the first as above. */
static uint64_t next_by_chunk(struct sched *sched, double power)
{
    const double *constant = sched->constant.real;
    double *state = sched->state.real;
    double level = state[LEVEL] - constant[DECREMENT] * (state[PREVIOUS_POWER] + power) / 2;
    if (state[PREVIOUS_POWER] == 0)
        level = state[LEVEL] - constant[DECREMENT] * (power - 1) / 2;
    if (level < constant[LAST])
        level = level_to_start_again(sched);
    uint64_t chunk = floor_real(power * level);
    state[LEVEL] = (double)chunk / power;
    state[PREVIOUS_POWER] = power;
    return chunk;
}

/* Takes K from R alone. u units of power have taken A = N - R = u F - D u (u - 1)/2, so that the level F - D u is
 * sqrt((F + D/2)^2 - 2 D A) - D/2. The previous chunk is not known here: carry has no effect. */
static uint64_t dtss_from_rest(struct sched *sched, unsigned worker)
{
    const double *constant = sched->constant.real;
    double half = constant[DECREMENT] / 2, taken = (double)(sched->iterations - sched->remaining);
    double square = (constant[FIRST] + half) * (constant[FIRST] + half) - 2 * constant[DECREMENT] * taken;
    double level = square > 0 ? sqrt(square) - half : 0;
    if (constant[DECREMENT] <= 0)
        level = constant[FIRST];
    if (level < constant[LAST])
        level = level_to_start_again(sched);
    return chunk_at_level(constant, level, sched->powers[worker]);
}

static uint64_t dtss_next(struct sched *sched, unsigned worker)
{
    bool by_chunk = param_integer(sched, PARAM_CARRY, CARRY_LEVEL) == CARRY_CHUNK;
    return by_chunk ? next_by_chunk(sched, sched->powers[worker]) : next_by_level(sched, sched->powers[worker]);
}

const struct technique technique_dtss = {
    .name = "dtss",
    .title = "distributed trapezoid self-scheduling",
    .rule = "K = floor(V_j (cur - D (V_j - 1)/2)), cur -= D V_j; cur = F at first, F = first, L = last, "
            "S = max(2, ceil(2N/(F+L))), D = floor((F-L)/(S-1)); "
            "carry=chunk: K = floor(V_j (prev/V_prev - D (V_prev + V_j)/2))",
    .source = "Han and Chronopoulos, Scalable Loop Self-Scheduling Schemes Implemented on Large-Scale Clusters, "
              "Algorithm 1; carry=chunk: Ciorba et al., Enhancing self-scheduling algorithms via synchronization and "
              "weighting, Table 2",
    .when = "as tss, on workers of different speed",
    .params = dtss_params,
    .needs = SCHED_NEEDS_POWER,
    .powers = SCHED_POWERS_BY_SLOWEST,
    .init = dtss_init,
    .next = dtss_next,
    .from_rest = dtss_from_rest,
};
