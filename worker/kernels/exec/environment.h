/* SPDX-License-Identifier: MIT */
/* The environment of a task: that of the worker without what a task must not see, and what is given for tasks. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>

/* `hdss run` sets this if all ranks are on one machine, so that hwloc does not look for devices. Tasks do not
 * inherit it. */
#define QUICK_HWLOC       "HWLOC_COMPONENTS"
#define QUICK_HWLOC_VALUE "-pci,-opencl,-gl,-linuxio"
/* No folder, so that hwloc does not load its plug-ins. */
#define QUICK_PLUGINS       "HWLOC_PLUGINS_PATH"
#define QUICK_PLUGINS_VALUE "/dev/null"

bool environment_is_of_one_machine(void);

struct environment {
    char **own;
    unsigned own_count;
    char *given;
    char **vector;
    unsigned count, room;
};

/* Takes over the worker's variables except HDSS's own. Those of an MPI launcher that has started the worker are left
 * out, too, unless `all`: an MPI program as a task would take itself for this worker. MPI launchers in tasks are
 * told not to bind ranks, unless the user has told them something else. */
int environment_init(struct environment *environment, char *const *of_worker, bool all);
/* Adds variables that the user gives: "NAME,NAME2=VALUE", with \, for a comma and \\ for a backslash. NAME alone is
 * the worker's variable. Call it once. */
int environment_give(struct environment *environment, char *const *of_worker, const char *list, struct error *error);
/* The value of a variable for all tasks that set no other; may be NULL. */
const char *environment_value(const struct environment *environment, const char *name);
void environment_fini(struct environment *environment);

int environment_begin(struct environment *environment, unsigned more);

/* Sets "NAME=value", in place of an earlier value. Borrowed until the next task. */
void environment_set(struct environment *environment, const char *setting);

char *const *environment_vector(struct environment *environment);
