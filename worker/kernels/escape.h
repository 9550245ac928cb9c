/* SPDX-License-Identifier: MIT */
/* Escape times: the number of steps of z = z^2 + c or z = z^4 + c from z = 0 until |z|^2 exceeds a bound for the first
 * time. With the bound 4, |z|^2 then stays above the bound. Other bounds are allowed, such as the 2 of Han and
 * Chronopoulos.
 *
 * escape_scalar() is the definition, in plain C. The vector variants give exactly the same counts: they do the same
 * operations in the same order, and the build forbids contraction (-ffp-contract=off). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ESCAPE_BATCH 8192
#define ESCAPE_PAD   64

/* Points in progress: z = x + iy after `count` steps, their c, and the index of their result. */
struct escape_points {
    double x[ESCAPE_BATCH + ESCAPE_PAD], y[ESCAPE_BATCH + ESCAPE_PAD];
    double cx[ESCAPE_BATCH + ESCAPE_PAD], cy[ESCAPE_BATCH + ESCAPE_PAD];
    uint32_t count[ESCAPE_BATCH + ESCAPE_PAD];
    uint32_t index[ESCAPE_BATCH + ESCAPE_PAD];
    size_t length;
};

/* The caller sets fresh.cx[], fresh.cy[] and fresh.length; the rest is scratch. Memory for a batch must be aligned to
 * 64 bytes. */
struct escape_batch {
    _Alignas(64) struct escape_points fresh;
    struct escape_points deep;
    struct escape_points found;
};

struct escape_rule {
    unsigned exponent;
    double bound;
    uint32_t max_iter; /* the count of a point that never escapes; at least 1 */
};

#define ESCAPE_BOUND 4.0

struct escape_variant {
    const char *name;
    bool (*usable)(void);

    void (*run)(struct escape_batch *batch, const struct escape_rule *rule, uint32_t *counts);
};

/* The widest variant is first; the last one runs on every machine. */
const struct escape_variant *escape_variants(size_t *count);

const struct escape_variant *escape_best(void);

uint32_t escape_scalar(double cx, double cy, const struct escape_rule *rule);

uint32_t escape_scalar_from(double x, double y, double cx, double cy, const struct escape_rule *rule, uint32_t count);
