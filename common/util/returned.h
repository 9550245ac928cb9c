/* SPDX-License-Identifier: MIT */
/* Checks the return value of kernel functions: 0, or -1 with one line in `error` (hdss/kernel.h).
 *
 * Any other value, from any kernel, counts as a failure. */
#pragma once

#include "hdss/kernel.h"

/* Returns -1, and names a positive result in `error`. `call` names the call: "run". */
int returned_failure(int result, const char *call, char error[HDSS_ERROR_MAX]);

static inline int returned(int result, const char *call, char error[HDSS_ERROR_MAX])
{
    return result == 0 ? 0 : returned_failure(result, call, error);
}
