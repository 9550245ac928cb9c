/* SPDX-License-Identifier: MIT */
/* A dialect is the command line of a family of launchers. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/compose.h"

#include <sys/types.h>

/* Sets an environment variable for the launcher and its ranks, and shows it with the line. */
typedef void variable_setter(const char *name, const char *value, void *context);

struct dialect {
    /* True if the other ranks survive the loss of one. NULL: never. */
    bool (*survives)(const struct launch_plan *launch_plan);

    /* Checks that the launcher can start the plan, after its ranks were dealt. NULL: always. */
    int (*check)(const struct launch_plan *launch_plan, struct error *error);

    /* Adds the options before the first program. `hosts`: "NAME:RANKS,..." in the order of the ranks, which are dealt
     * in turn; NULL: this machine. */
    void (*add_options)(const struct launch_plan *launch_plan, const char *hosts, struct argv *line);

    /* Adds the options of a program whose ranks run on these hosts: "NAME:RANKS,...". NULL: none. */
    void (*add_program_options)(const struct launch_plan *launch_plan, const char *hosts, struct argv *line);

    /* Sets the launcher's environment. NULL: nothing. */
    void (*set_environment)(const struct launch_plan *launch_plan, variable_setter *set, void *context);

    /* Called in the process that becomes the launcher: sets what the launcher and its ranks need, but pods started
     * beside it do not. NULL: nothing. */
    void (*enter)(void);

    /* Removes files that a killed launcher with this process ID has left on this machine. NULL: it leaves none. */
    void (*clear)(pid_t launcher);

    /* Called before and after a launch: protects files that launchers of several runs share on this machine. NULL:
     * there are none. */
    void (*keep)(const struct launch_plan *launch_plan);
    void (*let_go)(void);

    unsigned rank_depth; /* ranks on this machine are children (1) or grandchildren (2) of the launcher */
};

extern const struct dialect openmpi_dialect, mpich_dialect, without_mpi_dialect;

/* Number in the names of the shared memory of ranks under version 5, from the process ID of their mpirun. */
unsigned openmpi_job_number_5(const char *host, long launcher);

/* Dialect of the plan's launcher; if its family is unknown, that of the default carrier. */
const struct dialect *dialect_of(const struct launch_plan *launch_plan);

/* True if all ranks run on this machine: neither the user, the launcher's environment nor a batch system names another
 * one. */
bool launch_plan_is_here(const struct launch_plan *launch_plan);

/* True if the leading rank runs on this machine. Unknown, so false, if the launcher itself is told the machines. */
bool launch_plan_leads_here(const struct launch_plan *launch_plan);

/* True if the user names machines by options of the launcher. */
bool launch_plan_names_hosts(const struct launch_plan *launch_plan);
