/* SPDX-License-Identifier: MIT */
/* The kernel `exec` as programs know it that show its tasks before they run. `values` are those of its parameters,
 * which must have been described last. */
#pragma once

#include "hdss/kernel.h"

#include <stddef.h>

extern const struct hdss_kernel exec_kernel;

/* The work of check(); the folder of keep= is not made. -1 with one line. */
int exec_look(const union hdss_value *values, char error[HDSS_ERROR_MAX]);

/* The command of a task as one would type it, cut with "..." where it does not fit `size`. -1 with one line. */
int exec_text(const union hdss_value *values, uint64_t task, char *text, size_t size, char error[HDSS_ERROR_MAX]);
