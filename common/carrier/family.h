/* SPDX-License-Identifier: MIT */
/* Families of MPI libraries, and their carrier modules: see family.c. */
#pragma once

#include "common/util/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum mpi_family {
    MPI_FAMILY_UNKNOWN,
    MPI_FAMILY_OPENMPI,
    MPI_FAMILY_MPICH,
    MPI_FAMILY_SLURM, /* launches ranks of both */
    MPI_FAMILY_NONE,
};

/* The families before this one have carriers. */
enum { CARRIER_FAMILIES = MPI_FAMILY_SLURM };

enum { CARRIERS_TEXT_MAX = 120 };

const char *family_name(enum mpi_family family);

/* Finds the family's carrier module; `path` has PATH_MAX + NAME_MAX bytes. False if it is missing. */
bool family_find_carrier(enum mpi_family family, char *path);

/* True if there is a carrier for ranks of this launcher. For an unknown launcher, such as a script, any carrier
 * counts. */
bool family_is_carried(enum mpi_family family);

/* Chooses the library for an unknown launcher: the build's default, or else an installed carrier. False if there is
 * none. */
bool family_take_default(enum mpi_family *family);

/* Returns the version of the family's library at build time, as "4.1.4"; NULL if it was not found. */
const char *family_built_version(enum mpi_family family);

/* Lists the installed carriers, as "that of MPICH and that of Open MPI", or "none". */
void family_list_carriers(char text[CARRIERS_TEXT_MAX]);

/* Returns the name of the package with the carrier; for an unknown family the names of all. */
const char *family_package(enum mpi_family family);
