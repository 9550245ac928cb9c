/* SPDX-License-Identifier: MIT */
/* Template of the vector variants of adjoint.h. It has no include guard: the including file defines LANES and
 * VECTOR_TARGET, and this file undefines them.
 *
 * TOGETHER sums are computed at once. So each vector of C is loaded once for all of them, and eight accumulators are
 * busy. k advances in blocks that fit the first-level cache. Between two blocks the partial sums of ADJOINT_SPAN
 * iterations are kept. In each partial sum the order of additions is that of the definition. */

#define vec         VECTOR_NAME(adjoint_vec)
#define PER_PARTIAL (ADJOINT_PARTIALS / LANES)
#define TOGETHER    (8 / PER_PARTIAL)

typedef double vec __attribute__((vector_size(LANES * 8)));

/* Adds the products of k = from .. to - 1 to the partial sums of `together` iterations; to - from is a multiple of 16.
 * Copies each vector separately: if an array of vectors is copied as a whole, gcc does not keep it in registers. */
VECTOR_INLINE void VECTOR_NAME(adjoint_block)(const double *b, const double *c, uint64_t from, uint64_t to,
                                              int together, double (*partials)[ADJOINT_PARTIALS])
{
    vec sum[TOGETHER * PER_PARTIAL], bs, cs[PER_PARTIAL];
    VECTOR_UNROLL
    for (int s = 0; s < together * PER_PARTIAL; s++)
        __builtin_memcpy(&sum[s], &partials[0][0] + s * LANES, sizeof sum[s]);
    for (uint64_t k = from; k < to; k += ADJOINT_PARTIALS) {
        VECTOR_UNROLL
        for (int v = 0; v < PER_PARTIAL; v++)
            __builtin_memcpy(&cs[v], c + k + v * LANES, sizeof cs[v]);
        VECTOR_UNROLL
        for (int s = 0; s < together * PER_PARTIAL; s++) {
            __builtin_memcpy(&bs, b + k + s / PER_PARTIAL + s % PER_PARTIAL * LANES, sizeof bs);
            sum[s] += bs * cs[s % PER_PARTIAL];
        }
    }
    VECTOR_UNROLL
    for (int s = 0; s < together * PER_PARTIAL; s++)
        __builtin_memcpy(&partials[0][0] + s * LANES, &sum[s], sizeof sum[s]);
}

VECTOR_INLINE void VECTOR_NAME(adjoint_span)(const double *b, const double *c, uint64_t m, uint64_t first,
                                             uint64_t count, double *sums)
{
    _Alignas(64) double partials[ADJOINT_SPAN][ADJOINT_PARTIALS] = {{0}};
    for (uint64_t from = 0; from < m - first; from += ADJOINT_BLOCK) {
        uint64_t n = 0;
        for (; n + TOGETHER <= count; n += TOGETHER)
            VECTOR_NAME(adjoint_block)
        (b + first + n, c, from, adjoint_block_end(from, m - first - n), TOGETHER, partials + n);
        for (; n < count; n++)
            VECTOR_NAME(adjoint_block)
        (b + first + n, c, from, adjoint_block_end(from, m - first - n), 1, partials + n);
    }
    for (uint64_t n = 0; n < count; n++)
        sums[n] = adjoint_tree(partials[n]);
}

VECTOR_TARGET static void VECTOR_NAME(adjoint_run)(const double *b, const double *c, uint64_t m, uint64_t first,
                                                   uint64_t count, double *sums)
{
    for (uint64_t n = 0; n < count; n += ADJOINT_SPAN)
        VECTOR_NAME(adjoint_span)(b, c, m, first + n, count - n < ADJOINT_SPAN ? count - n : ADJOINT_SPAN, sums + n);
}

#undef vec
#undef PER_PARTIAL
#undef TOGETHER
#undef LANES
#undef VECTOR_TARGET
