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

/* Returns true if a carrier is installed for ranks that this launcher starts. If the launcher is unknown (for example a
 * script), any installed carrier is enough. */
bool family_is_carried(enum mpi_family family);

/* Chooses the library if the launcher is unknown: the build's default library if its carrier is installed, otherwise
 * another library whose carrier is installed. Returns false if no carrier is installed. */
bool family_take_default(enum mpi_family *family);

/* Returns the version that the family's library had at build time, such as "4.1.4". Returns NULL if the library was not
 * found then. */
const char *family_built_version(enum mpi_family family);

void family_list_carriers(char text[CARRIERS_TEXT_MAX]);

/* Returns the name of the package that has the family's carrier. For MPI_FAMILY_UNKNOWN, returns the names of all
 * packages with carriers. */
const char *family_package(enum mpi_family family);
