/* Open MPI's way to let survivors go on: see openmpi.h.
 *
 * Measured with 4.1.4: without these two options mpirun kills all ranks about a second after one has died; with the
 * first alone it ends the run when a whole node is lost; with both it never returns after a loss on several nodes.
 * vigil.h ends it then, for which the supermaster must be on this machine: where it may not be, they are left out. */
#include "deploy/cli/openmpi.h"
#include "deploy/cli/capture.h"

#include <stdio.h>
#include <stdlib.h>

#define SURVIVING_MAJOR 4

static unsigned major_version(const char *mpirun)
{
    char option[] = "--version", text[80];
    char *argv[] = {(char *)mpirun, option, NULL};
    unsigned major = 0;
    capture(argv, text, sizeof text);
    return sscanf(text, "mpirun (Open MPI) %u.", &major) == 1 ? major : 0;
}

bool openmpi_is_told_hosts(const struct lineup *lineup)
{
    static const char *const options[] = {"-H",
                                          "-host",
                                          "--host",
                                          "-hostfile",
                                          "--hostfile",
                                          "-machinefile",
                                          "--machinefile",
                                          "-default-hostfile",
                                          "--default-hostfile",
                                          "orte_default_hostfile"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (words_contain(&lineup->mpi_args, options[i]))
            return true;
    return false;
}

/* Where we know no hosts mpirun may have been told of other machines by its own options or by a batch system: then
 * nobody knows here where the supermaster is. */
static bool may_be_elsewhere(const struct lineup *lineup)
{
    if (lineup->hosts.count > 0)
        return !host_is_here(lineup->hosts.items[0].name);
    return openmpi_is_told_hosts(lineup) || getenv("PE_HOSTFILE") != NULL ||
           getenv("OMPI_MCA_orte_default_hostfile") != NULL;
}

bool openmpi_survives(const struct lineup *lineup)
{
    return lineup->flat.count == 0 && !may_be_elsewhere(lineup) &&
           !words_contain(&lineup->mpi_args, "--disable-recovery") && major_version(lineup->mpirun) == SURVIVING_MAJOR;
}

void openmpi_add_survival(const struct lineup *lineup, struct words *line)
{
    if (!lineup->survives)
        return;
    words_add_split(line, "--mca orte_abort_on_non_zero_status 0 --enable-recovery");
}
