/* SPDX-License-Identifier: MIT */
/* Checks the values that kernel functions return: 0, or -1 with one line in `error` (hdss/kernel.h). Any other value
 * counts as a failure. */
#pragma once

#include "hdss/kernel.h"

/* Must be called if a kernel function has failed, that is, has not returned 0. Returns -1. If `result` is negative, the
 * kernel has written the error. Kernels must not return a positive `result`; in this case writes an error that names
 * `call`, such as "run". */
int returned_failure(int result, const char *call, char error[HDSS_ERROR_MAX]);

static inline int returned(int result, const char *call, char error[HDSS_ERROR_MAX])
{
    return result == 0 ? 0 : returned_failure(result, call, error);
}
