/* SPDX-License-Identifier: MIT */
/* A dialect: how the command line of a family of launchers is written. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/compose.h"

#include <sys/types.h>

/* Sets an environment variable for the launcher and its ranks, and prints it before the launch line. */
typedef void variable_setter(const char *name, const char *value, void *context);

struct dialect {
    /* True if the other ranks survive the loss of a rank. NULL: they never survive it. */
    bool (*survives)(const struct launch_plan *launch_plan);

    /* Fails if the launcher cannot start the plan. The ranks must have been distributed over the hosts. NULL: the
     * launcher can start every plan. */
    int (*check)(const struct launch_plan *launch_plan, struct error *error);

    /* Adds the options that precede the first program. `hosts`: "NAME:RANKS,..."; the ranks are distributed over these
     * hosts in turn. NULL: all ranks are on this machine. */
    void (*add_options)(const struct launch_plan *launch_plan, const char *hosts, struct argv *line);

    /* Adds the options of a program whose ranks are on these hosts, "NAME:RANKS,...". NULL: there are no such
     * options. */
    void (*add_program_options)(const struct launch_plan *launch_plan, const char *hosts, struct argv *line);

    void (*set_environment)(const struct launch_plan *launch_plan, variable_setter *set, void *context);

    /* Called in the process that becomes the launcher. Sets variables for the launcher and its ranks. Pods, which are
     * started beside the launcher, do not get these variables. NULL: there is nothing to set. */
    void (*enter)(void);

    /* Removes the files that a killed launcher with this process ID has left on this machine. NULL: such a launcher
     * leaves no files. */
    void (*clear)(pid_t launcher);

    /* keep() must be called before a launch, and let_go() after it. In between, files that launchers of several runs
     * share on this machine are not removed. NULL: there are no such files. */
    void (*keep)(const struct launch_plan *launch_plan);
    void (*let_go)(void);

    unsigned rank_depth; /* on this machine ranks are children (1) or grandchildren (2) of the launcher */
};

extern const struct dialect openmpi_dialect, mpich_dialect, without_mpi_dialect;

/* Open MPI 5 puts this number into the names of the shared memory of its ranks. It depends on the process ID of
 * mpirun. */
unsigned openmpi_job_number_5(const char *host, long launcher);

const struct dialect *dialect_of(const struct launch_plan *launch_plan);

/* True if all ranks run on this machine: neither the user nor the launcher's environment nor the batch system names
 * another machine. */
bool launch_plan_is_here(const struct launch_plan *launch_plan);

/* True if the leading rank runs on this machine. If only the launcher knows on which machine the rank runs, returns
 * false. */
bool launch_plan_leads_here(const struct launch_plan *launch_plan);

bool launch_plan_names_hosts(const struct launch_plan *launch_plan);
