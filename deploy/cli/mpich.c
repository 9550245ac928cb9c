/* SPDX-License-Identifier: MIT */
/* The dialect (dialect.h) of MPICH's mpiexec (Hydra).
 *
 * Without options Hydra binds no rank, and ranks may share cores. No rank survives the loss of another rank: MPICH 4.0
 * and 4.2 end the other ranks about a second later, even with -disable-auto-cleanup. */
#include "deploy/cli/dialect.h"

/* Hydra distributes ranks in turn, even if the hosts have different numbers of slots. */
static int mpich_check(const struct launch_plan *launch_plan, struct error *error)
{
    if (launch_plan->line_up.hosts.count == 0 ||
        hosts_deal_in_turn(&launch_plan->line_up.hosts, launch_plan->line_up.workers))
        return 0;
    return error_set(error,
                     "--hosts: MPICH's mpiexec puts as many ranks on each host; accepted with it: the same number "
                     "of cores for each, or --workers W that can be dealt out in turn");
}

static void mpich_add_options(const struct launch_plan *launch_plan, const char *hosts, struct argv *line)
{
    (void)launch_plan;
    if (hosts == NULL)
        return;
    argv_add(line, "-hosts");
    argv_add(line, hosts);
    argv_add_split(line, "-ppn 1");
}

const struct dialect mpich_dialect = {.check = mpich_check, .add_options = mpich_add_options, .rank_depth = 2};
