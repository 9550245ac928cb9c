/* SPDX-License-Identifier: MIT */
/* What a batch system has given to the job of this process: nodes, their cores, and a time limit. It is read from the
 * environment of Slurm (SLURM_JOB_NODELIST and its counts), LSF (LSB_MCPU_HOSTS, LSB_DJOB_HOSTFILE or LSB_HOSTS) or PBS
 * (PBS_NODEFILE). */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/hosts.h"

#include <stdbool.h>
#include <stdint.h>

/* Adds the nodes of the batch job with their cores, in the job's order. If there is no batch job, adds nothing. Fails
 * if a variable, or the file that it names, is malformed. */
int allocation_read(struct hosts *hosts, struct error *error);

/* True if the job got one core of each node because it asked Slurm for nodes only. `hosts`: from allocation_read(). */
bool allocation_is_narrow(const struct hosts *hosts);

bool allocation_is_there(void);

bool allocation_is_slurm(void);

/* Seconds until the batch system ends the job; -1 if there is no limit, or it is unknown. May run squeue. */
int64_t allocation_seconds_left(void);

#define ALLOCATION_TASKS "SLURM_TASKS_PER_NODE"

/* In a Slurm job: returns a value for the variable ALLOCATION_TASKS. With it Open MPI's mpirun accepts host->ranks
 * ranks on each host. The caller frees the value. Returns NULL in other jobs, or if memory runs out. */
char *allocation_tasks(const struct hosts *hosts);
