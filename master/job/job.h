/* SPDX-License-Identifier: MIT */
/* A master's part of a job: its state machine and its output file. A plain run has one, a master of a set has one per
 * job. */
#pragma once

#include "common/machine/topology.h"
#include "common/mpi/link.h"
#include "common/mpi/runtime.h"
#include "proto/announcement.h"

/* Runs this rank's part of a plain run. Returns the exit status. */
int master_job_run(struct runtime *runtime, unsigned words, char *const *word);

/* The callbacks of the master's struct set_role. */
void *master_job_take(void *context, struct runtime *runtime, const struct topology *topology,
                      struct announcement *announcement, struct part_of_job *of_job);
void master_job_end(void *job, int status);
