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
    MPI_FAMILY_SLURM,
    MPI_FAMILY_NONE,
};

enum { CARRIER_FAMILIES = MPI_FAMILY_SLURM };

enum { CARRIERS_TEXT_MAX = 120 };

const char *family_name(enum mpi_family family);

/* `path` has PATH_MAX + NAME_MAX bytes. Returns false if the module is missing. */
bool family_find_carrier(enum mpi_family family, char *path);

/* Is there a carrier for ranks of this launcher? For an unknown launcher, such as a script, any carrier counts. */
bool family_is_carried(enum mpi_family family);

/* Chooses the library for an unknown launcher: the build's default, otherwise an installed carrier. Returns false if
 * there is none. */
bool family_take_default(enum mpi_family *family);

/* Returns the version of the family's library at build time, such as "4.1.4"; NULL if it was not found. */
const char *family_built_version(enum mpi_family family);

void family_list_carriers(char text[CARRIERS_TEXT_MAX]);

/* For an unknown family, returns the names of all such packages. */
const char *family_package(enum mpi_family family);
