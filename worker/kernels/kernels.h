/* SPDX-License-Identifier: MIT */
/* The kernels that are built in: one file and one constant each, and this registry; and those that are loaded. */
#pragma once

#include "common/config/params.h"
#include "common/util/error.h"
#include "hdss/kernel.h"

#include <stddef.h>

/* Returns all kernels, sorted by name. */
const struct hdss_kernel *const *kernels(size_t *count);

/* The kernel that a command line names: one of them, a shared object ("./mine.so"), or "python:MODULE.FUNCTION". -1
 * with one line. */
int kernel_load(const char *name, const struct hdss_kernel **kernel, struct error *error);

/* The work of check(), for whoever only wants to know before a run: nothing is made, and of a kernel that is not one
 * of ours nothing is called. As check() otherwise. */
int kernel_look(const struct hdss_kernel *kernel, const union hdss_value *values, const struct hdss_loop *loop,
                char error[HDSS_ERROR_MAX]);

/* Both functions, for a job's set-up. */
extern const struct kernel_loader kernel_loader;

/* The built-in kernel of that name, or NULL. */
const struct hdss_kernel *kernel_find(const char *name);

/* The line for a name that kernel_find() does not know, with the names it does. Always returns -1. */
int kernel_unknown(const char *name, struct error *error);

extern const struct hdss_kernel adjoint_kernel;
extern const struct hdss_kernel evrard_kernel;
extern const struct hdss_kernel floyd_steinberg_kernel;
extern const struct hdss_kernel hydro_kernel;
extern const struct hdss_kernel mandelbrot_kernel;
extern const struct hdss_kernel spinimage_kernel;
extern const struct hdss_kernel synthetic_kernel;
