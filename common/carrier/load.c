/* SPDX-License-Identifier: MIT */
/* Loads the carrier of the MPI library whose launcher started this process. The environment shows which launcher that
 * was. A process without a launcher is a launch of one rank, and uses the default library. */
#include "common/carrier/load.h"

#include "common/carrier/carrier.h"
#include "common/carrier/family.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

const struct carrier *carrier;

/* Environment variables that launchers set for ranks. A launcher with `serves_others`, such as srun, can start ranks of
 * several MPI libraries. If the carrier of its library in this table is missing, the default carrier is tried. */
static const struct {
    const char *variable, *launcher;
    enum mpi_family family;
    bool serves_others;
} launches[] = {
    {"OMPI_COMM_WORLD_SIZE", "Open MPI", MPI_FAMILY_OPENMPI, false},
    {"MPI_LOCALNRANKS", "MPICH", MPI_FAMILY_MPICH, false},
    {"PMIX_RANK", "PMIx", MPI_FAMILY_OPENMPI, true},
    {"PMI_RANK", "PMI", MPI_FAMILY_MPICH, true},
    {"PMI_SIZE", "PMI", MPI_FAMILY_MPICH, true},
    {"SLURM_STEP_ID", "Slurm", MPI_FAMILY_UNKNOWN, true},
};

enum { LAUNCHES = sizeof launches / sizeof *launches };

static size_t find_launch(void)
{
    size_t i = 0;
    while (i < LAUNCHES && getenv(launches[i].variable) == NULL)
        i++;
    return i;
}

static int refuse(const char *program, size_t launch, struct error *error)
{
    char carriers[CARRIERS_TEXT_MAX];
    family_list_carriers(carriers);
    if (launch == LAUNCHES)
        return error_set(error,
                         "%s was not started by hdss run, and this HDSS has no carrier: install %s, or type hdss "
                         "run, which needs no MPI on one machine",
                         program, family_package(MPI_FAMILY_UNKNOWN));
    return error_set(error,
                     "%s is a rank of %s (%s is set), for which this HDSS has no carrier (there is %s): install %s, or "
                     "launch it by hdss run, which finds a launcher",
                     program, launches[launch].launcher, launches[launch].variable, carriers,
                     family_package(launches[launch].family));
}

/* Modules of Open MPI need the symbols of its library in the global scope. */
static int open_carrier(const char *path, struct error *error)
{
    void *module = dlopen(path, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
    const struct carrier *table = module != NULL ? dlsym(module, CARRIER_SYMBOL) : NULL;
    if (table == NULL)
        return error_set(error, "the carrier %.200s cannot be loaded: %.200s", path, dlerror());
    if (table->version != CARRIER_VERSION)
        return error_set(error,
                         "%.200s is of another version of HDSS (its table is %u, here it is %u): install both of one",
                         path, table->version, CARRIER_VERSION);
    carrier = table;
    return 0;
}

static bool find_carrier(size_t launch, char *path)
{
    enum mpi_family family = MPI_FAMILY_UNKNOWN;
    if (launch < LAUNCHES && launches[launch].family != MPI_FAMILY_UNKNOWN &&
        family_find_carrier(launches[launch].family, path))
        return true;
    if (launch < LAUNCHES && !launches[launch].serves_others)
        return family_find_carrier(MPI_FAMILY_UNKNOWN, path);
    return family_take_default(&family) && family_find_carrier(family, path);
}

int carrier_load(const char *program, struct error *error)
{
    char path[PATH_MAX + NAME_MAX];
    const size_t launch = find_launch();
    return find_carrier(launch, path) ? open_carrier(path, error) : refuse(program, launch, error);
}
