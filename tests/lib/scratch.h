/* SPDX-License-Identifier: MIT */
/* A folder of its own for each test, in which it runs, and its files there. */
#pragma once

#include "tests/lib/asserts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Makes the folder; `folder` ends in XXXXXX, or in what that has become for the test before. */
static inline void scratch_enter(char *folder)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

/* Removes it with all that is in it. */
static inline void scratch_leave(const char *folder)
{
    char command[100];
    ck_assert_int_eq(chdir("/"), 0);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}
