/* SPDX-License-Identifier: MIT */
/* For fac and mfac: which part of the remaining work a batch takes, from mean and deviation of an iteration's time. */
#pragma once

#include "common/sched/sched.h"
#include "common/sched/technique.h"

/* Indices of the parameters mu and sigma in the parameter tables of fac and mfac. */
enum { FACTORING_MU, FACTORING_SIGMA };

/* x_0 = 1 + b^2 + b sqrt(b^2 + 2), x_j = 2 + b^2 + b sqrt(b^2 + 4) with b = P sigma / (2 sqrt(R) mu), Hummel,
 * Schonberg and Flynn, Factoring, section 4. Returns x, or 2 if mu or sigma is not known. */
static inline struct twofold factoring_parts(const struct sched *sched, uint64_t remaining, bool first)
{
    struct twofold base = twofold_of(first ? 1 : 2), mu, sigma, rest = twofold_of_integer(remaining);
    if (isnan(param_measured(sched, FACTORING_MU)) || isnan(param_measured(sched, FACTORING_SIGMA)))
        return twofold_of(2);
    twofold_of_decimal(&mu, param_measured(sched, FACTORING_MU));
    twofold_of_decimal(&sigma, param_measured(sched, FACTORING_SIGMA));
    struct twofold ratio = twofold_divide(twofold_multiply(sigma, twofold_of(sched->workers)), mu);
    struct twofold b = twofold_divide(ratio, twofold_multiply(twofold_of(2), twofold_root(rest)));
    struct twofold square = twofold_multiply(b, b);
    struct twofold root = twofold_root(twofold_add(square, twofold_add(base, base)));
    return twofold_add(twofold_add(base, square), twofold_multiply(b, root));
}

static inline uint64_t factoring_chunk(const struct sched *sched, uint64_t remaining, bool first)
{
    struct twofold parts = twofold_multiply(factoring_parts(sched, remaining, first), twofold_of(sched->workers));
    return ceil_to_integer(twofold_divide(twofold_of_integer(remaining), parts), 0);
}
