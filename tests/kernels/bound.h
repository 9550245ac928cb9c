/* SPDX-License-Identifier: MIT */
/* The bound of the machine's vector units for a loop of double multiplications and additions, of each width that the
 * kernels are built for: the same mix of instructions without any dependence, load or store between them.
 *
 * Checked by hand for the Mandelbrot step of exponent 2, z = z^2 + c: x*x, y*y and x*y are three multiplications; x*x -
 * y*y, the doubling of x*y and the adding of cx and cy are four additions. With two units that multiply and two that
 * add, as on AMD's Zen cores, four additions take two cycles, in which the multiplications have room: LANES / 2 steps
 * per cycle. With two units that do either, as on Intel's, seven instructions take 3.5 cycles. */
#pragma once

#include "worker/kernels/vectors.h"

#include <stdint.h>

/* So many independent additions and multiplications: two steps' worth, enough to hide their latency, and with their
 * operand no more than the 16 registers that the oldest vector unit has. */
#define BOUND_ADDS 8
#define BOUND_MULS 6

#if VECTORS_X86
#define BOUND_REGISTER "x"
#define BOUND_WIDE     "v"
#else
#define BOUND_REGISTER "w"
#endif

/* `rounds` times the mix. The empty assembler text keeps each result in its
 * register and from being computed in advance. */
#define BOUND_LOOP(lanes, name, target, constraint)                                                                    \
    target static void name(uint64_t rounds)                                                                           \
    {                                                                                                                  \
        typedef double vec __attribute__((vector_size(lanes * 8)));                                                    \
        vec sum[BOUND_ADDS], product[BOUND_MULS], one = (vec){0} + 1.0;                                                \
        __asm__ volatile("" : "+" constraint(one));                                                                    \
        VECTOR_UNROLL                                                                                                  \
        for (int i = 0; i < BOUND_ADDS; i++)                                                                           \
            sum[i] = one;                                                                                              \
        VECTOR_UNROLL                                                                                                  \
        for (int i = 0; i < BOUND_MULS; i++)                                                                           \
            product[i] = one;                                                                                          \
        for (uint64_t round = 0; round < rounds; round++) {                                                            \
            VECTOR_UNROLL                                                                                              \
            for (int i = 0; i < BOUND_ADDS; i++) {                                                                     \
                sum[i] += one;                                                                                         \
                __asm__ volatile("" : "+" constraint(sum[i]));                                                         \
                if (i < BOUND_MULS) {                                                                                  \
                    product[i] *= one;                                                                                 \
                    __asm__ volatile("" : "+" constraint(product[i]));                                                 \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

/* Steps of exponent 2 that a round is worth, per lane. */
#define BOUND_STEPS 2

#if VECTORS_X86
BOUND_LOOP(8, bound_8, __attribute__((target("avx512f,avx512dq"))), BOUND_WIDE)
BOUND_LOOP(4, bound_4, __attribute__((target("avx2"))), BOUND_REGISTER)
#endif
BOUND_LOOP(2, bound_2, , BOUND_REGISTER)

struct bound {
    const char *variant; /* as in escape_variants() */
    unsigned lanes;
    void (*run)(uint64_t rounds);
};

static const struct bound bounds[] = {
#if VECTORS_X86
    {"avx512", 8, bound_8},
    {"avx2", 4, bound_4},
#endif
    {"base", 2, bound_2},
};
