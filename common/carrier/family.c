/* SPDX-License-Identifier: MIT */
/* Names, modules and packages of MPI libraries. Each carrier is a module, so one build of HDSS works with every library
 * and without any. */
#include "common/carrier/family.h"

#include "common/os/modules.h"

#include <stdio.h>
#include <string.h>

/* Meson defines these macros: the default library, and the versions of the libraries that it found. */
#ifndef DEFAULT_FAMILY
#define DEFAULT_FAMILY MPI_FAMILY_UNKNOWN
#endif
#ifndef BUILT_OPENMPI
#define BUILT_OPENMPI NULL
#endif
#ifndef BUILT_MPICH
#define BUILT_MPICH NULL
#endif

static const struct {
    const char *name, *module, *package, *version;
} families[] = {
    [MPI_FAMILY_UNKNOWN] = {"another MPI library", "carrier-mpi.so", "hdss-openmpi or hdss-mpich", NULL},
    [MPI_FAMILY_OPENMPI] = {"Open MPI", "carrier-openmpi.so", "hdss-openmpi", BUILT_OPENMPI},
    [MPI_FAMILY_MPICH] = {"MPICH", "carrier-mpich.so", "hdss-mpich", BUILT_MPICH},
    [MPI_FAMILY_SLURM] = {"Slurm", NULL, "hdss-openmpi or hdss-mpich", NULL},
    [MPI_FAMILY_NONE] = {"HDSS, without MPI", NULL, "", NULL},
};

const char *family_name(enum mpi_family family)
{
    return families[family].name;
}

const char *family_package(enum mpi_family family)
{
    return families[family].package;
}

const char *family_built_version(enum mpi_family family)
{
    return families[family].version;
}

bool family_find_carrier(enum mpi_family family, char *path)
{
    char folder[PATH_MAX];
    if (families[family].module == NULL || modules_find_own(families[family].module, folder, NULL) < 0)
        return false;
    sprintf(path, "%s/%s", folder, families[family].module);
    return true;
}

static bool has_carrier(enum mpi_family family)
{
    char path[PATH_MAX + NAME_MAX];
    return family_find_carrier(family, path);
}

bool family_is_carried(enum mpi_family family)
{
    enum mpi_family any;
    if (family == MPI_FAMILY_UNKNOWN)
        return family_take_default(&any);
    return has_carrier(family) || (family != MPI_FAMILY_SLURM && has_carrier(MPI_FAMILY_UNKNOWN));
}

bool family_take_default(enum mpi_family *family)
{
    static const enum mpi_family order[] = {DEFAULT_FAMILY, MPI_FAMILY_OPENMPI, MPI_FAMILY_MPICH, MPI_FAMILY_UNKNOWN};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (has_carrier(order[i])) {
            *family = order[i];
            return true;
        }
    return false;
}

void family_list_carriers(char text[CARRIERS_TEXT_MAX])
{
    int length = 0;
    for (int i = CARRIER_FAMILIES - 1; i >= 0; i--)
        if (has_carrier((enum mpi_family)i))
            length += snprintf(text + length, (size_t)(CARRIERS_TEXT_MAX - length), "%s%s",
                               length == 0 ? "that of " : " and that of ", families[i].name);
    if (length == 0)
        strcpy(text, "none");
}
