/* SPDX-License-Identifier: MIT */
/* Checks whether the workers of a job can cut their chunks themselves (--dca). `hdss run` calls this before it launches
 * workers, and each worker calls it again. */
#pragma once

#include "common/config/rank_options.h"
#include "common/job/job_setup.h"
#include "common/util/error.h"

int dca_check_loop(const struct job_setup *setup, struct error *error);

int dca_check_techniques(const struct worker_options *options, const struct job_setup *setup, unsigned workers,
                         unsigned nodes, struct error *error);
