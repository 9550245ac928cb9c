/* SPDX-License-Identifier: MIT */
/* The sums of the adjoint convolution, S(i) = sum over j = i .. m-1 of B(j) C(j-i), in one fixed order.
 *
 * Let k = j - i. There are sixteen partial sums. Each adds the terms with the same k modulo 16, in ascending order of
 * k. Then the partial sums are added as a binary tree, ((0+8)+(4+12)) + ... . The build forbids contraction, so every
 * variant gives the same bits on every machine. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ADJOINT_PARTIALS 16
#define ADJOINT_PAD      64

struct adjoint_variant {
    const char *name;
    bool (*usable)(void);

    /* sums[n] = S(first + n) for n < count. B and C have m elements, then ADJOINT_PAD zeros. */
    void (*run)(const double *b, const double *c, uint64_t m, uint64_t first, uint64_t count, double *sums);
};

/* The widest variant is first; the last one runs on every machine. */
const struct adjoint_variant *adjoint_variants(size_t *count);

const struct adjoint_variant *adjoint_best(void);

double adjoint_scalar(const double *b, const double *c, uint64_t m, uint64_t i);
