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
    const char *program;
    enum mpi_family family;
    unsigned major, minor, patch;
};

/* Parses the output of `PROGRAM --version`. Family and version stay unknown (0.0.0) if the output does not have
 * them. */
void launcher_parse_version(const char *text, struct launcher *launcher);

/* Chooses `given` or, if that is NULL, the first usual launcher on PATH that has a carrier. Launchers of the default
 * family come first. Fails if there is none, or if there is no carrier for `given`. */
int launcher_choose(const char *given, struct launcher *launcher, struct error *error);

#define LAUNCHER_FORK "hdss-fork"

/* Chooses LAUNCHER_FORK. `path` gets the path of hdss-fork, and must outlive `launcher`. */
int launcher_take_fork(struct launcher *launcher, char path[PATH_MAX], struct error *error);

/* Fails if this process is a rank of an MPI launch: each rank would start a run, and MPI launchers do not work there.
 * Exception: the only rank of a launch may start a launch without MPI. */
int launcher_check_place(const struct launcher *launcher, struct error *error);

/* The family whose options the launcher understands: its own family or, if that is unknown, the family of the default
 * carrier. */
enum mpi_family launcher_words(const struct launcher *launcher);

#define LAUNCHER_NAME_MAX 64
void launcher_name(const struct launcher *launcher, char name[LAUNCHER_NAME_MAX]);
