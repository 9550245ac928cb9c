/* SPDX-License-Identifier: MIT */
/* Chooses the dialect, and answers questions about a launch plan: see dialect.h. */
#include "deploy/cli/dialect.h"

#include <stdlib.h>

const struct dialect *dialect_of(const struct launch_plan *launch_plan)
{
    const enum mpi_family family = launcher_words(&launch_plan->start.launcher);
    if (family == MPI_FAMILY_NONE)
        return &without_mpi_dialect;
    return family == MPI_FAMILY_MPICH ? &mpich_dialect : &openmpi_dialect;
}

bool launch_plan_names_hosts(const struct launch_plan *launch_plan)
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
        if (argv_contain(&launch_plan->start.mpi_args, options[i]))
            return true;
    return false;
}

bool launch_plan_is_here(const struct launch_plan *launch_plan)
{
    static const char *const variables[] = {"PE_HOSTFILE", "OMPI_MCA_orte_default_hostfile",
                                            "PRTE_MCA_prte_default_hostfile", "HYDRA_HOST_FILE"};
    if (launch_plan->line_up.hosts.count > 0)
        return launch_plan->line_up.hosts.count == 1 && host_is_here(launch_plan->line_up.hosts.items[0].name);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i]) != NULL)
            return false;
    return !launch_plan_names_hosts(launch_plan);
}

bool launch_plan_leads_here(const struct launch_plan *launch_plan)
{
    return launch_plan->line_up.hosts.count > 0 ? host_is_here(launch_plan->line_up.hosts.items[0].name)
                                                : launch_plan_is_here(launch_plan);
}
