/* SPDX-License-Identifier: MIT */
/* The words that hdss-fork is given (deploy/fork), which starts a pod's ranks on this machine without MPI: see
 * dialect.h. Ranks may die, and nothing is left of it: the memory that they share has no name. */
#include "common/mpi/lanes.h"
#include "deploy/cli/dialect.h"

static bool without_mpi_survives(const struct launch_plan *launch_plan)
{
    (void)launch_plan;
    return true;
}

static int without_mpi_check(const struct launch_plan *launch_plan, struct error *error)
{
    if (launch_plan->start.mpi_args.count > 0)
        return error_set(error, "--mpi-args: there is no mpirun with --launcher none; accepted: without --mpi-args");
    if (!launch_plan_is_here(launch_plan))
        return error_set(error, "--launcher none starts ranks on this machine alone; accepted: without other hosts, or "
                                "with --launcher mpi");
    if (launch_plan->line_up.workers >= LANES_RANKS_MAX)
        return error_set(error, "--workers %u: accepted with --launcher none: an integer from 1 to %d",
                         launch_plan->line_up.workers, LANES_RANKS_MAX - 1);
    return 0;
}

static void without_mpi_add_options(const struct launch_plan *launch_plan, const char *hosts, struct argv *line)
{
    (void)launch_plan, (void)hosts, (void)line;
}

const struct dialect without_mpi_dialect = {.survives = without_mpi_survives,
                                            .check = without_mpi_check,
                                            .add_options = without_mpi_add_options,
                                            .rank_depth = 1};
