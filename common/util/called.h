/* SPDX-License-Identifier: MIT */
/* The call into a user's shared object that this thread is running. If the user's code ends the process, exit() or the
 * fault handler runs in the same thread. They use this record to report the call. */
#pragma once

#include <stddef.h>

struct called {
    const char *what;
    const char *name;
    const char *where; /* what the call is, for example "in init()" */
};

extern _Thread_local const struct called *called;
