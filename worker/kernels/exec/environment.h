/* SPDX-License-Identifier: MIT */
/* The environment of a task: the worker's environment without variables that a task must not get, and with the
 * variables that the user gives to tasks. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>

/* `hdss run` sets this variable if all ranks are on one machine. hwloc then does not look for devices. Tasks do not
 * inherit the variable. */
#define QUICK_HWLOC       "HWLOC_COMPONENTS"
#define QUICK_HWLOC_VALUE "-pci,-opencl,-gl,-linuxio"
/* The value of HWLOC_PLUGINS_PATH is not a folder, so hwloc finds no plug-ins. */
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

/* Takes over the worker's variables except those of HDSS. The variables of an MPI launcher that has started the worker
 * are left out, too, unless `all`. With these variables an MPI program in a task would take itself for this rank. Adds
 * variables that keep MPI launchers in tasks from binding their ranks, unless the user has set a binding. */
int environment_init(struct environment *environment, char *const *of_worker, bool all);
/* Adds variables that the user gives, as "NAME,NAME2=VALUE". In the list \, stands for a comma and \\ for a backslash.
 * A NAME without a value takes the worker's value. Call it once. */
int environment_give(struct environment *environment, char *const *of_worker, const char *list, struct error *error);
/* Value of a variable that all tasks get unless they set it themselves; NULL if there is none. */
const char *environment_value(const struct environment *environment, const char *name);
void environment_fini(struct environment *environment);

int environment_begin(struct environment *environment, unsigned more);

/* Sets "NAME=value" instead of an earlier value. The text is borrowed until the next task. */
void environment_set(struct environment *environment, const char *setting);

char *const *environment_vector(struct environment *environment);
