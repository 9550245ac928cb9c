/* SPDX-License-Identifier: MIT */
/* Kernels of the Python package (deploy/python/hdss/_worker.py). */
#pragma once

#include "common/util/error.h"
#include "hdss/kernel.h"

/* The kernel of that name, which runs the calls of an executor or a loop of one function; NULL if it is none of the
 * package. It says how it is described, so that no interpreter is started to ask for it; helpers run the one of the
 * package, which has the same version. */
const struct hdss_kernel *package_find(const char *name);

/* Fails if this HDSS cannot run them. */
int package_check(struct error *error);
