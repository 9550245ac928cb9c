/* SPDX-License-Identifier: MIT */
/* A master's part of a job: its state machine and its output file. In a plain run a master has one such part; in a set
 * it has one for each job. */
#pragma once

#include "common/machine/topology.h"
#include "common/mpi/link.h"
#include "common/mpi/runtime.h"
#include "proto/announcement.h"

int master_job_run(struct runtime *runtime, unsigned words, char *const *word);

void *master_job_take(void *context, struct runtime *runtime, const struct topology *topology,
                      struct announcement *announcement, struct part_of_job *of_job);
void master_job_end(void *job, int status);
