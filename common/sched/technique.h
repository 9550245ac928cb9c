/* SPDX-License-Identifier: MIT */
/* Shared by the techniques: their list, access to their parameters, and the rounding of real numbers.
 *
 * A technique is one file that defines `const struct technique technique_<name>`. Its init() puts values into
 * sched->constant and sched->state, indexed by an enum of its own, or allocates sched->own for a larger table. */
#pragma once

#include "common/sched/sched.h"

#include <inttypes.h>
#include <math.h>

/* All techniques, in the order of the manual. Dashes in names are written as underscores. */
#define TECHNIQUE_LIST(TECHNIQUE)                                                                                      \
    TECHNIQUE(static)                                                                                                  \
    TECHNIQUE(static_steal)                                                                                            \
    TECHNIQUE(ss)                                                                                                      \
    TECHNIQUE(css)                                                                                                     \
    TECHNIQUE(fsc)                                                                                                     \
    TECHNIQUE(mfsc)                                                                                                    \
    TECHNIQUE(gss)                                                                                                     \
    TECHNIQUE(tss)                                                                                                     \
    TECHNIQUE(fac)                                                                                                     \
    TECHNIQUE(fac2)                                                                                                    \
    TECHNIQUE(mfac)                                                                                                    \
    TECHNIQUE(tfss)                                                                                                    \
    TECHNIQUE(fiss)                                                                                                    \
    TECHNIQUE(viss)                                                                                                    \
    TECHNIQUE(tap)                                                                                                     \
    TECHNIQUE(rnd)                                                                                                     \
    TECHNIQUE(pls)                                                                                                     \
    TECHNIQUE(wf)                                                                                                      \
    TECHNIQUE(awf)                                                                                                     \
    TECHNIQUE(awf_b)                                                                                                   \
    TECHNIQUE(awf_c)                                                                                                   \
    TECHNIQUE(awf_d)                                                                                                   \
    TECHNIQUE(awf_e)                                                                                                   \
    TECHNIQUE(af)                                                                                                      \
    TECHNIQUE(maf)                                                                                                     \
    TECHNIQUE(bold)                                                                                                    \
    TECHNIQUE(dtss)                                                                                                    \
    TECHNIQUE(dfss)                                                                                                    \
    TECHNIQUE(dgss)

#define TECHNIQUE_DECLARE(name) extern const struct technique technique_##name;
TECHNIQUE_LIST(TECHNIQUE_DECLARE)
#undef TECHNIQUE_DECLARE

/* A double this close to a whole number counts as that number. The reason is rounding errors: 0.29 * 100 is
 * 28.999999999999996 in doubles. */
#define ROUNDING_GUARD 1e-9

__extension__ typedef unsigned __int128 uint128;

static inline uint64_t ceil_div(uint64_t dividend, uint64_t divisor)
{
    return dividend / divisor + (dividend % divisor != 0);
}

/* Rounds down, and limits the result to [0, SCHED_ITERATIONS_MAX]; NaN becomes 0. */
static inline uint64_t floor_real(double value)
{
    value += ROUNDING_GUARD;
    if (!(value >= 1))
        return 0;
    return value < (double)SCHED_ITERATIONS_MAX ? (uint64_t)(int64_t)value : SCHED_ITERATIONS_MAX;
}

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

/* Tolerances for twofolds that were computed from decimal numbers by a few operations. TWOFOLD_GUARD is relative to
 * the value, and TWOFOLD_GUARD_OF_ONE is absolute. A value this close to a whole number counts as that number. */
#define TWOFOLD_GUARD        0x1p-94
#define TWOFOLD_GUARD_OF_ONE 0x1p-80

/* Relative error (`doubt`) of values that were measured or computed in doubles. An exact decimal number has the doubt
 * 0. */
#define DOUBLE_DOUBT 0x1p-51

static inline struct twofold twofold_guard(struct twofold value, double doubt)
{
    double least = doubt > 0 ? ROUNDING_GUARD : TWOFOLD_GUARD_OF_ONE;
    return twofold_of(fabs(value.high) * (doubt + TWOFOLD_GUARD) + least);
}

static inline uint64_t floor_twofold(struct twofold value, double doubt)
{
    struct twofold whole = twofold_floor(twofold_add(value, twofold_guard(value, doubt)));
    if (!(whole.high >= 1))
        return 0;
    if (whole.high > (double)SCHED_ITERATIONS_MAX)
        return SCHED_ITERATIONS_MAX;
    uint64_t result = (uint64_t)whole.high + (uint64_t)(int64_t)whole.low;
    return result < SCHED_ITERATIONS_MAX ? result : SCHED_ITERATIONS_MAX;
}

