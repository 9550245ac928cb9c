/* SPDX-License-Identifier: MIT */
/* What a master has of a job: its machine, and the file that it writes. A plain run has one of these, a master of a set
 * has one for each job that is there. */
#pragma once

#include "common/machine/topology.h"
#include "common/mpi/link.h"
#include "common/mpi/runtime.h"
#include "proto/announcement.h"

/* Plays this rank's part in a plain run. Returns the exit status. */
int master_job_run(struct runtime *runtime, unsigned words, char *const *word);

/* Takes a job of a set, and ends it, as a struct set_role has it. */
void *master_job_take(void *context, struct runtime *runtime, const struct topology *topology,
                      struct announcement *announcement, struct part_of_job *of_job);
void master_job_end(void *job, int status);
