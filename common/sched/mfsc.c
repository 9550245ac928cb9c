/* SPDX-License-Identifier: MIT */
/* mfsc: chunks of one fixed size, about as many as fac2 cuts. The size does not depend on the times of iterations.
 *
 * The logarithm is computed in integers, because the last digit of log() differs between mathematical libraries: with
 * DCA every worker computes the chunk itself. */
#include "common/sched/technique.h"

#include "common/util/error.h"

enum { CHUNK };

enum { FRACTION_BITS = LOGARITHM_BITS, OFFSET = 55, HUNDRED = 100 };

/* Returns log2(t) 2^57 for t >= 2. Each squaring of the mantissa gives one binary digit. Truncating the 64-bit
 * mantissa causes an error, which doubles with each squaring. But each digit counts half as much as the one before,
 * so the total error is below 57 2^-63. Logarithms of powers of two are exact. */
uint64_t binary_logarithm(uint64_t value)
{
    unsigned whole = 63 - (unsigned)__builtin_clzll(value);
    uint64_t result = whole, mantissa = value << (63 - whole); /* `mantissa` is from 1 to 2, with 63 fractional bits */
    for (int i = 0; i < FRACTION_BITS; i++) {
        uint128 square = (uint128)mantissa * mantissa;
        bool digit = square >> 127 != 0;
        mantissa = (uint64_t)(square >> (digit ? 64 : 63));
        result = result << 1 | digit;
    }
    return result;
}

/* floor(0.55 + t ln 2 / ln t) = floor((100 t + 55 log2 t) / (100 log2 t)). */
uint64_t mfsc_chunk(uint64_t iterations, unsigned workers)
{
    uint64_t each = ceil_div(iterations, workers);
    if (each < 2)
        return 1;
    uint128 logarithm = binary_logarithm(each);
    uint64_t chunk =
        (uint64_t)((((uint128)each << FRACTION_BITS) * HUNDRED + OFFSET * logarithm) / (HUNDRED * logarithm));
    return chunk < each ? chunk : each;
}

static int mfsc_init(struct sched *sched, struct error *error)
{
    (void)error;
    sched->constant.integer[CHUNK] = mfsc_chunk(sched->iterations, sched->workers);
    return 0;
}

static uint64_t mfsc_at(const struct sched *sched, uint64_t step)
{
    (void)step;
    return sched->constant.integer[CHUNK];
}

static uint64_t mfsc_next(struct sched *sched, unsigned worker)
{
    (void)worker;
    return sched->constant.integer[CHUNK];
}

static uint64_t mfsc_start(const struct sched *sched, uint64_t step)
{
    return start_of_equal(sched, sched->constant.integer[CHUNK], step);
}

const struct technique technique_mfsc = {
    .name = "mfsc",
    .title = "modified fixed-size chunking",
    .rule = "K = floor(0.55 + t ln 2 / ln t) with t = ceil(N/P), from 1 to t",
    .source = "Mohammed et al., Two-level Dynamic Load Balancing for High Performance Scientific Applications",
    .when = "chunks should have one size, and nothing is known of the iterations' times",
    .init = mfsc_init,
    .next = mfsc_next,
    .at = mfsc_at,
    .start = mfsc_start,
};
