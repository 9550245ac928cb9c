/* SPDX-License-Identifier: MIT */
/* The call into a user's shared object that this thread is running. If the user's code ends the process, this thread
 * also runs exit() or the fault handler, which reports the call. */
#pragma once

#include <stddef.h>

struct called {
    const char *what;
    const char *name;
    const char *where; /* for example "in init()" */
};

extern _Thread_local const struct called *called;
