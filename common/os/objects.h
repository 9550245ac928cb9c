/* SPDX-License-Identifier: MIT */
/* Shared objects of users, which a program loads by the name that a command line has.
 *
 * An object stays loaded for the life of the process, under its full name: dlopen() takes what has been loaded by the
 * same name before, in whatever folder that was, and where the file is another one by now. */
#pragma once

#include "common/util/error.h"

#include <limits.h>

/* The words of errors about one kind of objects. */
struct object_kind {
    const char *what;        /* "kernel", before the name */
    const char *other;       /* what is accepted where the file is no shared object: "a shared object" */
    const char *for_changed; /* what is accepted where it has changed since it was loaded */
};

/* Loads the object of this name; one without a slash is looked for in the folder where the process is. Returns its
 * handle, which is never closed; NULL with one line. */
void *object_open(const struct object_kind *kind, const char *name, struct error *error);

/* Refuses by the text of dlerror(), without the path that it begins with. Always returns -1. */
int object_refuse(const struct object_kind *kind, const char *name, const char *path, struct error *error);
