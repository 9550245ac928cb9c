/* SPDX-License-Identifier: MIT */
/* A job on SimGrid's simulated MPI. As in a real run, the runtime drives the machines of the ranks; here over a network
 * with contention. Configuration and result have the types of the virtual cluster, so that results of both can be
 * compared.
 *
 * Differences from the model of the virtual cluster: messages on the same link share its bandwidth. Data of more than
 * 64 KiB depart one latency later, after the receiver has asked for them. A worker may handle a message from the last 4
 * ms of a chunk only at the end of the chunk; this is not so in loops with dependencies. */
#pragma once

#include "common/util/error.h"
#include "deploy/simulate/platforms/placement.h"
#include "deploy/simulate/platforms/platform.h"
#include "deploy/simulate/virtual/cluster.h"

struct simgrid_config {
    /* Pointers are borrowed. `run` gives the ranks, the job, the speeds of workers and the service times. `platform`
     * replaces the network of `run`, and `costs` the costs of `run`. No results are stored. Faults must be slowdowns,
     * or failures at a given time. Loads must exist from the start. */
    const struct virtual_config *run;
    const struct platform *platform;
    const struct placement *placement;
    const struct simgrid_file *file;
    const struct costs *costs;
    const char *folder;
};

/* A SimGrid platform file. The hosts of the file are the nodes, in the same order. A core of the first host has speed
 * 1. */
struct simgrid_file {
    const char *path;
    char **hosts;
    size_t count, room;
    double flops_per_ns;
};

/* Reads the hosts of a platform file in another process. Sets the nodes, the cores and the name of the platform. Also
 * sets its service times to those of the built-in platform `cluster`. Does not read the network, because SimGrid itself
 * reads it. `file` must be freed also on failure. */
int simgrid_read_file(struct simgrid_file *file, const char *path, struct platform *platform, struct error *error);
void simgrid_file_fini(struct simgrid_file *file);

struct simgrid_job;

/* Runs the job. Can be called only once per process. Sets status, end_ns, events and supermaster of `result`; the
 * returned job owns the supermaster. Returns NULL if the job could not run or did not end in order. */
struct simgrid_job *simgrid_job_run(const struct simgrid_config *config, struct virtual_result *result,
                                    struct error *error);
/* Returns how long the rank was busy with messages since the first assignment. `rank` is the supermaster or a
 * master. */
double simgrid_job_busy_s(const struct simgrid_job *job, unsigned rank);
void simgrid_job_free(struct simgrid_job *simulation);

/* Writes the nodes in use as a platform file of SimGrid. Returns -1 and sets errno on failure. */
int simgrid_write_platform(const struct platform *platform, const struct placement *placement, const char *path);

#define SIMGRID_FLOPS_PER_NS 1.0
#define SIMGRID_HOST_MAX     16
void simgrid_host_name(unsigned node, char name[SIMGRID_HOST_MAX]);
