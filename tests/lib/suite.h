/* SPDX-License-Identifier: MIT */
/* One Check suite per test program, TAP on standard output for Meson (protocol: 'tap'). What hangs is ended by Meson;
 * Check's own limit of 4 s ended tests that compute on a machine where many others do. */
#pragma once

#include "tests/lib/asserts.h"

#include <stdlib.h>

/* Seconds. A build for debugging is not optimised, and the machines check themselves after each step in a time that
 * grows with their ranks. */
#ifdef __OPTIMIZE__
#define SUITE_LIMIT "60"
#else
#define SUITE_LIMIT "300"
#endif

/* A tcase has the limit that is in the environment when it is made. */
__attribute__((constructor)) static void suite_set_limit(void)
{
    setenv("CK_DEFAULT_TIMEOUT", SUITE_LIMIT, 0);
}

static inline int suite_run(Suite *suite)
{
    setenv("CK_TAP_LOG_FILE_NAME", "-", 1);
    setenv("CK_VERBOSITY", "silent", 0);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Of tests that are pure, many in number, and leave the program as they found it. AddressSanitizer looks for leaks
 * behind each process, which takes several times as long as such a test: there all of them run in one. */
static inline int suite_run_together(Suite *suite)
{
#ifdef __SANITIZE_ADDRESS__
    setenv("CK_FORK", "no", 0);
#endif
    return suite_run(suite);
}
