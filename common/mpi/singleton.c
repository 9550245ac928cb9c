/* SPDX-License-Identifier: MIT */
/* Recognises a rank that the launcher of another MPI library has started. The other library's launcher sets environment
 * variables that this MPI library does not read. So MPI_Init() makes each rank a world of its own. For example, srun
 * starts ranks of any library. */
#include "common/mpi/singleton.h"

#include "common/carrier/carrier.h"
#include "common/os/say.h"

#include <stdlib.h>

static const struct {
    const char *ranks, *rank;
} launches[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
    {"PMI_SIZE", "PMI_RANK"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
};

static long number_in_environment(const char *name)
{
    const char *text = getenv(name);
    return text != NULL ? strtol(text, NULL, 10) : 0;
}

bool singleton_speaks(void)
{
    for (size_t i = 0; i < sizeof launches / sizeof *launches; i++)
        if (getenv(launches[i].rank) != NULL)
            return number_in_environment(launches[i].rank) == 0;
    return true;
}

bool singleton_refuse(const char *program)
{
    for (size_t i = 0; i < sizeof launches / sizeof *launches; i++) {
        long ranks = number_in_environment(launches[i].ranks);
        if (ranks <= 1)
            continue;
        if (singleton_speaks())
            say(stderr,
                "hdss: %s is carried by %s, whose ranks this launcher cannot start (%s is %ld, yet each rank is "
                "alone): launch it by the launcher of that library, or by hdss run, which finds it",
                program, carrier->name, launches[i].ranks, ranks);
        return true;
    }
    return false;
}
