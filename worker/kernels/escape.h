/* SPDX-License-Identifier: MIT */
/* Escape times: how many steps of z = z^2 + c or z = z^4 + c it takes from z = 0 until |z|^2 is beyond a bound: 4, from
 * where no z comes back, or any other, such as the 2 of Han and Chronopoulos. A point has escaped when its z is beyond
 * the bound for the first time.
 *
 * escape_scalar() is the definition, in plain C. The variants are vector code for the machines at hand and give the
 * same counts to the last one: they do the same additions and multiplications in the same order, and the build
 * forbids contracting them (-ffp-contract=off). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ESCAPE_BATCH 8192 /* points of one call */
#define ESCAPE_PAD   64   /* at least the lanes of one group */

/* Points on their way: the value z = x + iy after `count` steps, the c they belong to, and where their count goes. */
struct escape_points {
    double x[ESCAPE_BATCH + ESCAPE_PAD], y[ESCAPE_BATCH + ESCAPE_PAD];
    double cx[ESCAPE_BATCH + ESCAPE_PAD], cy[ESCAPE_BATCH + ESCAPE_PAD];
    uint32_t count[ESCAPE_BATCH + ESCAPE_PAD];
    uint32_t index[ESCAPE_BATCH + ESCAPE_PAD];
    size_t length;
};

/* The points of a call. The caller fills fresh.cx[], fresh.cy[] and fresh.length; the rest is scratch. Align to 64. */
struct escape_batch {
    _Alignas(64) struct escape_points fresh;
    struct escape_points deep;  /* not escaped in the first steps */
    struct escape_points found; /* escaped within a block of steps, the exact step not known yet */
};

struct escape_rule {
    unsigned exponent; /* 2 or 4 */
    double bound;      /* of |z|^2, at least 0 */
    uint32_t max_iter; /* count of a point that stays inside, at least 1 */
};

#define ESCAPE_BOUND 4.0 /* the bound from which no z comes back */

struct escape_variant {
    const char *name;
    bool (*usable)(void); /* true if this machine can run the variant */

    /* Writes one count for each of batch->fresh's points. */
    void (*run)(struct escape_batch *batch, const struct escape_rule *rule, uint32_t *counts);
};

/* Returns all variants of this build, the widest first; the last one runs everywhere. */
const struct escape_variant *escape_variants(size_t *count);

/* The widest that this machine can run. */
const struct escape_variant *escape_best(void);

/* The definition. */
uint32_t escape_scalar(double cx, double cy, const struct escape_rule *rule);

/* Counts as escape_scalar() does, from z = x + iy on, with `count` steps done. */
uint32_t escape_scalar_from(double x, double y, double cx, double cy, const struct escape_rule *rule, uint32_t count);
