/* SPDX-License-Identifier: MIT */
/* Loads kernels from shared objects of users or of HDSS, and from Python. They stay loaded until the process ends. */
#pragma once

#include "common/util/error.h"
#include "hdss/kernel.h"

/* The kernel of a shared object, and its `handle` (may be NULL). Fails for other versions of the interface. */
int kernel_load_object(const char *name, const struct hdss_kernel **kernel, void **handle, struct error *error);

/* The kernel "python:MODULE.FUNCTION". */
int kernel_load_python(const char *name, const struct hdss_kernel **kernel, struct error *error);
