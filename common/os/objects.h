/* SPDX-License-Identifier: MIT */
/* Shared objects of users, loaded by their name on the command line.
 *
 * An object stays loaded until the process ends, under its full path: for a relative name, dlopen() would return an
 * object that was loaded from another folder, or an older version of the file. */
#pragma once

#include "common/util/error.h"

#include <limits.h>

/* From now on, a fault in an object is reported in one line before it ends the process. For programs without another
 * report; call it before the first object is loaded. */
void objects_tell_faults(void);

struct object_kind {
    const char *what;
    const char *other;       /* what is accepted if the file is no shared object */
    const char *for_changed; /* what is accepted if the file has changed since it was loaded */
};

/* Loads an object; a name without a slash is relative to the working folder. Returns its handle, which is never
 * closed. If a call that common/util/called.h records ends the process, a line names the object, and the exit status
 * is 1. */
void *object_open(const struct object_kind *kind, const char *name, struct error *error);

/* Keeps every object that is loaded now, by any code, until the process ends. */
void objects_keep(void);

#define OBJECT_PYTHON "python:"

int object_has_python(const struct object_kind *kind, const char *name, struct error *error);

/* Loads the Python module for the object `name`, which is never closed, and returns its `symbol`. */
void *object_find_python(const struct object_kind *kind, const char *name, const char *symbol, struct error *error);
