/* SPDX-License-Identifier: MIT */
/* Kernels out of shared objects, whether of users or of HDSS, and out of Python. What is loaded stays so until the
 * process ends. */
#pragma once

#include "common/util/error.h"
#include "hdss/kernel.h"

/* The kernel of a shared object, and its handle (NULL: not asked for). -1 with one line: there is none, it is none, or
 * one for another version of the interface. */
int kernel_load_object(const char *name, const struct hdss_kernel **kernel, void **handle, struct error *error);

/* The kernel "python:MODULE.FUNCTION". -1 with one line. */
int kernel_load_python(const char *name, const struct hdss_kernel **kernel, struct error *error);
