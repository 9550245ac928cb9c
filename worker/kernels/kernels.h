/* SPDX-License-Identifier: MIT */
/* Kernels by name. There are three kinds: built-in kernels, with a file each; kernels of papers, with a module
 * hdss-NAME.so each (common/os/modules.h), which may not be installed; and kernels of users. */
#pragma once

#include "common/config/params.h"
#include "common/util/error.h"
#include "hdss/kernel.h"
#include "worker/kernels/model.h"

#include <stddef.h>

/* The built-in kernels and the installed modules, sorted by name; valid until the next call. */
const struct hdss_kernel *const *kernels(size_t *count);

const struct hdss_kernel *kernel_find(const char *name);

/* Finds a kernel by name. On failure the error lists the names, or says that the module is not installed. */
int kernel_named(const char *name, const struct hdss_kernel **kernel, struct error *error);

/* Loads the kernel that a command line names: a kernel of HDSS, a shared object ("./mine.so"), or
 * "python:MODULE.FUNCTION". */
int kernel_load(const char *name, const struct hdss_kernel **kernel, struct error *error);

/* Checks the input of a kernel of HDSS before a run, but creates nothing. Does not call kernels of users. */
int kernel_look(const struct hdss_kernel *kernel, const union hdss_value *values, const struct hdss_loop *loop,
                char error[HDSS_ERROR_MAX]);

extern const struct kernel_loader kernel_loader;

/* Returns NULL if the kernel's module has no hdss_kernel_iteration_ns(). */
kernel_iteration_ns *kernel_find_iteration_ns(const struct hdss_kernel *kernel);

extern const struct hdss_kernel adjoint_kernel;
extern const struct hdss_kernel mandelbrot_kernel;
extern const struct hdss_kernel synthetic_kernel;
