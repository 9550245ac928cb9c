/* SPDX-License-Identifier: MIT */
/* The allocation that a batch system gave this process's job: its nodes, their cores, and its time limit. It is read
 * from the environment: of Slurm (SLURM_JOB_NODELIST and its counts), LSF (LSB_MCPU_HOSTS, LSB_DJOB_HOSTFILE or
 * LSB_HOSTS) and PBS (PBS_NODEFILE). */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/hosts.h"

#include <stdbool.h>
#include <stdint.h>

/* Adds the nodes of the job and their cores, in the job's order; none outside of a batch job. Fails if a variable, or
 * the file that it names, cannot be understood. */
int allocation_read(struct hosts *hosts, struct error *error);

bool allocation_is_there(void);

bool allocation_is_slurm(void);

/* Seconds until the batch system ends the job; -1 if there is no limit or it is unknown. May ask Slurm. */
int64_t allocation_seconds_left(void);

#define ALLOCATION_TASKS "SLURM_TASKS_PER_NODE"

/* In a Slurm job: returns the value for ALLOCATION_TASKS that makes Open MPI's mpirun accept host->ranks ranks on each
 * host; the caller frees it. NULL in other jobs, or without memory. */
char *allocation_tasks(const struct hosts *hosts);
