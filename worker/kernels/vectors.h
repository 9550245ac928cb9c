/* SPDX-License-Identifier: MIT */
/* What the vector templates share: which widths are built, and how.
 *
 * A .c file includes a template (escape_vector.h, adjoint_vector.h, spin_vector.h) once per width. Before that it
 * defines LANES (doubles per vector) and VECTOR_TARGET (a function attribute). A table in the .c file chooses the
 * variant at run time. The ifunc attribute is not used, because it does not work with sanitizers and some static
 * linkers. */
#pragma once

#include <stdbool.h>

#define VECTORS_CAT_(a, b) a##_##b
#define VECTORS_CAT(a, b)  VECTORS_CAT_(a, b)
#define VECTOR_NAME(name)  VECTORS_CAT(name, LANES)

/* The functions of a template are inlined into its entry point. So each is compiled only for the target of that entry
 * point. */
#define VECTOR_INLINE VECTOR_TARGET __attribute__((always_inline)) static inline

#if defined(__clang__)
#define VECTOR_UNROLL _Pragma("clang loop unroll(full)")
#else
#define VECTOR_UNROLL _Pragma("GCC unroll 16")
#endif

/* If a test defines VECTORS_PORTABLE, the x86-64 variants are left out, as on other machines. */
#if defined(__x86_64__) && !defined(VECTORS_PORTABLE)
#define VECTORS_X86 1
#else
#define VECTORS_X86 0
#endif

static inline bool vectors_anywhere(void)
{
    return true;
}

#if VECTORS_X86
#define VECTORS_AVX2   __attribute__((target("avx2")))
#define VECTORS_AVX512 __attribute__((target("avx512f,avx512dq")))

static inline bool vectors_have_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}

static inline bool vectors_have_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
}
#endif
