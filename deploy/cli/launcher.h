/* SPDX-License-Identifier: MIT */
/* Finds the launcher of MPI ranks: program, family and version.
 *
 * Its ranks need a carrier of its family (common/carrier), so the family is determined before anything is started. */
#pragma once

#include "common/carrier/family.h"
#include "common/util/error.h"

#include <limits.h>
#include <stdbool.h>

struct launcher {
    const char *program;    /* as the user would type it; borrowed, or a constant */
    enum mpi_family family; /* unknown for a program that does not tell, such as a script */
    unsigned major, minor, patch;
};

/* Parses the output of `PROGRAM --version`. Unknown and 0.0.0 if it tells neither. */
void launcher_parse_version(const char *text, struct launcher *launcher);

/* Chooses the launcher: `given`, or if NULL the first program on PATH for which there is a carrier, preferably the
 * default one. Fails if there is none, or no carrier for `given`. */
int launcher_choose(const char *given, struct launcher *launcher, struct error *error);

/* The launcher that needs no MPI. */
#define LAUNCHER_FORK "hdss-fork"

/* Chooses LAUNCHER_FORK, whose path is stored in `path`. */
int launcher_take_fork(struct launcher *launcher, char path[PATH_MAX], struct error *error);

/* Refuses to launch from within a rank: each of several ranks would start a run, and MPI launchers do not work within a
 * rank. */
int launcher_check_place(const struct launcher *launcher, struct error *error);

/* Family whose options the launcher understands: its own, or that of the default carrier if unknown. */
enum mpi_family launcher_words(const struct launcher *launcher);

/* For "Open MPI 4.1.4". */
#define LAUNCHER_NAME_MAX 64
void launcher_name(const struct launcher *launcher, char name[LAUNCHER_NAME_MAX]);
