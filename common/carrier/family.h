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

/* True where the ranks of such a launcher have a carrier. Those of an unknown one, such as a script, have where there
 * is any. */
bool family_is_carried(enum mpi_family family);

/* The library that carries a rank which no launcher of a certain library has started: that which the build took first,
 * or another one where that is not there. False where there is none. */
bool family_take_default(enum mpi_family *family);

/* The version, as "4.1.4", that the build found of the family's library; NULL: none. */
const char *family_built_version(enum mpi_family family);

/* Lists the carriers that are there: "those of Open MPI and MPICH", or "none". */
void family_list_carriers(char text[CARRIERS_TEXT_MAX]);

/* The name of the package of the carrier; of an unknown family those of all. */
const char *family_package(enum mpi_family family);
