/* SPDX-License-Identifier: MIT */
/* The sums of the adjoint convolution: their definition in plain C, and the vector variants. See adjoint.h. */
#include "worker/kernels/adjoint.h"

#include "worker/kernels/vectors.h"

static inline double adjoint_tree(double *partials)
{
    for (int half = ADJOINT_PARTIALS / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            partials[i] += partials[i + half];
    return partials[0];
}

double adjoint_scalar(const double *b, const double *c, uint64_t m, uint64_t i)
{
    double partials[ADJOINT_PARTIALS] = {0};
    for (uint64_t j = i; j < m; j++)
        partials[(j - i) % ADJOINT_PARTIALS] += b[j] * c[j - i];
    return adjoint_tree(partials);
}

enum {
    ADJOINT_SPAN = 64,
    ADJOINT_BLOCK = 1024,
};

static inline uint64_t adjoint_block_end(uint64_t from, uint64_t terms)
{
    uint64_t end = (terms + ADJOINT_PARTIALS - 1) / ADJOINT_PARTIALS * ADJOINT_PARTIALS;
    return end < from + ADJOINT_BLOCK ? end : from + ADJOINT_BLOCK;
}

#if VECTORS_X86
#define LANES         8
#define VECTOR_TARGET VECTORS_AVX512
#include "worker/kernels/adjoint_vector.h"

#define LANES         4
#define VECTOR_TARGET VECTORS_AVX2
#include "worker/kernels/adjoint_vector.h"
#endif

#define LANES 2
#define VECTOR_TARGET
#include "worker/kernels/adjoint_vector.h"

static const struct adjoint_variant variants[] = {
#if VECTORS_X86
    {"avx512", vectors_have_avx512, adjoint_run_8},
    {"avx2", vectors_have_avx2, adjoint_run_4},
#endif
    {"base", vectors_anywhere, adjoint_run_2},
};

const struct adjoint_variant *adjoint_variants(size_t *count)
{
    *count = sizeof variants / sizeof variants[0];
    return variants;
}

const struct adjoint_variant *adjoint_best(void)
{
    const struct adjoint_variant *variant = variants;
    while (!variant->usable())
        variant++;
    return variant;
}
