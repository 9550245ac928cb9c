/* SPDX-License-Identifier: MIT */
/* Escape times: the definition in plain C, and the choice of the vector variant. See escape.h. */
#include "worker/kernels/escape.h"

#include "worker/kernels/vectors.h"

uint32_t escape_scalar_from(double x, double y, double cx, double cy, const struct escape_rule *rule, uint32_t count)
{
    while (count < rule->max_iter && x * x + y * y <= rule->bound) {
        for (unsigned power = rule->exponent; power > 1; power /= 2) {
            double real = x * x - y * y, product = x * y;
            x = real;
            y = product + product;
        }
        x += cx;
        y += cy;
        count++;
    }
    return count;
}

uint32_t escape_scalar(double cx, double cy, const struct escape_rule *rule)
{
    return escape_scalar_from(0, 0, cx, cy, rule, 0);
}

#define ESCAPE_BLOCK       32
#define ESCAPE_FIRST_STEPS 32

static inline uint32_t escape_first_steps(uint32_t max_iter)
{
    if (max_iter < ESCAPE_FIRST_STEPS)
        return max_iter;
    return ESCAPE_FIRST_STEPS + (max_iter - ESCAPE_FIRST_STEPS) % ESCAPE_BLOCK;
}

static inline void escape_begin(struct escape_points *fresh)
{
    for (size_t i = 0; i < fresh->length; i++) {
        fresh->x[i] = fresh->y[i] = 0;
        fresh->count[i] = 0;
        fresh->index[i] = (uint32_t)i;
    }
}

static inline void escape_pad(struct escape_points *points)
{
    for (size_t i = points->length; i < points->length + ESCAPE_PAD; i++) {
        points->x[i] = points->y[i] = points->cy[i] = 0;
        points->cx[i] = 4;
    }
}

static inline void escape_append(struct escape_points *to, double x, double y, double cx, double cy, uint32_t count,
                                 uint32_t index)
{
    size_t i = to->length++;
    to->x[i] = x;
    to->y[i] = y;
    to->cx[i] = cx;
    to->cy[i] = cy;
    to->count[i] = count;
    to->index[i] = index;
}

/* True if a point certainly stays outside after |z| > 2, in spite of rounding. This is uncertain for exponent 2 if |c|
 * is close to 2. */
static inline bool stays_out(double cx, double cy, unsigned exponent)
{
    double square = cx * cx + cy * cy;
    return exponent == 4 || square < 4.0 - 1e-5 || square > 4.0 + 1e-5;
}

static inline void escape_take_out(struct escape_points *deep, const struct escape_rule *rule, uint32_t *counts)
{
    size_t length = deep->length;
    deep->length = 0;
    for (size_t i = 0; i < length; i++) {
        double x = deep->x[i], y = deep->y[i], cx = deep->cx[i], cy = deep->cy[i];
        if (stays_out(cx, cy, rule->exponent))
            escape_append(deep, x, y, cx, cy, deep->count[i], deep->index[i]);
        else
            counts[deep->index[i]] = escape_scalar_from(x, y, cx, cy, rule, deep->count[i]);
    }
}

#if VECTORS_X86
#define LANES         8
#define VECTORS       6
#define VECTOR_TARGET VECTORS_AVX512
#include "worker/kernels/escape_vector.h"

#define LANES         4
#define VECTORS       5
#define VECTOR_TARGET VECTORS_AVX2
#include "worker/kernels/escape_vector.h"
#endif

/* Every x86-64 and aarch64 has vectors of this width. For other machines the compiler makes plain code. */
#define LANES   2
#define VECTORS 6
#define VECTOR_TARGET
#include "worker/kernels/escape_vector.h"

static const struct escape_variant variants[] = {
#if VECTORS_X86
    {"avx512", vectors_have_avx512, escape_run_8},
    {"avx2", vectors_have_avx2, escape_run_4},
#endif
    {"base", vectors_anywhere, escape_run_2},
};

const struct escape_variant *escape_variants(size_t *count)
{
    *count = sizeof variants / sizeof variants[0];
    return variants;
}

const struct escape_variant *escape_best(void)
{
    const struct escape_variant *variant = variants;
    while (!variant->usable())
        variant++;
    return variant;
}
