/* SPDX-License-Identifier: MIT */
/* Shared objects of users, loaded by the name on a command line.
 *
 * An object stays loaded until the process ends, under its full path, because dlopen() by a relative name would return
 * an object loaded before from another folder, or an older version of the file. */
#pragma once

#include "common/util/error.h"

#include <limits.h>

/* From now on, faults in loaded objects are reported in one line before they end the process. Takes effect at the first
 * object. For programs without another report. */
void objects_tell_faults(void);

struct object_kind {
    const char *what;        /* "kernel", before the name */
    const char *other;       /* accepted if the file is no shared object: "a shared object" */
    const char *for_changed; /* accepted if the file has changed since it was loaded */
};

/* Loads an object; a name without a slash is relative to the working folder. Returns its handle, which is never closed.
 * If the object ends the process during a call recorded by common/util/called.h, this is reported in one line, with
 * exit status 1. */
void *object_open(const struct object_kind *kind, const char *name, struct error *error);

/* Keeps all objects loaded so far, by any code, until the process ends. */
void objects_keep(void);

/* Prefix of names in Python. */
#define OBJECT_PYTHON "python:"

/* Fails if there is no Python module for the object `name`. */
int object_has_python(const struct object_kind *kind, const char *name, struct error *error);

/* Returns `symbol` of the Python module, which is loaded for the object `name` and never closed. */
void *object_find_python(const struct object_kind *kind, const char *name, const char *symbol, struct error *error);
