/* SPDX-License-Identifier: MIT */
/* Finds the sets of this user on this machine by their control sockets. All sockets are those of sets, except
 * run-PID. */
#pragma once

#include "common/control/socket.h"
#include "common/util/error.h"

#include <limits.h>
#include <stdbool.h>

#define SET_NAME_MAX 41

#define SET_VARIABLE "HDSS_SET"

struct set_place {
    char name[SET_NAME_MAX];
    char path[CONTROL_PATH_MAX];
};

/* A name has letters, digits, '.', '_' and '-', does not begin with '.' or '-', and does not look like that of a
 * run. */
bool sets_is_name(const char *name);

/* True for the name of a set that a program has started for itself. It must be named to be used. */
bool sets_is_private(const char *name);

/* For options that name a set: fails if the name is not valid. */
int sets_check_name(const char *name, struct error *error);

/* Finds `given` or, if that is NULL, the set of the environment, that of the batch job, or the only one. It may not
 * be up any more. */
int sets_find(const char *given, struct set_place *set, struct error *error);

/* Accepts a run, too, by run-PID: pods can join a run or a set. */
int sets_find_with_pods(const char *given, struct set_place *set, struct error *error);

/* Sets the error for a set that does not listen any more. Returns -1. */
int sets_refuse_lost(const char *name, struct error *error);

/* The name of a new set, if none is given: from the environment, the batch job, or "main". */
void sets_default_name(char name[SET_NAME_MAX]);

int sets_state_folder(const char *name, char path[PATH_MAX], struct error *error);

/* Calls `each` for each set of this user that is up on this machine. */
void sets_each(void (*each)(void *context, const char *path, const char *name), void *context);
