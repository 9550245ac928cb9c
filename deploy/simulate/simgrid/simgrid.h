/* SPDX-License-Identifier: MIT */
/* A job on SimGrid's simulated MPI: the same machines, driven by the runtime of real ranks, over a network with
 * contention. Configuration and result are those of the virtual cluster, so that each can verify the other.
 *
 * Differences of the model: messages that share a link share its bandwidth; data of more than 64 KiB depart on request,
 * one latency later; a worker handles messages that arrive while it computes afterwards, except in loops with
 * dependencies. */
#pragma once

#include "common/util/error.h"
#include "deploy/simulate/platforms/placement.h"
#include "deploy/simulate/platforms/platform.h"
#include "deploy/simulate/virtual/cluster.h"

struct simgrid_config {
    /* Line-up, job, speeds of workers and service times; borrowed. Network and costs are replaced by those below.
     * Nothing is stored; only slowdowns and failures at a given time are supported as faults, and loads from the
     * start. */
    const struct virtual_config *run;
    const struct platform *platform;   /* borrowed */
    const struct placement *placement; /* of the ranks; borrowed */
    const struct simgrid_file *file;   /* source of `platform`; NULL: none; borrowed */
    const struct costs *costs;         /* of the iterations on a core of speed 1; borrowed */
    const char *folder;                /* of the modules; borrowed */
};

/* A SimGrid platform file. Its hosts are nodes, in order; a core of the first one has speed 1. */
struct simgrid_file {
    const char *path; /* borrowed */
    char **hosts;     /* [count] names; owned */
    size_t count, room;
    double flops_per_ns; /* of a core of the first host */
};

/* Reads the hosts of a file in another process. Sets nodes, cores and name of the platform, with the service times of
 * the built-in `cluster`; SimGrid knows the network. Must be freed in any case. */
int simgrid_read_file(struct simgrid_file *file, const char *path, struct platform *platform, struct error *error);
void simgrid_file_fini(struct simgrid_file *file);

struct simgrid_job;

/* Runs the job; only once per process. NULL if it cannot run or did not end in order; otherwise to be freed, with
 * status, end_ns, events and supermaster in `result`. */
struct simgrid_job *simgrid_job_run(const struct simgrid_config *config, struct virtual_result *result,
                                    struct error *error);
/* Busy time for messages of the supermaster or a master since the first assignment. */
double simgrid_job_busy_s(const struct simgrid_job *job, unsigned rank);
void simgrid_job_free(struct simgrid_job *simulation);

/* Writes the used nodes of a platform in SimGrid's format. -1 with errno. */
int simgrid_write_platform(const struct platform *platform, const struct placement *placement, const char *path);

/* Flops per ns of a core of speed 1 there. */
#define SIMGRID_FLOPS_PER_NS 1.0
/* Name of used node n there. */
#define SIMGRID_HOST_MAX 16
void simgrid_host_name(unsigned node, char name[SIMGRID_HOST_MAX]);
