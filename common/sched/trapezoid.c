/* SPDX-License-Identifier: MIT */
/* Shared by tss and tfss: their parameters, the trapezoid, and the sum of its first chunks. See trapezoid.h. */
#include "common/sched/trapezoid.h"

enum { PARAM_FIRST, PARAM_LAST, PARAM_DECREMENT, PARAM_VARIANT };
enum { DECREMENT_FLOOR, DECREMENT_REAL };

const struct technique_param trapezoid_params[] = {
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
                         .summary = "floor: whole, as published, 0 if P is large against N; real: keeps the fraction"},
    [PARAM_VARIANT] =
        VARIANT_PARAM("after the last step K = L; hdss: the trapezoid begins again where it covers what remains"),
    {.name = NULL},
};

int trapezoid_init(struct sched *sched, struct error *error)
{
    uint64_t *constant = sched->constant.integer;
    uint64_t fallback = ceil_div(sched->iterations, 2 * (uint64_t)sched->workers);
    uint64_t last = param_integer(sched, PARAM_LAST, 1);
    uint64_t first = param_integer(sched, PARAM_FIRST, fallback > last ? fallback : last);
    if (first < last)
        return error_set(error,
                         "technique %s: first=%" PRIu64 " is smaller than last=%" PRIu64 ": accepted is first >= last",
                         sched->technique->name, first, last);
    uint64_t fall = first - last, run = trapezoid_steps(sched->iterations, first, last) - 1;
    bool real = param_integer(sched, PARAM_DECREMENT, DECREMENT_FLOOR) == DECREMENT_REAL;
    constant[TRAPEZOID_FIRST] = first;
    constant[TRAPEZOID_LAST] = last;
    constant[TRAPEZOID_RISE] = real ? fall : fall / run;
    constant[TRAPEZOID_RUN] = real ? run : 1;
    constant[TRAPEZOID_END] = constant[TRAPEZOID_RISE] == 0 ? UINT64_MAX : real ? run : fall / constant[TRAPEZOID_RISE];
    return 0;
}

bool trapezoid_begins_again(const struct sched *sched)
{
    return !sched_spec_is_paper(&sched->spec);
}

uint64_t trapezoid_step_again(const struct sched *sched)
{
    const uint64_t *constant = sched->constant.integer;
    double decrement = (double)constant[TRAPEZOID_RISE] / (double)constant[TRAPEZOID_RUN];
    double first = (double)constant[TRAPEZOID_FIRST], last = (double)constant[TRAPEZOID_LAST];
    double level = trapezoid_level(sched->remaining, first, last, decrement);
    uint64_t step = floor_real((first - level) / decrement);
    return step < constant[TRAPEZOID_END] ? step : constant[TRAPEZOID_END];
}

/* Returns the sum of floor((a i + c)/d), the number of lattice points under a line. The integer parts of a/d and c/d
 * are split off. The remaining points are counted with the axes exchanged, as in Euclid's algorithm. Every product
 * is at most the sum, or at most d times a term of the sum. Both bounds are at most 2^127 for any trapezoid. */
static uint128 sum_of_floors(uint128 a, uint128 c, uint128 d, uint128 count)
{
    uint128 sum = 0;
    while (count > 0) {
        sum += count * (count - 1) / 2 * (a / d) + count * (c / d);
        uint128 top = a % d * count + c % d, divisor = a % d;
        count = top / d;
        c = top % d;
        a = d;
        d = divisor;
    }
    return sum;
}

uint128 trapezoid_sum(uint64_t first, uint128 slope, uint128 offset, uint128 divisor, uint64_t count)
{
    return (uint128)first * count - sum_of_floors(slope, offset, divisor, count);
}
