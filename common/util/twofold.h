/* SPDX-License-Identifier: MIT */
/* Real numbers with some 31 decimal digits. They are used if products and quotients must be rounded to integers of up
 * to 19 digits, because a double has only 16 digits. Each is the sum of two doubles; the second double is smaller than
 * the last place of the first. See Dekker 1971, A floating-point technique for extending the available precision, and
 * Knuth, The Art of Computer Programming 2, 4.2.2. Only operations of IEEE 754 are used, so that all machines get the
 * same digits.
 *
 * The relative error of an operation is at most 2^-100. Values are limited to 10^300. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct twofold {
    double high, low;
};

/* A decimal like 0.4 is not exact as a double. If `value` is the double that is nearest to a decimal of up to 15
 * digits, sets `*number` to that decimal and returns true. Otherwise sets `*number` to `value` and returns false. */
bool twofold_of_decimal(struct twofold *number, double value);

static inline struct twofold twofold_of(double value)
{
    return (struct twofold){value, 0};
}

/* Returns a + b without rounding. */
static inline struct twofold twofold_sum_of(double a, double b)
{
    double sum = a + b, part = sum - a;
    return (struct twofold){sum, (a - (sum - part)) + (b - part)};
}

/* Returns the product of a and b without rounding. Each factor is split into two halves of 26 bits. The products of
 * such halves are exact. */
static inline struct twofold twofold_product_of(double a, double b)
{
    const double splitter = 0x1p27 + 1;
    double a_split = splitter * a, b_split = splitter * b, product = a * b;
    double a_high = a_split - (a_split - a), a_low = a - a_high;
    double b_high = b_split - (b_split - b), b_low = b - b_high;
    return (struct twofold){product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

static inline struct twofold twofold_of_integer(uint64_t value)
{
    return twofold_sum_of((double)(value >> 32) * 0x1p32, (double)(value & UINT32_MAX));
}

static inline struct twofold twofold_negative(struct twofold a)
{
    return (struct twofold){-a.high, -a.low};
}

static inline struct twofold twofold_add(struct twofold a, struct twofold b)
{
    struct twofold high = twofold_sum_of(a.high, b.high), low = twofold_sum_of(a.low, b.low);
    struct twofold sum = twofold_sum_of(high.high, high.low + low.high);
    return twofold_sum_of(sum.high, sum.low + low.low);
}

static inline struct twofold twofold_subtract(struct twofold a, struct twofold b)
{
    return twofold_add(a, twofold_negative(b));
}

static inline struct twofold twofold_multiply(struct twofold a, struct twofold b)
{
    struct twofold product = twofold_product_of(a.high, b.high);
    return twofold_sum_of(product.high, product.low + (a.high * b.low + a.low * b.high));
}

static inline struct twofold twofold_divide(struct twofold a, struct twofold b)
{
    double first = a.high / b.high;
    struct twofold rest = twofold_subtract(a, twofold_multiply(b, twofold_of(first)));
    double second = rest.high / b.high;
    rest = twofold_subtract(rest, twofold_multiply(b, twofold_of(second)));
    return twofold_add(twofold_sum_of(first, second), twofold_of(rest.high / b.high));
}

/* Returns the square root of a, by one Newton step from the square root as a double. Returns 0 if a is not positive. */
static inline struct twofold twofold_root(struct twofold a)
{
    if (!(a.high > 0))
        return twofold_of(0);
    double root = sqrt(a.high);
    struct twofold rest = twofold_subtract(a, twofold_product_of(root, root));
    return twofold_sum_of(root, rest.high / (2 * root));
}

static inline bool twofold_is_below(struct twofold a, struct twofold b)
{
    return a.high < b.high || (a.high == b.high && a.low < b.low);
}

static inline struct twofold twofold_floor(struct twofold a)
{
    double whole = floor(a.high);
    return whole < a.high ? twofold_of(whole) : twofold_sum_of(whole, floor(a.low));
}
