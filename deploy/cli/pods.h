/* SPDX-License-Identifier: MIT */
/* The pods of a set. A pod's name is SET/podRANK, with the rank of its master. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/sets.h"

#include <limits.h>
#include <stdbool.h>

/* Parses SET/podRANK, or podRANK with an empty name of the set. Returns false for other words. */
bool pods_read_name(const char *word, char set[SET_NAME_MAX], unsigned *rank);

/* Finds how to join a set. If `given` is a file or port, returns that. Otherwise finds the ticket of the set `given`;
 * if `given` is NULL, that of the default set. */
int pods_find_ticket(const char *given, char path[PATH_MAX], struct error *error);

/* Reads the ticket from standard input and keeps it in memory, so no file with it can be left behind. Other processes
 * of this user can read the ticket at `path`. `*goes_on`: an empty line has ended the ticket, so standard input may
 * continue. Returns a descriptor, which the caller closes. */
int pods_keep_ticket(char path[PATH_MAX], bool *goes_on, struct error *error);

int pods_send_away(const struct set_place *set, unsigned rank, struct error *error);
