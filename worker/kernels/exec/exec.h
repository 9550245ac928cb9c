/* SPDX-License-Identifier: MIT */
/* Functions of the kernel `exec` for programs that show its tasks before they run them. `values` are the kernel's
 * parameters, and must be those that were described last. */
#pragma once

#include "hdss/kernel.h"

#include <stddef.h>

extern const struct hdss_kernel exec_kernel;

/* Makes the same checks as the start of a run, but does not create the folder of keep=. */
int exec_look(const union hdss_value *values, char error[HDSS_ERROR_MAX]);

/* Like exec_text(), for a list that this process has already read and still keeps. */
int exec_text_known(const union hdss_value *values, uint64_t task, char *text, size_t size);

/* The command of a task as one would type it, cut off with "..." at `size`. */
int exec_text(const union hdss_value *values, uint64_t task, char *text, size_t size, char error[HDSS_ERROR_MAX]);
