/* SPDX-License-Identifier: MIT */
/* The dialect (dialect.h) of hdss-fork (deploy/fork), which starts ranks on this machine without MPI. Ranks survive the
 * loss of another one. hdss-fork leaves no files: the shared memory has no name. */
#include "common/mpi/lanes.h"
#include "common/os/modules.h"
#include "deploy/cli/dialect.h"

static bool without_mpi_survives(const struct launch_plan *launch_plan)
{
    (void)launch_plan;
    return true;
}

static int without_mpi_check(const struct launch_plan *launch_plan, struct error *error)
{
    const unsigned ranks =
        (launch_plan->request.dca.count == 0) + launch_plan->line_up.workers + launch_plan->line_up.masters;
    if (!launch_plan_is_here(launch_plan))
        return error_set(error, "--carrier local starts ranks on this machine alone; accepted: without other hosts, or "
                                "with --carrier mpi");
    if (ranks > LANES_RANKS_MAX)
        return error_set(error, "--carrier local: %u processes in all; accepted: %d, or --carrier mpi", ranks,
                         LANES_RANKS_MAX);
    const char *limit = lanes_limit(ranks);
    if (limit != NULL)
        return error_set(error,
                         "--carrier local: %s allows too little for the memory that %u processes share; accepted: %s",
                         limit, ranks, lanes_limit(2) != NULL ? "more" : "more, fewer workers, or --carrier mpi");
    return 0;
}

static void without_mpi_add_options(const struct launch_plan *launch_plan, const char *hosts, struct argv *line)
{
    (void)launch_plan, (void)hosts;
    if (program_word(LAUNCHER_FORK) != NULL)
        argv_add(line, LAUNCHER_FORK);
}

const struct dialect without_mpi_dialect = {.survives = without_mpi_survives,
                                            .check = without_mpi_check,
                                            .add_options = without_mpi_add_options,
                                            .rank_depth = 1};
