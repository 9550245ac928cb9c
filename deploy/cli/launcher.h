/* SPDX-License-Identifier: MIT */
/* The launcher of MPI ranks: which program it is, whose, and of which version.
 *
 * The ranks that it starts need a carrier of its own family (common/carrier). So the family is asked for before
 * anything is started. */
#pragma once

#include "common/carrier/family.h"
#include "common/util/error.h"

#include <limits.h>
#include <stdbool.h>

struct launcher {
    const char *program;    /* to be executed, as the user would type it; borrowed, or a constant */
    enum mpi_family family; /* unknown: a program that does not say, such as a user's script */
    unsigned major, minor, patch;
};

/* Takes family and version from what `PROGRAM --version` prints. Unknown and 0.0.0 where the text tells neither. */
void launcher_parse_version(const char *text, struct launcher *launcher);

/* The launcher to use: `given`, or where that is NULL the first program on PATH for whose ranks there is a carrier, of
 * the default one if any is. -1 with one line where there is none, or there is no carrier for `given`. */
int launcher_choose(const char *given, struct launcher *launcher, struct error *error);

/* The launcher without MPI. */
#define LAUNCHER_FORK "hdss-fork"

/* Takes LAUNCHER_FORK, whose path is written to `path`. -1 with one line. */
int launcher_take_fork(struct launcher *launcher, char path[PATH_MAX], struct error *error);

/* Refuses to launch from within a rank: one of several ranks would launch one run each, and a launcher of MPI cannot be
 * called in any rank. -1 with one line. */
int launcher_check_place(const struct launcher *launcher, struct error *error);

/* The family whose command line the launcher understands: that of the default carrier if the launcher does not say. */
enum mpi_family launcher_words(const struct launcher *launcher);

/* Name and version, as in "Open MPI 4.1.4". */
#define LAUNCHER_NAME_MAX 64
void launcher_name(const struct launcher *launcher, char name[LAUNCHER_NAME_MAX]);
