/* SPDX-License-Identifier: MIT */
/* Checks of a job for distributed chunk calculation, made by `hdss run` before it launches the workers and by the
 * workers themselves. */
#pragma once

#include "common/config/rank_options.h"
#include "common/job/job_setup.h"
#include "common/util/error.h"

/* Refuses a loop that workers cannot draw from. */
int dca_check_loop(const struct job_setup *setup, struct error *error);

/* Refuses techniques that cannot be drawn from by this many workers on this many nodes. */
int dca_check_techniques(const struct worker_options *options, const struct job_setup *setup, unsigned workers,
                         unsigned nodes, struct error *error);
