/* SPDX-License-Identifier: MIT */
/* Checks the values that kernel functions return: 0, or -1 with one line in `error` (hdss/kernel.h). Any other value
 * counts as a failure. */
#pragma once

#include "hdss/kernel.h"

/* For a call of a kernel function that has failed; returns -1. A negative `result` is a proper failure, for which the
 * kernel has written the error. Kernels must not return a positive `result`. For such a result, writes an error that
 * names `call`, such as "run". */
int returned_failure(int result, const char *call, char error[HDSS_ERROR_MAX]);

static inline int returned(int result, const char *call, char error[HDSS_ERROR_MAX])
{
    return result == 0 ? 0 : returned_failure(result, call, error);
}
