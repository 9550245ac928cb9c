/* SPDX-License-Identifier: MIT */
/* What a worker has of a job: its machine, the executor of the kernel, and what is measured. A plain run has one of
 * these, a worker of a set has one for each job that is there. */
#pragma once

#include "common/config/rank_options.h"
#include "common/machine/topology.h"
#include "common/mpi/link.h"
#include "common/mpi/runtime.h"
#include "proto/announcement.h"

/* Plays this rank's part in a plain run. Returns the exit status. */
int worker_job_run(const struct worker_options *options, struct runtime *runtime, unsigned words, char *const *word);

struct worker_job;

/* For a worker in the process of its server: takes the job and opens the executor; `of_job` gets its machine, effects
 * and failure, until worker_job_close_beside(). NULL when memory is out. */
struct worker_job *worker_job_open_beside(const struct worker_options *options, struct runtime *runtime,
                                          const struct topology *topology, unsigned words, char *const *word,
                                          struct part_of_job *of_job);
void worker_job_close_beside(struct worker_job *job);

/* Takes a job of a set, and says what the link is to drive; what is wrong with the job here is its failure. The
 * executor is opened at the first chunk. The announcement becomes the job's, the rest is borrowed for its life. NULL
 * when memory is out. */
void *worker_job_take(const struct worker_options *options, struct runtime *runtime, const struct topology *topology,
                      struct announcement *announcement, struct part_of_job *of_job);

/* Ends what worker_job_take() has made, after link_remove(). */
void worker_job_end(void *job, int status);
