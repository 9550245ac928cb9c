/* SPDX-License-Identifier: MIT */
/* The pods of a set, by their names: SET/podRANK, with the rank of their master. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/sets.h"

#include <limits.h>
#include <stdbool.h>

/* Reads SET/podRANK, or podRANK, with an empty name of the set. False where the word is none. */
bool pods_read_name(const char *word, char set[SET_NAME_MAX], unsigned *rank);

/* The file by which a set is joined, or its port: what is given where it is one of these, else the file of the set of
 * that name, or, where `given` is NULL, of the set which is meant. -1 with one line. */
int pods_find_ticket(const char *given, char path[PATH_MAX], struct error *error);

/* Keeps the ticket that stands on standard input in memory, so that no end of this process leaves it behind, and gives
 * it the path by which others of this user and machine read it. `*goes_on`: an empty line has ended it. Returns a
 * descriptor for the caller to close; -1 with one line. */
int pods_keep_ticket(char path[PATH_MAX], bool *goes_on, struct error *error);

/* Asks a pod to leave its set, with what runs there finished. Returns an exit status, with one line unless it leaves.
 */
int pods_send_away(const struct set_place *set, unsigned rank, struct error *error);
