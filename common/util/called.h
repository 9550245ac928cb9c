/* SPDX-License-Identifier: MIT */
/* The call into a user's shared object that this thread is in, for the report if the call ends the process: exit() and
 * fault handlers run in the calling thread. */
#pragma once

#include <stddef.h>

struct called {
    const char *what;  /* "technique" */
    const char *name;  /* of the object, from the user */
    const char *where; /* "in init()" */
};

/* NULL outside of such calls. */
extern _Thread_local const struct called *called;
