/* SPDX-License-Identifier: MIT */
/* The launcher of MPI ranks: which program it is, whose, and of which version.
 *
 * A launcher starts only ranks that are linked with an MPI library of its own family; with another one each rank takes
 * itself for the only one. So the family is asked for before anything is started. */
#pragma once

#include "common/util/error.h"

#include <limits.h>
#include <stdbool.h>

enum mpi_family {
    MPI_FAMILY_UNKNOWN,
    MPI_FAMILY_OPENMPI,
    MPI_FAMILY_MPICH,
    MPI_FAMILY_SLURM,
    MPI_FAMILY_NONE, /* hdss-fork, which starts ranks without MPI */
};

/* Meson tells the family and the version of the library that the ranks are linked with, where it is one of these. */
#ifndef LINKED_FAMILY
#define LINKED_FAMILY  MPI_FAMILY_UNKNOWN
#define LINKED_VERSION "of an unknown version"
#endif

struct launcher {
    const char *program;    /* to be executed, as the user would type it; borrowed, or a constant */
    enum mpi_family family; /* unknown: a program that does not say, such as a user's script */
    unsigned major, minor, patch;
};

/* Takes family and version from what `PROGRAM --version` prints. Unknown and 0.0.0 where the text tells neither. */
void launcher_parse_version(const char *text, struct launcher *launcher);

/* The launcher to use: `given`, or where that is NULL the first program on PATH that fits the MPI library which the
 * ranks are linked with. -1 with one line where there is none, or `given` is of another family. */
int launcher_choose(const char *given, struct launcher *launcher, struct error *error);

/* Takes hdss-fork, the launcher without MPI, whose path is written to `path`. -1 with one line. */
int launcher_take_fork(struct launcher *launcher, char path[PATH_MAX], struct error *error);

/* Refuses to launch from within one of several ranks, where each would launch a run of its own; and by a launcher of
 * MPI from within any. -1 with one line. */
int launcher_check_place(const struct launcher *launcher, struct error *error);

/* Name and version, as in "Open MPI 4.1.4". */
#define LAUNCHER_NAME_MAX 64
void launcher_name(const struct launcher *launcher, char name[LAUNCHER_NAME_MAX]);
