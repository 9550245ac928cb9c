/* SPDX-License-Identifier: MIT */
/* The sets of this user on this machine, by the names of their control sockets: that of a set is any that a run's,
 * run-PID, is not. */
#pragma once

#include "common/control/socket.h"
#include "common/util/error.h"

#include <limits.h>
#include <stdbool.h>

/* Longest name of a set, with the NUL: its socket's name must have room for more. */
#define SET_NAME_MAX 41

/* The variable that names the set which is meant. */
#define SET_VARIABLE "HDSS_SET"

struct set_place {
    char name[SET_NAME_MAX];
    char path[CONTROL_PATH_MAX]; /* of its socket */
};

/* True for what a set can be called: letters, digits, '.', '_' and '-', no '.' or '-' first, and not as a run. */
bool sets_is_name(const char *name);

/* True for the name of a set that a program has started for itself: nobody means it who does not say its name. */
bool sets_is_private(const char *name);

/* For options that name a set. -1 with one line where it cannot be a name. */
int sets_check_name(const char *name, struct error *error);

/* The set that is meant: `given` unless that is NULL, else that of the environment, else that of the batch job, else
 * the only one. Nobody is asked whether it is still there. -1 with one line. */
int sets_find(const char *given, struct set_place *set, struct error *error);

/* As sets_find(), and a run by its name, run-PID: pods can join either. -1 with one line. */
int sets_find_with_pods(const char *given, struct set_place *set, struct error *error);

/* The line for a set whose socket nobody listens to any more. Returns -1. */
int sets_refuse_lost(const char *name, struct error *error);

/* The name that a set gets where the user gives none: that of the environment, of the batch job, or "main". */
void sets_default_name(char name[SET_NAME_MAX]);

/* The folder in which a set of that name keeps its jobs, unless another is given. -1 with one line. */
int sets_state_folder(const char *name, char path[PATH_MAX], struct error *error);

/* Calls `each` for each set of this user that listens on this machine. */
void sets_each(void (*each)(void *context, const char *path, const char *name), void *context);
