/* SPDX-License-Identifier: MIT */
/* The environment of a task: the worker's without irrelevant variables, plus what is given for tasks. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Set by `hdss run` if all ranks are on one machine, so that hwloc does not look for devices. Tasks do not inherit
 * it. */
#define QUICK_HWLOC       "HWLOC_COMPONENTS"
#define QUICK_HWLOC_VALUE "-pci,-opencl,-gl,-linuxio"
/* Keeps hwloc from loading its plug-ins: this is not a folder. */
#define QUICK_PLUGINS       "HWLOC_PLUGINS_PATH"
#define QUICK_PLUGINS_VALUE "/dev/null"

/* True if `hdss run` has set these. */
bool environment_is_of_one_machine(void);

struct environment {
    char **own; /* inherited variables, borrowed; array owned */
    unsigned own_count;
    char *given;   /* text of given variables; owned */
    char **vector; /* the task's variables; owned */
    unsigned count, room;
};

/* Takes the worker's variables except HDSS's own and, unless `all` or the worker was started without an MPI launcher,
 * those of such launchers: an MPI program as a task would take itself for this worker. MPI launchers in tasks get
 * settings to bind no rank, unless the user has set them. */
int environment_init(struct environment *environment, char *const *of_worker, bool all);
/* Adds variables given by the user: "NAME,NAME2=VALUE", with \, for a comma and \\ for a backslash. NAME alone inherits
 * the worker's variable. Call once. */
int environment_give(struct environment *environment, char *const *of_worker, const char *list, struct error *error);
/* The value of that name for tasks, unless overridden for one; may be NULL. */
const char *environment_value(const struct environment *environment, const char *name);
void environment_fini(struct environment *environment);

/* Starts a task's environment with room for `more` settings. */
int environment_begin(struct environment *environment, unsigned more);

/* Sets "NAME=value", borrowed until the next task; overrides an earlier value. */
void environment_set(struct environment *environment, const char *setting);

char *const *environment_vector(struct environment *environment);
