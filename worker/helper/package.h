/* SPDX-License-Identifier: MIT */
/* Kernels of the Python package (deploy/python/hdss/_worker.py). */
#pragma once

#include "common/util/error.h"
#include "hdss/kernel.h"

/* Returns the package's kernel of that name; NULL if there is none. Such a kernel runs the calls of an executor, or a
 * loop of one function. This process can only describe the kernel, which needs no interpreter. Helpers run the kernel,
 * with the package of the same version. */
const struct hdss_kernel *package_find(const char *name);

int package_check(struct error *error);
