/* SPDX-License-Identifier: MIT */
/* The pods of a set. A pod's name is SET/podRANK, with the rank of its master. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/sets.h"

#include <limits.h>
#include <stdbool.h>

/* Parses SET/podRANK, or podRANK with an empty name of the set. Returns false for other words. */
bool pods_read_name(const char *word, char set[SET_NAME_MAX], unsigned *rank);

/* Finds the way to join a set: `given` if that is a file or port; otherwise the ticket of the set with that name or, if
 * `given` is NULL, of the default set. */
int pods_find_ticket(const char *given, char path[PATH_MAX], struct error *error);

/* Reads the ticket from standard input and keeps it in memory, so that no file with it is left behind. Other processes
 * of this user can read it at `path`. `*goes_on`: the ticket ended with an empty line, so standard input may continue.
 * Returns a descriptor, which the caller closes. */
int pods_keep_ticket(char path[PATH_MAX], bool *goes_on, struct error *error);

int pods_send_away(const struct set_place *set, unsigned rank, struct error *error);
