/* SPDX-License-Identifier: MIT */
/* A worker's part of a job: its state machine, the executor of the kernel, and measurements. A plain run has one, a
 * worker of a set has one per job. */
#pragma once

#include "common/config/rank_options.h"
#include "common/machine/topology.h"
#include "common/mpi/link.h"
#include "common/mpi/runtime.h"
#include "proto/announcement.h"

/* Runs this rank's part of a plain run. Returns the exit status. */
int worker_job_run(const struct worker_options *options, struct runtime *runtime, unsigned words, char *const *word);

struct worker_job;

/* For a worker in its server's process: takes the job and opens the executor. `of_job` receives its machine, effects
 * and failure, valid until worker_job_close_beside(). */
struct worker_job *worker_job_open_beside(const struct worker_options *options, struct runtime *runtime,
                                          const struct topology *topology, unsigned words, char *const *word,
                                          struct part_of_job *of_job);
void worker_job_close_beside(struct worker_job *job);

/* Takes a job of a set and fills in what the link drives; an error of the job here becomes its failure. The executor is
 * opened at the first chunk. Takes over the announcement; the rest is borrowed for the job's life. */
void *worker_job_take(const struct worker_options *options, struct runtime *runtime, const struct topology *topology,
                      struct announcement *announcement, struct part_of_job *of_job);

/* Ends the job after link_remove(). */
void worker_job_end(void *job, int status);
