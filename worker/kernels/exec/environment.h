/* SPDX-License-Identifier: MIT */
/* The environment of a task: the worker's own, without what is of no concern to it, and with what is said for it. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>

/* `hdss run` sets this where all ranks are on one machine: hwloc then looks for no devices. Tasks do not inherit it. */
#define QUICK_HWLOC       "HWLOC_COMPONENTS"
#define QUICK_HWLOC_VALUE "-pci,-opencl,-gl,-linuxio"
/* Its plug-ins, which are for these devices, are not even loaded: this is no folder. */
#define QUICK_PLUGINS       "HWLOC_PLUGINS_PATH"
#define QUICK_PLUGINS_VALUE "/dev/null"

/* True where `hdss run` has said so. */
bool environment_is_of_one_machine(void);

struct environment {
    char **own; /* variables of the worker that tasks inherit: borrowed strings; owned */
    unsigned own_count;
    char *given;   /* what the user has given; owned */
    char **vector; /* variables of the task; owned */
    unsigned count, room;
};

/* Takes the worker's. The variables by which `hdss run` and the ranks talk are left out, and, unless `all` or no MPI
 * launcher has started the worker, those of such launchers: a task that is an MPI program would take itself for this
 * worker. Launchers in tasks are told to bind no rank, unless the user has said how. -1 when memory is out. */
int environment_init(struct environment *environment, char *const *of_worker, bool all);
/* Has tasks inherit or have variables besides, as a user names them: "NAME,NAME2=VALUE", in which \, is a comma and
 * \\ a backslash. A NAME alone is the worker's own variable, of a launcher or not. To be called once. -1 with one line.
 */
int environment_give(struct environment *environment, char *const *of_worker, const char *list, struct error *error);
/* The value that tasks have of that name, unless it is said for one; NULL: none. */
const char *environment_value(const struct environment *environment, const char *name);
void environment_fini(struct environment *environment);

/* Begins a task's environment, with room for `more` settings. -1 when memory is out. */
int environment_begin(struct environment *environment, unsigned more);

/* Sets "NAME=value", borrowed until the next task, whatever it was before. */
void environment_set(struct environment *environment, const char *setting);

/* Ended by NULL. */
char *const *environment_vector(struct environment *environment);
