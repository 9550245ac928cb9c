/* SPDX-License-Identifier: MIT */
/* The allocation of the batch system to the job that this process is part of: its nodes, their cores, and how long
 * they are there.
 *
 * Read from the environment: Slurm's (SLURM_JOB_NODELIST and the counts beside it), LSF's (LSB_MCPU_HOSTS,
 * LSB_DJOB_HOSTFILE or LSB_HOSTS) and PBS's (PBS_NODEFILE). */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/hosts.h"

#include <stdbool.h>
#include <stdint.h>

/* Adds the nodes of the job with their cores, in its order. None is added where there is no such job. -1 with one line,
 * which names the variable: it cannot be understood, or the file that it names. */
int allocation_read(struct hosts *hosts, struct error *error);

/* True within a job of a batch system. */
bool allocation_is_there(void);

/* True if the job is one of Slurm's. */
bool allocation_is_slurm(void);

/* Seconds until the batch system ends the job; -1 where there is no end, or nobody says when it is. May ask Slurm. */
int64_t allocation_seconds_left(void);

#define ALLOCATION_TASKS "SLURM_TASKS_PER_NODE"

/* In a job of Slurm's the counts that make Open MPI's mpirun accept host->ranks ranks on each of the hosts, which it
 * would else compare with the tasks of the job: a new value for ALLOCATION_TASKS, for the caller to free. NULL in
 * other jobs, and without memory. */
char *allocation_tasks(const struct hosts *hosts);
