/* SPDX-License-Identifier: MIT */
/* A worker's part of a job: its state machine, the executor of the kernel, and measurements. In a plain run a worker
 * has one such part; in a set it has a part for each job. */
#pragma once

#include "common/config/rank_options.h"
#include "common/machine/topology.h"
#include "common/mpi/link.h"
#include "common/mpi/runtime.h"
#include "proto/announcement.h"

/* Runs this rank's part of a plain run. Returns the exit status. */
int worker_job_run(const struct worker_options *options, struct runtime *runtime, unsigned words, char *const *word);

struct worker_job;

/* For a worker in its server's process: reads the job and opens the executor. Sets machine, effects and failure of
 * `of_job`; they are valid until worker_job_close_beside(). Returns NULL if memory runs out. */
struct worker_job *worker_job_open_beside(const struct worker_options *options, struct runtime *runtime,
                                          const struct topology *topology, unsigned words, char *const *word,
                                          struct part_of_job *of_job);
void worker_job_close_beside(struct worker_job *job);

/* Takes a job of a set and fills in `of_job` for the link. If this rank cannot run the job, of_job->failure says why.
 * The executor is opened when the first chunk comes. Takes ownership of the announcement. Borrows the other arguments
 * until worker_job_end(). Returns NULL if memory runs out. */
void *worker_job_take(const struct worker_options *options, struct runtime *runtime, const struct topology *topology,
                      struct announcement *announcement, struct part_of_job *of_job);

void worker_job_end(void *job, int status);
