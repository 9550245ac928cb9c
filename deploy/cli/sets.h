/* SPDX-License-Identifier: MIT */
/* Finds the sets of this user on this machine by their control sockets. Each socket belongs to a set, except
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

/* True for a set that a program has started for itself. Such a set is found only by its name. */
bool sets_is_private(const char *name);

int sets_check_name(const char *name, struct error *error);

/* Finds the set `given`. If that is NULL, finds the set that HDSS_SET names; otherwise the set of the batch job;
 * otherwise the only set. The set may have ended already. */
int sets_find(const char *given, struct set_place *set, struct error *error);

/* Does the same as sets_find(), and also accepts a run, by run-PID, because pods can join a run, too. */
int sets_find_with_pods(const char *given, struct set_place *set, struct error *error);

int sets_refuse_lost(const char *name, struct error *error);

void sets_default_name(char name[SET_NAME_MAX]);

int sets_state_folder(const char *name, char path[PATH_MAX], struct error *error);

void sets_each(void (*each)(void *context, const char *path, const char *name), void *context);
