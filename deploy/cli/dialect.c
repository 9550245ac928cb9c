/* SPDX-License-Identifier: MIT */
/* Choosing a dialect, and what all of them ask of a line-up: see dialect.h. */
#include "deploy/cli/dialect.h"

#include <stdlib.h>

const struct dialect *dialect_of(const struct lineup *lineup)
{
    enum mpi_family family = lineup->launcher.family != MPI_FAMILY_UNKNOWN ? lineup->launcher.family : LINKED_FAMILY;
    return family == MPI_FAMILY_MPICH ? &mpich_dialect : &openmpi_dialect;
}

bool lineup_names_hosts(const struct lineup *lineup)
{
    static const char *const options[] = {"-H",
                                          "-host",
                                          "--host",
                                          "-hosts",
                                          "-f",
                                          "-hostfile",
                                          "--hostfile",
                                          "-machinefile",
                                          "--machinefile",
                                          "-default-hostfile",
                                          "--default-hostfile",
                                          "orte_default_hostfile",
                                          "prte_default_hostfile"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (words_contain(&lineup->mpi_args, options[i]))
            return true;
    return false;
}

bool lineup_is_here(const struct lineup *lineup)
{
    static const char *const variables[] = {"PE_HOSTFILE", "OMPI_MCA_orte_default_hostfile",
                                            "PRTE_MCA_prte_default_hostfile", "HYDRA_HOST_FILE"};
    if (lineup->hosts.count > 0)
        return lineup->hosts.count == 1 && host_is_here(lineup->hosts.items[0].name);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i]) != NULL)
            return false;
    return !lineup_names_hosts(lineup);
}

bool lineup_leads_here(const struct lineup *lineup)
{
    return lineup->hosts.count > 0 ? host_is_here(lineup->hosts.items[0].name) : lineup_is_here(lineup);
}
