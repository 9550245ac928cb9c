/* SPDX-License-Identifier: MIT */
/* The families of MPI libraries, and the modules in which HDSS has a carrier for each: see family.c. */
#pragma once

#include "common/util/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum mpi_family {
    MPI_FAMILY_UNKNOWN,
    MPI_FAMILY_OPENMPI,
    MPI_FAMILY_MPICH,
    MPI_FAMILY_SLURM, /* the launcher of ranks of either */
    MPI_FAMILY_NONE,  /* without MPI */
};

/* Families whose libraries have carriers are those before this one; that of another library is MPI_FAMILY_UNKNOWN. */
enum { CARRIER_FAMILIES = MPI_FAMILY_SLURM };

/* Room for a list of carriers. */
enum { CARRIERS_TEXT_MAX = 120 };

/* "Open MPI" */
const char *family_name(enum mpi_family family);

/* Finds the module of the family's carrier, whose path has room for PATH_MAX + NAME_MAX. False where it is not there.
 */
bool family_find_carrier(enum mpi_family family, char *path);

/* True if there is a carrier for the ranks of such a launcher. For an unknown launcher, such as a script, any carrier
 * will do. */
bool family_is_carried(enum mpi_family family);

/* Chooses the library for a rank if its launcher does not say which: the one that the build found first, or, if its
 * carrier is not installed, another one. False if no carrier is installed. */
bool family_take_default(enum mpi_family *family);

/* The version, as "4.1.4", that the build found of the family's library; NULL: none. */
const char *family_built_version(enum mpi_family family);

/* Lists the carriers that are installed: "that of MPICH and that of Open MPI", or "none". */
void family_list_carriers(char text[CARRIERS_TEXT_MAX]);

/* The name of the package that has the carrier; for an unknown family the names of all. */
const char *family_package(enum mpi_family family);
