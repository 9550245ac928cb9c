/* SPDX-License-Identifier: MIT */
/* Kernels of the Python package (deploy/python/hdss/_worker.py). */
#pragma once

#include "common/util/error.h"
#include "hdss/kernel.h"

#include <stdbool.h>

/* Prefix of their names. */
#define PACKAGE_KERNELS "python:hdss._worker."

/* The kernel that runs the calls of an executor. It is always described in the same way, so that no interpreter is
 * started to ask for it; helpers run the one of the package, which has the same version. */
extern const struct hdss_kernel package_calls;

/* Fails if this HDSS cannot run it. */
int package_check(struct error *error);

/* True for the name of a kernel of the package. */
bool package_has(const char *kernel);
