/* SPDX-License-Identifier: MIT */
/* The executor's configuration as far as it follows from the job: the same in a worker and in its helper. */
#pragma once

#include "common/job/job_setup.h"
#include "worker/exec/inline.h"

/* Fills in kernel, values, loop, collecting, probe, spread and time steps; the caller sets the rest. The setup is
 * borrowed for the life of the executor. */
void executor_config_of_job(struct exec_config *config, struct job_setup *setup);
