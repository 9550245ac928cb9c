/* SPDX-License-Identifier: MIT */
/* The table of how long each worker has computed: the median over the runs of each cell, and how even that is. */
#pragma once

#include "deploy/cli/study/summary.h"

#include <stdio.h>

/* The column of the table of runs: seconds of the workers in the order of their ranks, with blanks between them. */
#define WORKERS_COLUMN    "worker_stats.compute_s"
#define WORKERS_SHOWN_MAX 64 /* a run with more workers has no column */

/* Writes the table of workers; nothing where no run has such a column. -1 when memory is out. */
int workers_table(const struct summary *summary, const struct csv *csv, FILE *file);