/* Rounds up. Negative values become 0; large values are not limited. */
static inline struct twofold ceil_twofold(struct twofold value, double doubt)
{
    struct twofold below = twofold_subtract(twofold_guard(value, doubt), value);
    struct twofold whole = twofold_negative(twofold_floor(below));
    return whole.high > 0 ? whole : twofold_of(0);
}

static inline uint64_t ceil_to_integer(struct twofold value, double doubt)
{
    return floor_twofold(ceil_twofold(value, doubt), 0);
}

static inline struct twofold twofold_kept(const double *kept)
{
    return (struct twofold){kept[0], kept[1]};
}

static inline void twofold_keep(double *kept, struct twofold value)
{
    kept[0] = value.high;
    kept[1] = value.low;
}

static inline struct twofold power_meant(const struct sched *sched, unsigned worker)
{
    return (struct twofold){sched->powers[worker], sched->power_rests != NULL ? sched->power_rests[worker] : 0};
}

/* Below this value a few operations on doubles cause an error far below ROUNDING_GUARD. */
#define DOUBLES_DO 0x1p20

/* True if rounding `value` gives the same result as rounding the exact value. This is so if `value` is small and not
 * close to a whole number. */
static inline bool doubles_do(double value)
{
    double rest = value - (double)(int64_t)(value < DOUBLES_DO ? value : 0);
    return rest > 2 * ROUNDING_GUARD && rest < 1 - 2 * ROUNDING_GUARD;
}

/* Returns floor(chunk V_j), limited to [0, SCHED_ITERATIONS_MAX]. */
static inline uint64_t floor_times_power(const struct sched *sched, unsigned worker, struct twofold chunk)
{
    double share = chunk.high * sched->powers[worker];
    if (doubles_do(share))
        return (uint64_t)(int64_t)share;
    return floor_twofold(twofold_multiply(chunk, power_meant(sched, worker)), sched->power_doubt);
}

/* Relative rounding error of the product of a chunk and the weight P V_j / V. The error may push the product
 * above a whole number. */
#define WEIGHT_GUARD 0x1p-52

static inline uint64_t ceil_weighted(double chunk, double weight)
{
    double share = chunk * weight;
    return (uint64_t)ceil_real(share - share * WEIGHT_GUARD);
}

/* Returns ceil(R/V), the share of one unit of power, for R > 0. The result is at least 1 and has no upper bound,
 * because powers may be small. */
static inline struct twofold ceil_share(const struct sched *sched, struct twofold rest, struct twofold total)
{
    double share = rest.high / total.high;
    if (doubles_do(share))
        return twofold_of((double)(int64_t)share + 1);
    struct twofold whole = ceil_twofold(twofold_divide(rest, total), sched->power_doubt);
    return whole.high < 1 ? twofold_of(1) : whole;
}

static inline uint64_t start_within(const struct sched *sched, uint128 before)
{
    return before < sched->iterations ? (uint64_t)before : sched->iterations;
}

static inline uint64_t start_of_equal(const struct sched *sched, uint64_t chunk, uint64_t step)
{
    return start_within(sched, (uint128)step * (chunk > sched->min_chunk ? chunk : sched->min_chunk));
}

static inline uint64_t param_integer(const struct sched *sched, unsigned param, uint64_t fallback)
{
    return sched->spec.given[param] ? sched->spec.values[param].integer : fallback;
}

static inline double param_real(const struct sched *sched, unsigned param, double fallback)
{
    return sched->spec.given[param] ? sched->spec.values[param].real : fallback;
}

static inline struct twofold param_meant(const struct sched *sched, unsigned param, double fallback)
{
    struct twofold number;
    twofold_of_decimal(&number, param_real(sched, param, fallback));
    return number;
}

static inline double param_measured(const struct sched *sched, unsigned param)
{
    return param_real(sched, param, sched->measured[param]);
}

/* The parameter `variant`, for techniques that have one rule in HDSS and another one in their paper. `what` names the
 * difference. */
#define VARIANT_PARAM(what)                                                                                            \
    {                                                                                                                  \
        .name = SCHED_VARIANT, .kind = SCHED_PARAM_CHOICE, .fallback = "hdss", .choices = "hdss|paper",                \
        .summary = "paper: to the letter of the paper, " what                                                          \
    }

/* Returns the chunk size of mfsc, which fsc also uses at first: floor(0.55 + t ln 2 / ln t) with t = ceil(N/P),
 * [2L]. The result is the same on every machine. */
uint64_t mfsc_chunk(uint64_t iterations, unsigned workers);

/* binary_logarithm() returns log2(value) 2^LOGARITHM_BITS for value >= 2, which is the same on every machine. */
#define LOGARITHM_BITS 57
uint64_t binary_logarithm(uint64_t value);
