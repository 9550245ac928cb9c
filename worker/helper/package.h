/* SPDX-License-Identifier: MIT */
/* Kernels of the Python package (deploy/python/hdss/_worker.py). */
#pragma once

#include "common/util/error.h"
#include "hdss/kernel.h"

/* Returns the kernel of that name, or NULL if the package has none: the kernel that runs the calls of an executor, or a
 * loop of one function. It can only be described, for which no interpreter is started; helpers run the package's own
 * kernel, which has the same version. */
const struct hdss_kernel *package_find(const char *name);

/* Fails if this HDSS cannot run kernels of the package. */
int package_check(struct error *error);
