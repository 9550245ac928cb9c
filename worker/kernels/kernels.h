/* SPDX-License-Identifier: MIT */
/* Kernels by name: those that are built in, one file and one constant each; those of papers, each of which is a module
 * (common/os/modules.h), hdss-NAME.so, that an installation may lack; and those of users. */
#pragma once

#include "common/config/params.h"
#include "common/util/error.h"
#include "hdss/kernel.h"
#include "worker/kernels/model.h"

#include <stddef.h>

/* Returns the kernels that are built in, and the modules that are installed, sorted by name; until the next call. */
const struct hdss_kernel *const *kernels(size_t *count);

/* That of these kernels which has the name, or NULL. */
const struct hdss_kernel *kernel_find(const char *name);

/* As kernel_find(). -1 with one line: it has the names that there are, or says that the module is not installed. */
int kernel_named(const char *name, const struct hdss_kernel **kernel, struct error *error);

/* The kernel that a command line names: one of these, a shared object ("./mine.so"), or "python:MODULE.FUNCTION". -1
 * with one line. */
int kernel_load(const char *name, const struct hdss_kernel **kernel, struct error *error);

/* The work of check(), for whoever only wants to know before a run: nothing is made, and of a kernel that is not one
 * of ours nothing is called. As check() otherwise. */
int kernel_look(const struct hdss_kernel *kernel, const union hdss_value *values, const struct hdss_loop *loop,
                char error[HDSS_ERROR_MAX]);

/* Both functions, for a job's set-up. */
extern const struct kernel_loader kernel_loader;

/* The hdss_kernel_iteration_ns() of a kernel that is a module and has one; NULL otherwise. */
kernel_iteration_ns *kernel_find_iteration_ns(const struct hdss_kernel *kernel);

extern const struct hdss_kernel adjoint_kernel;
extern const struct hdss_kernel mandelbrot_kernel;
extern const struct hdss_kernel synthetic_kernel;
