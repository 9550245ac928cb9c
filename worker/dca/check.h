/* SPDX-License-Identifier: MIT */
/* Checks of a job that workers run alone, before they draw. `hdss run` asks before it launches them, the workers ask
 * when they have begun. */
#pragma once

#include "common/config/rank_options.h"
#include "common/job/job_setup.h"
#include "common/util/error.h"

/* Refuses a loop that workers cannot draw from. -1 with one line. */
int dca_check_loop(const struct job_setup *setup, struct error *error);

/* Refuses techniques that cannot run so with this many workers on this many nodes. -1 with one line. */
int dca_check_techniques(const struct worker_options *options, const struct job_setup *setup, unsigned workers,
                         unsigned nodes, struct error *error);
