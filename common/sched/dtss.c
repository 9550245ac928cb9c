/* SPDX-License-Identifier: MIT */
/* dtss: the trapezoid of tss over units of power. A worker of power V_j takes V_j steps at once.
 *
 * Normally the next chunk continues from the exact level of the trapezoid. With carry=chunk it continues from the
 * previous chunk, whose size is rounded down. That is the weighted TSS of [SW]. */
#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/sched/trapezoid.h"
#include "common/util/error.h"

enum { PARAM_FIRST, PARAM_LAST, PARAM_DECREMENT, PARAM_CARRY, PARAM_VARIANT };
enum { DECREMENT_FLOOR, DECREMENT_REAL };
enum { CARRY_LEVEL, CARRY_CHUNK };
/* in sched->constant, for one unit of power; DECREMENT is a twofold and takes two elements */
enum { FIRST, LAST, DECREMENT };
/* in sched->state: level for one unit of power, and power of the worker of the previous request */
enum { LEVEL, PREVIOUS_POWER = LEVEL + 2 };

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
                         .summary = "floor: whole, as published, 0 if V is large against N; real: keeps the fraction"},
    [PARAM_CARRY] = {.name = "carry",
                     .kind = SCHED_PARAM_CHOICE,
                     .fallback = "level",
                     .choices = "level|chunk",
                     .summary =
                         "what the next chunk follows: the trapezoid's level, or the previous chunk as truncated"},
    [PARAM_VARIANT] =
        VARIANT_PARAM("the level falls further below L; hdss: the trapezoid begins again where it covers what remains"),
    {.name = NULL},
};

/* F = max(1, floor(N/(2V))), L = 1, S = max(2, ceil(2N/(F+L))), D = floor((F-L)/(S-1)), [H] Algorithm 1. */
static int dtss_init(struct sched *sched, struct error *error)
{
    struct twofold half = twofold_divide(twofold_of_integer(sched->iterations), sched->power_total);
    uint64_t fallback = floor_twofold(twofold_multiply(half, twofold_of(0.5)), sched->power_doubt);
    uint64_t last = param_integer(sched, PARAM_LAST, 1);
    uint64_t first = param_integer(sched, PARAM_FIRST, fallback > last ? fallback : last);
    if (first < last)
        return error_set(
            error, "technique dtss: first=%" PRIu64 " is smaller than last=%" PRIu64 ": accepted is first >= last",
            first, last);
    uint64_t fall = first - last, run = trapezoid_steps(sched->iterations, first, last) - 1;
    bool real = param_integer(sched, PARAM_DECREMENT, DECREMENT_FLOOR) == DECREMENT_REAL;
    struct twofold decrement = twofold_of_integer(fall / run);
    if (real)
        decrement = twofold_divide(twofold_of_integer(fall), twofold_of_integer(run));
    sched->constant.real[FIRST] = (double)first;
    sched->constant.real[LAST] = (double)last;
    twofold_keep(sched->constant.real + DECREMENT, decrement);
    twofold_keep(sched->state.real + LEVEL, twofold_of_integer(first));
    return 0;
}

static struct twofold level_to_start_again(const struct sched *sched)
{
    const double *constant = sched->constant.real;
    return twofold_of(trapezoid_level(sched->remaining, constant[FIRST], constant[LAST], constant[DECREMENT]));
}

static double sum_with_floor(const double *constant, double level, double power)
{
    double falling = (level - constant[LAST]) / constant[DECREMENT] + 1;
    if (!(falling < power))
        falling = power;
    return falling * (level - constant[DECREMENT] * (falling - 1) / 2) + (power - falling) * constant[LAST];
}

static struct twofold sum_of_steps(const double *constant, struct twofold level, struct twofold power)
{
    struct twofold steps = twofold_multiply(twofold_subtract(power, twofold_of(1)), twofold_of(0.5));
    struct twofold fall = twofold_multiply(twofold_kept(constant + DECREMENT), steps);
    return twofold_multiply(power, twofold_subtract(level, fall));
}

