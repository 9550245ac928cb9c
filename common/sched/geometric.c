/* SPDX-License-Identifier: MIT */
/* Exact geometric chunks: see geometric.h.
 *
 * The fast path multiplies binary fractions of 128 bits. Powers of (P-1)/P come from a table with one row for each
 * base-64 digit of the exponent, and every rounding is downward. The true value is v = N (P-1)^i / P^(i+1). The result
 * never exceeds v and is less than 2^-58 below v (see FRACTION_ERROR). The result gives ceil(v), unless a whole number
 * lies within this error or the result itself is whole. N is a fraction a/b in lowest terms, with b = 1 for a whole N.
 * A b above 1 affects only the computation of N/P.
 *
 * Otherwise the slow path repeats the computation with 512 bits. The result of the slow path is strictly below v, by
 * less than 2^-400. Hence floor(result) + 1 is ceil(v) in two cases: v is whole, or v is at least 2^-400 above the
 * next lower whole number. If v is not whole, it is at least 1/(b P^(i+1)) away from every whole number. Hence the
 * result is exact for b P^(i+1) < 2^400. For larger b P^(i+1) there are about 2^130 combinations of N, P and i, with
 * 2^50 parts of each N. These are so few that no v is expected to come that close to a whole number. */
#include "common/sched/geometric.h"

#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 uint128;

enum { DIGIT_BITS = 6, RADIX = 1 << DIGIT_BITS, LIMBS = 8 };

/* ((P-1)/P)^(44 P) < e^-44 < 2^-63: from step 44 P on the value is below 1 for every N up to 2^63. */
#define STEPS_PER_WORKER 44

/* Error bound in units of 2^-64. Let u = 2^-128. The error of (P-1)/P is at most u; the error of a product is at
 * most the sum of its factors' errors plus u. Hence the error of the m-th power is at most (2m - 1) u. Each zero
 * digit of the exponent adds 2 u, because its factor 1 is stored as 1 - u. Multiplied by N/P <= 2^63/P, and with
 * m < 44 P, this is below 47 units. Truncating N/P and the last product adds 2. */
#define FRACTION_ERROR 64

struct geometric {
    uint64_t iterations; /* N is iterations * part / parts; the fraction is in lowest terms */
    uint64_t part, parts;
    uint64_t workers;
    uint64_t end;           /* it is known that the value is below 1 from this step on */
    uint128 mean;           /* N/P, with 64 integer and 64 fractional bits */
    uint128 power[][RADIX]; /* power[k][d] = ((P-1)/P)^(d 64^k), with 128 fractional bits */
};

static inline uint128 multiply_high(uint128 a, uint128 b)
{
    uint64_t a1 = (uint64_t)(a >> 64), a0 = (uint64_t)a, b1 = (uint64_t)(b >> 64), b0 = (uint64_t)b;
    uint128 low = (uint128)a0 * b0, left = (uint128)a1 * b0, right = (uint128)a0 * b1;
    uint128 middle = (low >> 64) + (uint64_t)left + (uint64_t)right;
    return (uint128)a1 * b1 + (left >> 64) + (right >> 64) + (middle >> 64);
}

static unsigned digits_of(uint64_t value)
{
    unsigned digits = 1;
    while (value >>= DIGIT_BITS)
        digits++;
    return digits;
}

