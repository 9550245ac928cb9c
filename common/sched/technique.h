/* What the files of the techniques share: the list of all techniques, the parameters as given, and the two
 * roundings of real numbers.
 *
 * A technique is one file that defines `const struct technique technique_<name>`. Its init() puts what it needs
 * into sched->constant and sched->state, indexed by an enum of its own; a larger table goes to sched->own. */
#pragma once

#include "common/sched/sched.h"

#include <inttypes.h>

/* The registry, in the order of the manual: one line for each technique. */
#define TECHNIQUE_LIST(TECHNIQUE)                                                                                      \
    TECHNIQUE(static)                                                                                                  \
    TECHNIQUE(ss)                                                                                                      \
    TECHNIQUE(css)                                                                                                     \
    TECHNIQUE(gss)                                                                                                     \
    TECHNIQUE(tss)                                                                                                     \
    TECHNIQUE(fac2)                                                                                                    \
    TECHNIQUE(dtss)                                                                                                    \
    TECHNIQUE(dfss)                                                                                                    \
    TECHNIQUE(dgss)

#define TECHNIQUE_DECLARE(name) extern const struct technique technique_##name;
TECHNIQUE_LIST(TECHNIQUE_DECLARE)
#undef TECHNIQUE_DECLARE

/* 0.29 * 100 is 28.999999999999996 in doubles, and 29 is meant: what lies this close to a whole number is that
 * number. */
#define ROUNDING_GUARD 1e-9

static inline uint64_t ceil_div(uint64_t dividend, uint64_t divisor)
{
    return dividend / divisor + (dividend % divisor != 0);
}

/* Rounds down, to [0, SCHED_ITERATIONS_MAX]; what is not a number becomes 0. */
static inline uint64_t floor_real(double value)
{
    value += ROUNDING_GUARD;
    if (!(value >= 1))
        return 0;
    return value < (double)SCHED_ITERATIONS_MAX ? (uint64_t)(int64_t)value : SCHED_ITERATIONS_MAX;
}

/* Rounds up, to [0, SCHED_ITERATIONS_MAX]; what is not a number becomes 0. */
static inline double ceil_real(double value)
{
    value -= ROUNDING_GUARD;
    if (!(value > 0))
        return 0;
    if (value >= (double)SCHED_ITERATIONS_MAX)
        return (double)SCHED_ITERATIONS_MAX;
    double whole = (double)(int64_t)value;
    return whole + (whole < value);
}

/* The integer or the index of the choice as given, or `fallback`. */
static inline uint64_t param_integer(const struct sched *sched, unsigned param, uint64_t fallback)
{
    return sched->spec.given[param] ? sched->spec.values[param].integer : fallback;
}

static inline double param_real(const struct sched *sched, unsigned param, double fallback)
{
    return sched->spec.given[param] ? sched->spec.values[param].real : fallback;
}

/* A parameter that may be measured: as given, else as measured; not a number until it is known. */
static inline double param_measured(const struct sched *sched, unsigned param)
{
    return param_real(sched, param, sched->measured[param]);
}
