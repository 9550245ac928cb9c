/* SPDX-License-Identifier: MIT */
/* Cost models of the kernels for simulated runs: what iterations cost, by a formula or by a sample. */
#pragma once

#include "common/util/error.h"
#include "hdss/kernel.h"

/* The costs of the iterations [first, first + count) on a core of speed 1, which is one with AVX2 vectors as
 * tests/kernels/bench_kernels measures it: see model.c. NULL with one line where the kernel has no model, a file that
 * it reads is none, or memory is out. */
struct costs *kernel_model_costs(const struct hdss_kernel *kernel, const union hdss_value *values,
                                 const struct hdss_loop *loop, uint64_t first, uint64_t count, struct error *error);

/* A kernel that is a module of HDSS may define this function if all its iterations cost the same. Returns the
 * nanoseconds of one iteration on such a core. */
__attribute__((visibility("default"))) double hdss_kernel_iteration_ns(const struct hdss_loop *loop);

#define KERNEL_ITERATION_NS "hdss_kernel_iteration_ns"
typedef double kernel_iteration_ns(const struct hdss_loop *loop);
