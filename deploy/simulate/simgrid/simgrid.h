/* SPDX-License-Identifier: MIT */
/* A job on SimGrid's simulated MPI: the same machines, driven by the runtime of real ranks, over a network with
 * contention. The same configuration as for the virtual cluster, and the same result: each is the other's check.
 *
 * What differs of the model: messages that share a link share its bandwidth; data of more than 64 KiB set out when they
 * are asked for, a latency later; what a worker receives while it computes it handles when that is over, but in a loop
 * with dependencies. */
#pragma once

#include "common/util/error.h"
#include "deploy/simulate/platforms/placement.h"
#include "deploy/simulate/platforms/platform.h"
#include "deploy/simulate/virtual/cluster.h"

struct simgrid_config {
    /* Gives the line-up, the job, the workers' speeds and the service times; borrowed. The network and the costs are
     * those below. Nothing is stored; of faults there are slowdowns and failures at a given time, and
     * loads are there from the start. */
    const struct virtual_config *run;
    const struct platform *platform;   /* borrowed */
    const struct placement *placement; /* places of the ranks; borrowed */
    const struct simgrid_file *file;   /* a SimGrid platform that `platform` was read from; NULL: none; borrowed */
    const struct costs *costs;         /* for the iterations on a core of speed 1; borrowed */
    const char *folder;                /* with the modules; borrowed */
};

/* A SimGrid platform file. Its hosts are nodes, in their order; a core of the first has speed 1. */
struct simgrid_file {
    const char *path; /* borrowed */
    char **hosts;     /* [count] their names; owned */
    size_t count, room;
    double flops_per_ns; /* speed of a core of the first */
};

/* Reads the hosts of a file, in a process of its own. The nodes and cores of the platform, its name and the service
 * times are set, as those of the described platform `cluster`; what is between the nodes SimGrid knows. -1 with one
 * line; to be released all the same. */
int simgrid_read_file(struct simgrid_file *file, const char *path, struct platform *platform, struct error *error);
void simgrid_file_fini(struct simgrid_file *file);

struct simgrid_job;

/* Runs it to its end. One process can do this once. NULL with one line where it cannot, or did not end in order; else
 * to be released, and `result` has what it came to (status, end_ns, events, supermaster). */
struct simgrid_job *simgrid_job_run(const struct simgrid_config *config, struct virtual_result *result,
                                    struct error *error);
/* Time for which the rank of the supermaster or of a master was busy with messages since the first chunk was
 * assigned. */
double simgrid_job_busy_s(const struct simgrid_job *job, unsigned rank);
void simgrid_job_free(struct simgrid_job *simulation);

/* --- xml.c --- */

/* Writes the used nodes of a platform as SimGrid reads it. -1 when that fails (errno). */
int simgrid_write_platform(const struct platform *platform, const struct placement *placement, const char *path);

/* Flops of a core of speed 1 there. */
#define SIMGRID_FLOPS_PER_NS 1.0
/* Name of the n-th used node there. */
#define SIMGRID_HOST_MAX 16
void simgrid_host_name(unsigned node, char name[SIMGRID_HOST_MAX]);
