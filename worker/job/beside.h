/* SPDX-License-Identifier: MIT */
/* A worker in the process of the rank that serves it (--masters-compute): its machine and that of the server are driven
 * as one, see common/machine/computing.h. */
#pragma once

#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/mpi/runtime.h"

/* Drives the machine of a supermaster or master, and beside it that of a worker of the job that `word` has, where the
 * topology says that this rank does both; else the server's alone. As runtime_drive() otherwise. */
int worker_job_drive_beside(struct runtime *runtime, const struct topology *topology, unsigned words, char *const *word,
                            const struct machine *server, const struct effects *effects, const char *failure);
