/* SPDX-License-Identifier: MIT */
/* Kernels of the Python package (deploy/python/hdss/_worker.py). */
#pragma once

#include "common/util/error.h"
#include "hdss/kernel.h"

/* Returns the kernel of that name, which runs the calls of an executor or a loop of one function; NULL if the package
 * has no such kernel. This process can only describe the kernel, which needs no interpreter. Helpers run the package's
 * own kernel of the same version. */
const struct hdss_kernel *package_find(const char *name);

int package_check(struct error *error);
