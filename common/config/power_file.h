/* SPDX-License-Identifier: MIT */
/* Power files: the speed of each worker, one line "RANK POWER" each, with # comments and blank lines. The unit is
 * arbitrary: only ratios count. */
#pragma once

#include "common/util/error.h"

/* Reads a list "P1,P2,...": one power per worker. */
int power_list_parse(const char *text, unsigned workers, double *powers, struct error *error);

/* Fills powers[i] with the power of rank worker_ranks[i]. Fails, naming the line or the missing ranks, for a line that
 * is not two numbers, a power outside SCHED_POWER_MIN .. SCHED_POWER_MAX, a rank that is no worker or appears twice,
 * and a missing worker; `powers` is undefined then. */
int power_file_parse(const char *text, const unsigned *worker_ranks, unsigned workers, double *powers,
                     struct error *error);
