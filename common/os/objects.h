/* SPDX-License-Identifier: MIT */
/* Shared objects of users, which a program loads by the name that a command line has.
 *
 * An object stays loaded for the life of the process, under its full name: dlopen() takes what has been loaded by the
 * same name before, in whatever folder that was, and where the file is another one by now. */
#pragma once

#include "common/util/error.h"

#include <limits.h>

/* From now on the first object that is opened has faults in it told in one line, before they end the process as they
 * would. For programs that have no other way of telling them. */
void objects_tell_faults(void);

/* The words of errors about one kind of objects. */
struct object_kind {
    const char *what;        /* "kernel", before the name */
    const char *other;       /* what is accepted where the file is no shared object: "a shared object" */
    const char *for_changed; /* what is accepted where it has changed since it was loaded */
};

/* Loads the object of this name; one without a slash is looked for in the folder where the process is. Returns its
 * handle, which is never closed; NULL with one line. An object that ends the process in a call that is noted by
 * common/util/called.h is told in one line, with exit status 1. */
void *object_open(const struct object_kind *kind, const char *name, struct error *error);

/* Has all objects that are loaded by now, whoever has loaded them, stay so until the process ends. */
void objects_keep(void);

/* The beginning of a name that is not one of a file but of something in Python. */
#define OBJECT_PYTHON "python:"

/* Returns what the module for Python has under this symbol, for an object of this name. The module is loaded, and never
 * closed. NULL with one line, also where this HDSS has no such module. */
void *object_find_python(const struct object_kind *kind, const char *name, const char *symbol, struct error *error);
