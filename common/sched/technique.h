/* SPDX-License-Identifier: MIT */
/* Shared by the files of the techniques: the list of all techniques, the parameters as given, and the two roundings
 * of real numbers.
 *
 * A technique is one file that defines `const struct technique technique_<name>`. Its init() puts what it needs
 * into sched->constant and sched->state, indexed by an enum of its own; a larger table goes to sched->own. */
#pragma once

#include "common/sched/sched.h"

#include <inttypes.h>
#include <math.h>

/* The registry, in the order of the manual: one line for each technique, the dashes of its name as underscores. */
#define TECHNIQUE_LIST(TECHNIQUE)                                                                                      \
    TECHNIQUE(static)                                                                                                  \
    TECHNIQUE(ss)                                                                                                      \
    TECHNIQUE(css)                                                                                                     \
    TECHNIQUE(fsc)                                                                                                     \
    TECHNIQUE(mfsc)                                                                                                    \
    TECHNIQUE(gss)                                                                                                     \
    TECHNIQUE(tss)                                                                                                     \
    TECHNIQUE(fac)                                                                                                     \
    TECHNIQUE(fac2)                                                                                                    \
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
    TECHNIQUE(dtss)                                                                                                    \
    TECHNIQUE(dfss)                                                                                                    \
    TECHNIQUE(dgss)

#define TECHNIQUE_DECLARE(name) extern const struct technique technique_##name;
TECHNIQUE_LIST(TECHNIQUE_DECLARE)
#undef TECHNIQUE_DECLARE

/* 0.29 * 100 is 28.999999999999996 in doubles, and 29 is meant: what lies this close to a whole number is that
 * number. */
#define ROUNDING_GUARD 1e-9

/* Products and sums of two numbers of iterations do not fit 64 bits. */
__extension__ typedef unsigned __int128 uint128;

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

/* A weight, P V_j / V, is right to some units in its last place, and so is a chunk times a weight: where that is meant
 * to be whole it may lie this part of itself above. */
#define WEIGHT_GUARD 0x1p-52

/* K w, rounded up. */
static inline uint64_t ceil_weighted(double chunk, double weight)
{
    double share = chunk * weight;
    return (uint64_t)ceil_real(share - share * WEIGHT_GUARD);
}

/* Doubles from here on are whole. */
#define WHOLE_FROM 0x1p53

/* ceil(R/V), the share of one unit of power, for R > 0: at least 1, and not cut at the longest loop, as powers below 1
 * make it larger than the loop. */
static inline double ceil_share(double value)
{
    return value < WHOLE_FROM ? fmax(ceil_real(value), 1) : value;
}

/* Start of a chunk that has `before` iterations before it, at most N. */
static inline uint64_t start_within(const struct sched *sched, uint128 before)
{
    return before < sched->iterations ? (uint64_t)before : sched->iterations;
}

/* Start of chunk `step` when all chunks are of one size. */
static inline uint64_t start_of_equal(const struct sched *sched, uint64_t chunk, uint64_t step)
{
    return start_within(sched, (uint128)step * (chunk > sched->min_chunk ? chunk : sched->min_chunk));
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

/* The parameter of techniques whose rule here differs from that of their paper: `what` says in what. */
#define VARIANT_PARAM(what)                                                                                            \
    {                                                                                                                  \
        .name = SCHED_VARIANT, .kind = SCHED_PARAM_CHOICE, .fallback = "hdss", .choices = "hdss|paper",                \
        .summary = "paper: to the letter of the paper, " what                                                          \
    }

/* mfsc's chunk, which fsc also cuts while it does not know better: floor(0.55 + t ln 2 / ln t) with t = ceil(N/P), from
 * 1 to t, [2L]. The same on every machine. */
uint64_t mfsc_chunk(uint64_t iterations, unsigned workers);

/* log2(value) 2^LOGARITHM_BITS for value >= 2, the same on every machine. */
#define LOGARITHM_BITS 57
uint64_t binary_logarithm(uint64_t value);
