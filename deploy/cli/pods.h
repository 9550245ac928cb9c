/* SPDX-License-Identifier: MIT */
/* The pods of a set, named SET/podRANK after the rank of their master. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/sets.h"

#include <limits.h>
#include <stdbool.h>

/* Parses SET/podRANK or podRANK (with an empty set name). False for other words. */
bool pods_read_name(const char *word, char set[SET_NAME_MAX], unsigned *rank);

/* Finds what a set is joined by: `given` if it is a file or port, else the ticket file of the set of that name, or if
 * NULL of the default set. */
int pods_find_ticket(const char *given, char path[PATH_MAX], struct error *error);

/* Keeps the ticket from standard input in memory, so that it is never left behind, and sets the path by which other
 * processes of this user read it. `*goes_on`: an empty line has ended it. Returns a descriptor, which the caller
 * closes. */
int pods_keep_ticket(char path[PATH_MAX], bool *goes_on, struct error *error);

/* Asks a pod to finish what runs and leave. Returns an exit status. */
int pods_send_away(const struct set_place *set, unsigned rank, struct error *error);
