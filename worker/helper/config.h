/* SPDX-License-Identifier: MIT */
/* The parts of an executor's configuration that follow from the job. A worker and its helper both get them here, so
 * they agree. */
#pragma once

#include "common/job/job_setup.h"
#include "worker/exec/inline.h"

/* Sets kernel, values, loop, collect, probe, spread, time steps and limits; the caller sets the rest. Borrows the setup
 * until executor_fini(). */
void executor_config_of_job(struct exec_config *config, struct job_setup *setup);
