/* SPDX-License-Identifier: MIT */
/* Checks whether the workers of a job can cut their chunks themselves (--dca). `hdss run` checks before it launches
 * the workers, and so does each worker. */
#pragma once

#include "common/config/rank_options.h"
#include "common/job/job_setup.h"
#include "common/util/error.h"

int dca_check_loop(const struct job_setup *setup, struct error *error);

/* Fails if so many workers on so many nodes cannot draw from a technique of the job. */
int dca_check_techniques(const struct worker_options *options, const struct job_setup *setup, unsigned workers,
                         unsigned nodes, struct error *error);
