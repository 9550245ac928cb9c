/* SPDX-License-Identifier: MIT */
/* Checks the values that kernel functions return: 0, or -1 with one line in `error` (hdss/kernel.h). Any other value
 * counts as a failure. */
#pragma once

#include "hdss/kernel.h"

/* Returns -1. If `result` is positive, which kernels must not return, writes an error that names `call`, such as "run".
 * Otherwise the kernel itself has written the error. */
int returned_failure(int result, const char *call, char error[HDSS_ERROR_MAX]);

static inline int returned(int result, const char *call, char error[HDSS_ERROR_MAX])
{
    return result == 0 ? 0 : returned_failure(result, call, error);
}
