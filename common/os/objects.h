/* SPDX-License-Identifier: MIT */
/* Shared objects of users, loaded by their name on the command line.
 *
 * An object stays loaded until the process ends. It is loaded by its full path: for a relative name, dlopen() might
 * return an object that was loaded from another folder. */
#pragma once

#include "common/util/error.h"

#include <limits.h>

/* From now on, a fault (such as SIGSEGV) in an object is reported in one line before it ends the process. Call it
 * before the first object is loaded, in programs that do not report faults in another way. */
void objects_tell_faults(void);

struct object_kind {
    const char *what;
    const char *other;       /* what is accepted, for the error line if the file is no shared object */
    const char *for_changed; /* what is accepted, for the error line if the file has changed since it was loaded */
};

/* Loads an object; a name without a slash is relative to the working folder. Returns its handle, which is never closed.
 * The code of the object may end the process during a call that common/util/called.h records. In this case one line
 * names the object, and the exit status is 1. */
void *object_open(const struct object_kind *kind, const char *name, struct error *error);

/* Keeps all objects that are loaded now until the process ends, whichever code has loaded them. */
void objects_keep(void);

#define OBJECT_PYTHON "python:"

int object_has_python(const struct object_kind *kind, const char *name, struct error *error);

/* Loads the Python module of HDSS, a shared object that is never closed. This module runs the object `name`. Returns
 * the address of `symbol` in the module. */
void *object_find_python(const struct object_kind *kind, const char *name, const char *symbol, struct error *error);