static void fill_powers(struct geometric *geometric, unsigned rows)
{
    uint128 base = ~(~(uint128)0 / geometric->workers); /* (P-1)/P times 2^128, rounded down */
    for (unsigned row = 0; row < rows; row++) {
        uint128 *power = geometric->power[row];
        power[0] = ~(uint128)0;
        power[1] = base;
        for (unsigned digit = 2; digit < RADIX; digit++)
            power[digit] = multiply_high(power[digit - 1], base);
        base = multiply_high(power[RADIX - 1], base);
    }
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b > 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void reduce(uint64_t *a, uint64_t *b)
{
    uint64_t divisor = common_divisor(*a, *b);
    *a /= divisor;
    *b /= divisor;
}

/* Returns N/P, rounded down. The 64 fractional bits are computed in two halves, because the remainder has up to 96
 * bits and 128 bits leave room for only 32 more. */
static uint128 geometric_mean_of(const struct geometric *geometric)
{
    uint128 dividend = (uint128)geometric->iterations * geometric->part;
    uint128 divisor = (uint128)geometric->parts * geometric->workers;
    uint128 mean = dividend / divisor, rest = dividend % divisor;
    for (int half = 0; half < 2; half++) {
        rest <<= 32;
        mean = mean << 32 | rest / divisor;
        rest %= divisor;
    }
    return mean;
}

struct geometric *geometric_new_part(uint64_t iterations, uint64_t part, uint64_t parts, unsigned workers)
{
    uint64_t end = STEPS_PER_WORKER * (uint64_t)workers;
    unsigned rows = digits_of(end);
    struct geometric *geometric = malloc(sizeof *geometric + rows * sizeof geometric->power[0]);
    if (geometric == NULL)
        return NULL;
    reduce(&part, &parts);
    reduce(&iterations, &parts);
    geometric->iterations = iterations;
    geometric->part = part;
    geometric->parts = parts;
    geometric->workers = workers;
    geometric->end = iterations > 0 && part > 0 ? end : 0;
    geometric->mean = geometric_mean_of(geometric);
    fill_powers(geometric, rows);
    return geometric;
}

struct geometric *geometric_new(uint64_t iterations, unsigned workers)
{
    return geometric_new_part(iterations, 1, 1, workers);
}

/* A binary fraction of 512 bits. The lowest limb is first. */
struct wide {
    uint64_t limb[LIMBS];
};

static void wide_multiply(struct wide *product, const struct wide *a, const struct wide *b)
{
    uint64_t all[2 * LIMBS] = {0};
    for (int i = 0; i < LIMBS; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < LIMBS; j++) {
            uint128 sum = (uint128)a->limb[i] * b->limb[j] + all[i + j] + carry;
            all[i + j] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
        all[i + LIMBS] = carry;
    }
    memcpy(product->limb, all + LIMBS, sizeof product->limb);
}

static void wide_divide(struct wide *value, uint64_t divisor)
{
    uint64_t remainder = 0;
    for (int i = LIMBS - 1; i >= 0; i--) {
        uint128 dividend = (uint128)remainder << 64 | value->limb[i];
        value->limb[i] = (uint64_t)(dividend / divisor);
        remainder = (uint64_t)(dividend % divisor);
    }
}

/* Returns a fraction strictly below ((P-1)/P)^exponent; 1 is represented by 1 - 2^-512. */
static struct wide wide_power(uint64_t workers, uint64_t exponent)
{
    struct wide power, base;
    memset(&power, 0xff, sizeof power);
    memset(&base, 0xff, sizeof base);
    wide_divide(&base, workers);
    for (int i = 0; i < LIMBS; i++)
        base.limb[i] = ~base.limb[i];
    for (; exponent > 0; exponent >>= 1) {
        if (exponent & 1)
            wide_multiply(&power, &power, &base);
        wide_multiply(&base, &base, &base);
    }
    return power;
}

static uint64_t wide_scale(struct wide *value, uint64_t factor)
{
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        uint128 product = (uint128)value->limb[i] * factor + carry;
        value->limb[i] = (uint64_t)product;
        carry = (uint64_t)(product >> 64);
    }
    return carry;
}

/* The slow path. It is not inlined, so that the fast path need not reserve registers and stack for it. */
__attribute__((noinline, cold)) static uint64_t ceil_near_whole(const struct geometric *geometric, uint64_t step)
{
    struct wide power = wide_power(geometric->workers, step);
    uint128 whole = (uint128)wide_scale(&power, geometric->iterations) * geometric->part;
    whole += wide_scale(&power, geometric->part);
    return (uint64_t)(whole / ((uint128)geometric->parts * geometric->workers)) + 1;
}

/* Returns N/P ((P-1)/P)^step, rounded down, with 64 integer and 64 fractional bits. Requires step < end. */
static uint128 geometric_value_at(const struct geometric *geometric, uint64_t step)
{
    uint128 power = geometric->power[0][step % RADIX];
    uint64_t rest = step / RADIX;
    for (unsigned row = 1; rest > 0; row++, rest /= RADIX)
        power = multiply_high(power, geometric->power[row][rest % RADIX]);
    return multiply_high(geometric->mean, power);
}

uint64_t geometric_ceil(const struct geometric *geometric, uint64_t step)
{
    if (step >= geometric->end)
        return 1;
    uint128 value = geometric_value_at(geometric, step);
    uint64_t fraction = (uint64_t)value;
    if (fraction - 1 >= UINT64_MAX - FRACTION_ERROR)
        return ceil_near_whole(geometric, step);
    return (uint64_t)(value >> 64) + 1;
}

struct twofold geometric_real(const struct geometric *geometric, uint64_t step)
{
    if (step >= geometric->end)
        return twofold_of(0);
    uint128 value = geometric_value_at(geometric, step);
    struct twofold fraction = twofold_of_integer((uint64_t)value);
    fraction = (struct twofold){fraction.high * 0x1p-64, fraction.low * 0x1p-64};
    return twofold_add(twofold_of_integer((uint64_t)(value >> 64)), fraction);
}