static uint64_t chunk_at_level(const struct sched *sched, struct twofold level, struct twofold power)
{
    const double *constant = sched->constant.real;
    double chunk = power.high * (level.high - constant[DECREMENT] * (power.high - 1) / 2);
    if (chunk < power.high * constant[LAST] && !sched_spec_is_paper(&sched->spec))
        return floor_twofold(twofold_of(sum_with_floor(constant, level.high, power.high)), sched->power_doubt);
    if (level.high < DOUBLES_DO && doubles_do(chunk))
        return (uint64_t)(int64_t)chunk;
    return floor_twofold(sum_of_steps(constant, level, power), sched->power_doubt);
}

static bool dtss_begins_again(const struct sched *sched, struct twofold level)
{
    return level.high < sched->constant.real[LAST] && !sched_spec_is_paper(&sched->spec);
}

/* K = floor(V_j (cur - D (V_j - 1)/2)), cur -= D V_j. This is the loop over k = 1..V_j of [H] Algorithm 1 in closed
 * form, for any real V_j. */
static uint64_t next_by_level(struct sched *sched, struct twofold power)
{
    struct twofold level = twofold_kept(sched->state.real + LEVEL);
    struct twofold decrement = twofold_kept(sched->constant.real + DECREMENT);
    if (dtss_begins_again(sched, level))
        level = level_to_start_again(sched);
    twofold_keep(sched->state.real + LEVEL, twofold_subtract(level, twofold_multiply(decrement, power)));
    return chunk_at_level(sched, level, power);
}

/* K = floor(V_j (prev/V_prev - D (V_prev + V_j)/2)), [SW] Table 2, W-TSS. The first chunk is that of
 * next_by_level(). */
static uint64_t next_by_chunk(struct sched *sched, struct twofold power)
{
    double *state = sched->state.real;
    struct twofold level = twofold_kept(state + LEVEL), decrement = twofold_kept(sched->constant.real + DECREMENT);
    bool is_first = state[PREVIOUS_POWER] == 0;
    struct twofold steps = twofold_add(is_first ? twofold_of(-1) : twofold_kept(state + PREVIOUS_POWER), power);
    level = twofold_subtract(level, twofold_multiply(decrement, twofold_multiply(steps, twofold_of(0.5))));
    if (dtss_begins_again(sched, level))
        level = level_to_start_again(sched);
    uint64_t chunk = floor_twofold(twofold_multiply(power, level), sched->power_doubt);
    twofold_keep(state + LEVEL, twofold_divide(twofold_of_integer(chunk), power));
    twofold_keep(state + PREVIOUS_POWER, power);
    return chunk;
}

/* Computes K from R alone. u units of power have taken A = N - R = u F - D u (u - 1)/2, so the level F - D u is
 * sqrt((F + D/2)^2 - 2 D A) - D/2. This function does not know the previous chunk, so `carry` has no effect. */
static uint64_t dtss_from_rest(struct sched *sched, unsigned worker)
{
    const double *constant = sched->constant.real;
    double half = constant[DECREMENT] / 2, taken = (double)(sched->iterations - sched->remaining);
    double square = (constant[FIRST] + half) * (constant[FIRST] + half) - 2 * constant[DECREMENT] * taken;
    double level = square > 0 ? sqrt(square) - half : 0;
    if (constant[DECREMENT] <= 0)
        level = constant[FIRST];
    struct twofold at = twofold_of(level);
    if (dtss_begins_again(sched, at))
        at = level_to_start_again(sched);
    return chunk_at_level(sched, at, power_meant(sched, worker));
}

static uint64_t dtss_next(struct sched *sched, unsigned worker)
{
    bool by_chunk = param_integer(sched, PARAM_CARRY, CARRY_LEVEL) == CARRY_CHUNK;
    struct twofold power = power_meant(sched, worker);
    return by_chunk ? next_by_chunk(sched, power) : next_by_level(sched, power);
}

const struct technique technique_dtss = {
    .name = "dtss",
    .title = "distributed trapezoid self-scheduling",
    .rule =
        "K = floor(V_j (cur - D (V_j - 1)/2)), cur -= D V_j; cur = F at first, F = first, L = last, "
        "S = max(2, ceil(2N/(F+L))), D = floor((F-L)/(S-1)); "
        "carry=chunk: K = floor(V_j (prev/V_prev - D (V_prev + V_j)/2)); below L the trapezoid begins again where it "
        "covers R; variant=paper: it falls on",
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
