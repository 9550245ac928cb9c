/* SPDX-License-Identifier: MIT */
/* The text of a power file: how fast each worker is, one line "RANK POWER" each, # comments, blank lines.
 * Powers are in any unit; only their ratios count. */
#pragma once

#include "common/util/error.h"

/* Reads a list "P1,P2,...": a power for each worker in turn. -1 with one line. */
int power_list_parse(const char *text, unsigned workers, double *powers, struct error *error);

/* Fills powers[i] with the power of rank worker_ranks[i], for all `workers`. -1 with one line (with the line's number,
 * or the ranks that are missing) for a line that is not two numbers, a power outside SCHED_POWER_MIN ..
 * SCHED_POWER_MAX, a rank that is no worker or is given twice, and a worker that is not in the file; `powers` is
 * undefined then. */
int power_file_parse(const char *text, const unsigned *worker_ranks, unsigned workers, double *powers,
                     struct error *error);
