/* SPDX-License-Identifier: MIT */
/* Kernels by name: built-in ones, one file each; those of papers, each a module hdss-NAME.so (common/os/modules.h) that
 * may not be installed; and users'. */
#pragma once

#include "common/config/params.h"
#include "common/util/error.h"
#include "hdss/kernel.h"
#include "worker/kernels/model.h"

#include <stddef.h>

/* The built-in kernels and installed modules, sorted by name; valid until the next call. */
const struct hdss_kernel *const *kernels(size_t *count);

/* One of these by name, or NULL. */
const struct hdss_kernel *kernel_find(const char *name);

/* Like kernel_find(), but with an error that lists the names, or says that the module is not installed. */
int kernel_named(const char *name, const struct hdss_kernel **kernel, struct error *error);

/* The kernel that a command line names: one of these, a shared object ("./mine.so"), or "python:MODULE.FUNCTION". */
int kernel_load(const char *name, const struct hdss_kernel **kernel, struct error *error);

/* Like check() before a run, but creates nothing and does not call user kernels. */
int kernel_look(const struct hdss_kernel *kernel, const union hdss_value *values, const struct hdss_loop *loop,
                char error[HDSS_ERROR_MAX]);

extern const struct kernel_loader kernel_loader;

/* The hdss_kernel_iteration_ns() of a module; NULL if there is none. */
kernel_iteration_ns *kernel_find_iteration_ns(const struct hdss_kernel *kernel);

extern const struct hdss_kernel adjoint_kernel;
extern const struct hdss_kernel mandelbrot_kernel;
extern const struct hdss_kernel synthetic_kernel;
