/* SPDX-License-Identifier: MIT */
/* What a call of a kernel has returned, held against what it may: 0, or -1 with one line in `error` (hdss/kernel.h).
 *
 * A kernel may be anybody's. Each result of one goes through here, so that any other number is a failure of that call
 * in every place, and never a third meaning. */
#pragma once

#include "hdss/kernel.h"

/* Returns -1; a number above 0 is named in `error`, a line for a negative one is the kernel's own. `call` names the
 * call, as "run". */
int returned_failure(int result, const char *call, char error[HDSS_ERROR_MAX]);

static inline int returned(int result, const char *call, char error[HDSS_ERROR_MAX])
{
    return result == 0 ? 0 : returned_failure(result, call, error);
}
