/* SPDX-License-Identifier: MIT */
/* The environment of a task: the worker's environment without variables that a task must not get, and with the
 * variables that the user gives to tasks. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>

/* `hdss run` sets this variable if all ranks are on one machine, so that hwloc does not look for devices. Tasks do not
 * inherit the variable. */
#define QUICK_HWLOC       "HWLOC_COMPONENTS"
#define QUICK_HWLOC_VALUE "-pci,-opencl,-gl,-linuxio"
/* The value of this variable is not a folder, so hwloc finds no plug-ins. */
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

/* Takes over the worker's variables except those of HDSS. If an MPI launcher has started the worker, also leaves out
 * the launcher's variables, unless `all`: an MPI program in a task would otherwise take itself for this rank. Tells MPI
 * launchers in tasks not to bind their ranks, unless the user has set a binding. */
int environment_init(struct environment *environment, char *const *of_worker, bool all);
/* Adds variables that the user gives: "NAME,NAME2=VALUE", with \, for a comma and \\ for a backslash. NAME alone takes
 * the worker's value. Call it once. */
int environment_give(struct environment *environment, char *const *of_worker, const char *list, struct error *error);
/* Value of a variable that all tasks get, unless a task sets its own; may be NULL. */
const char *environment_value(const struct environment *environment, const char *name);
void environment_fini(struct environment *environment);

int environment_begin(struct environment *environment, unsigned more);

/* Sets "NAME=value" instead of an earlier value. The text is borrowed until the next task. */
void environment_set(struct environment *environment, const char *setting);

char *const *environment_vector(struct environment *environment);
