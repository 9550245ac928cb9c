/* SPDX-License-Identifier: MIT */
/* Calls into users' shared objects: which one this thread is in, for the line about a call that does not come back.
 * Both exit() and the handler of a fault run in the thread of the call. */
#pragma once

#include <stddef.h>

struct called {
    const char *what;  /* "technique" */
    const char *name;  /* of the object, as the user has it */
    const char *where; /* "in init()" */
};

/* NULL outside of such calls. */
extern _Thread_local const struct called *called;
