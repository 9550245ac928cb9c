/* SPDX-License-Identifier: MIT */
/* Dialects put a line-up into the words of a launcher: one dialect for each family of launchers. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/compose.h"

#include <sys/types.h>

/* Sets a variable for the launcher and its ranks, and shows it in front of the line. */
typedef void variable_setter(const char *name, const char *value, void *context);

struct dialect {
    /* Checks whether the others can go on when a rank of this line-up dies. NULL: they never can. */
    bool (*survives)(const struct launch_plan *launch_plan);

    /* Checks whether the launcher can start the line-up once its ranks are dealt; -1 with one line. NULL: it always
     * can. */
    int (*check)(const struct launch_plan *launch_plan, struct error *error);

    /* Adds the options that stand before the first program. `hosts` has "NAME:RANKS,..." in the order of the ranks,
     * dealt in turn; NULL: the ranks run here. */
    void (*add_options)(const struct launch_plan *launch_plan, const char *hosts, struct argv *line);

    /* Adds the options of one program of the line, whose ranks are on these hosts: "NAME:RANKS,...". NULL: none. */
    void (*add_program_options)(const struct launch_plan *launch_plan, const char *hosts, struct argv *line);

    /* Sets what the launcher needs in its environment. NULL: nothing. */
    void (*set_environment)(const struct launch_plan *launch_plan, variable_setter *set, void *context);

    /* In the process that becomes the launcher: sets what the launcher and its ranks alone are to see, not the pods
     * that are started beside it. NULL: nothing. */
    void (*enter)(void);

    /* Removes the files on this machine that a launcher of that number, which has ended, has left: one that was
     * killed, or sent a second signal. NULL: it has none. */
    void (*clear)(pid_t launcher);

    /* Around a launch: keeps on this machine what launchers of several runs have in common, and lets it go. NULL: there
     * is nothing. */
    void (*keep)(const struct launch_plan *launch_plan);
    void (*let_go)(void);

    unsigned rank_depth; /* a rank on this machine is a child (1) or a grandchild (2) of the launcher */
};

extern const struct dialect openmpi_dialect, mpich_dialect, without_mpi_dialect;

/* The number in the names of the memory that ranks of version 5 share whose mpirun has that number. */
unsigned openmpi_job_number_5(const char *host, long launcher);

/* The dialect of the line-up's launcher; where the launcher does not say whose it is, that of the default carrier. */
const struct dialect *dialect_of(const struct launch_plan *launch_plan);

/* True if all ranks run on this machine, as far as can be known here: no other machine is named by the user, by the
 * environment of the launcher or by a batch system. */
bool launch_plan_is_here(const struct launch_plan *launch_plan);

/* True if the rank that leads runs on this machine. Where the machines are named to the launcher itself, nobody
 * knows. */
bool launch_plan_leads_here(const struct launch_plan *launch_plan);

/* True if the user tells the launcher of machines by options of its own. */
bool launch_plan_names_hosts(const struct launch_plan *launch_plan);
