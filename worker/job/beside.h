/* SPDX-License-Identifier: MIT */
/* A worker in the process of the rank that serves it (--masters-compute): both machines are driven as one, see
 * common/machine/computing.h. */
#pragma once

#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/mpi/runtime.h"

/* As runtime_drive() for a supermaster or master, together with a worker of the job `word` if the topology says that
 * this rank also computes. */
int worker_job_drive_beside(struct runtime *runtime, const struct topology *topology, unsigned words, char *const *word,
                            const struct machine *server, const struct effects *effects, const char *failure);
