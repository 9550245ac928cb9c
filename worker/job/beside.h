/* SPDX-License-Identifier: MIT */
/* A worker in the process of the rank that serves it (--masters-compute). Both machines are driven as one: see
 * common/machine/computing.h. */
#pragma once

#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/mpi/runtime.h"

/* Like runtime_drive() for a supermaster or master. If this rank also computes, a worker for the job `word` runs in the
 * same process. */
int worker_job_drive_beside(struct runtime *runtime, const struct topology *topology, unsigned words, char *const *word,
                            const struct machine *server, const struct effects *effects, const char *failure);
