/* SPDX-License-Identifier: MIT */
/* Cost models of the kernels for simulated runs. */
#pragma once

#include "common/util/error.h"
#include "hdss/kernel.h"

/* Costs of [first, first + count) on the processor on which tests/kernels/bench_kernels was run (see model.c). Returns
 * NULL if the kernel has no model, an input file is invalid, or memory runs out. */
struct costs *kernel_model_costs(const struct hdss_kernel *kernel, const union hdss_value *values,
                                 const struct hdss_loop *loop, uint64_t first, uint64_t count, struct error *error);

/* A kernel module may define this function if all its iterations cost the same. The function returns the time of an
 * iteration in ns, on the same processor as kernel_model_costs(). */
__attribute__((visibility("default"))) double hdss_kernel_iteration_ns(const struct hdss_loop *loop);

#define KERNEL_ITERATION_NS "hdss_kernel_iteration_ns"
typedef double kernel_iteration_ns(const struct hdss_loop *loop);
