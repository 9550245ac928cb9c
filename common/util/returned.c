/* SPDX-License-Identifier: MIT */
/* Results of a kernel's calls: see returned.h. */
#include "common/util/returned.h"

#include <stdio.h>

int returned_failure(int result, const char *call, char error[HDSS_ERROR_MAX])
{
    if (result > 0)
        snprintf(error, HDSS_ERROR_MAX, "%s() returned %d; accepted: 0, or -1 for a failure", call, result);
    return -1;
}
