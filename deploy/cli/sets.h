/* SPDX-License-Identifier: MIT */
/* Finds the sets of this user on this machine by their control sockets: all sockets except those of runs, run-PID. */
#pragma once

#include "common/control/socket.h"
#include "common/util/error.h"

#include <limits.h>
#include <stdbool.h>

/* Size of a set's name with NUL: its socket's name needs more. */
#define SET_NAME_MAX 41

/* Names the default set. */
#define SET_VARIABLE "HDSS_SET"

struct set_place {
    char name[SET_NAME_MAX];
    char path[CONTROL_PATH_MAX];
};

/* True for a valid name: letters, digits, '.', '_' and '-', without '.' or '-' at the beginning, and not like that of a
 * run. */
bool sets_is_name(const char *name);

/* True for the name of a program's own set, which must be named explicitly. */
bool sets_is_private(const char *name);

/* For options that name a set. Fails if the name is invalid. */
int sets_check_name(const char *name, struct error *error);

/* Chooses the set: `given` unless NULL, else that of the environment, of the batch job, or the only one. It may no
 * longer be up. */
int sets_find(const char *given, struct set_place *set, struct error *error);

/* Like sets_find(), but also accepts a run, run-PID: pods can join either. */
int sets_find_with_pods(const char *given, struct set_place *set, struct error *error);

/* Sets the error for a set that no longer listens. Returns -1. */
int sets_refuse_lost(const char *name, struct error *error);

/* Default name of a new set: from the environment, the batch job, or "main". */
void sets_default_name(char name[SET_NAME_MAX]);

int sets_state_folder(const char *name, char path[PATH_MAX], struct error *error);

/* Calls `each` for each set of this user that is up on this machine. */
void sets_each(void (*each)(void *context, const char *path, const char *name), void *context);
