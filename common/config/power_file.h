/* SPDX-License-Identifier: MIT */
/* Power files, which give the speed of each worker. Each line is "RANK POWER"; # begins a comment. Powers have no unit:
 * only their ratios count. */
#pragma once

#include "common/util/error.h"

int power_list_parse(const char *text, unsigned workers, double *powers, struct error *error);

/* Sets powers[i] to the power of rank worker_ranks[i]. Fails if a line is not two numbers, or if a power is outside
 * SCHED_POWER_MIN .. SCHED_POWER_MAX. Also fails if a rank is no worker or appears twice, or if a worker is missing.
 * After a failure `powers` is undefined. */
int power_file_parse(const char *text, const unsigned *worker_ranks, unsigned workers, double *powers,
                     struct error *error);
