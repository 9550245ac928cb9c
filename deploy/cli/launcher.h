/* SPDX-License-Identifier: MIT */
/* Finds the launcher of MPI ranks, its family and its version.
 *
 * Ranks need a carrier for the launcher's family (common/carrier), so the family must be known before anything is
 * started. */
#pragma once

#include "common/carrier/family.h"
#include "common/util/error.h"

#include <limits.h>
#include <stdbool.h>

struct launcher {
    const char *program;    /* as the user would type it */
    enum mpi_family family; /* unknown if the program does not tell, such as a script */
    unsigned major, minor, patch;
};

/* Parses the output of `PROGRAM --version`. The family is unknown, and the version 0.0.0, if it does not tell. */
void launcher_parse_version(const char *text, struct launcher *launcher);

/* Chooses `given` or, if that is NULL, the first program on PATH for which there is a carrier, preferably the
 * default one. Fails if there is none, or if `given` has no carrier. */
int launcher_choose(const char *given, struct launcher *launcher, struct error *error);

#define LAUNCHER_FORK "hdss-fork"

/* `path` gets the path of LAUNCHER_FORK, which is chosen. */
int launcher_take_fork(struct launcher *launcher, char path[PATH_MAX], struct error *error);

/* Fails within a rank: several ranks would each start a run, and MPI launchers do not work within a rank. */
int launcher_check_place(const struct launcher *launcher, struct error *error);

/* The family whose options the launcher understands: its own or, if that is unknown, the family of the default
 * carrier. */
enum mpi_family launcher_words(const struct launcher *launcher);

#define LAUNCHER_NAME_MAX 64
void launcher_name(const struct launcher *launcher, char name[LAUNCHER_NAME_MAX]);
