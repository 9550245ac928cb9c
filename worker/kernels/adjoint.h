/* SPDX-License-Identifier: MIT */
/* The sums of the adjoint convolution, S(i) = sum over j = i .. m-1 of B(j) C(j-i), in one fixed order.
 *
 * With k = j - i, sixteen partial sums take the k of their remainder modulo 16 in ascending order; they are added
 * pairwise as a binary tree, ((0+8)+(4+12)) + ... . As contraction is off, every variant gives the same bits on every
 * machine. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ADJOINT_PARTIALS 16
#define ADJOINT_PAD      64 /* zeros after B and C, so that whole blocks can be read; they change no sum */

struct adjoint_variant {
    const char *name;
    bool (*usable)(void); /* this machine can run the variant */

    /* sums[n] = S(first + n) for n < count. B and C have m elements and then ADJOINT_PAD zeros. */
    void (*run)(const double *b, const double *c, uint64_t m, uint64_t first, uint64_t count, double *sums);
};

/* All variants of this build, widest first; the last one runs everywhere. */
const struct adjoint_variant *adjoint_variants(size_t *count);

/* The widest variant that this machine can run. */
const struct adjoint_variant *adjoint_best(void);

/* The definition of the order, in plain C. */
double adjoint_scalar(const double *b, const double *c, uint64_t m, uint64_t i);
