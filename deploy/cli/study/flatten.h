/* SPDX-License-Identifier: MIT */
/* A report's scalars as columns of a table. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/study/csv.h"

/* Adds the times of the run's time steps as a column, STEPS_COLUMN; none where it has none, or too many of them. -1
 * with one line where the text is no report. */
int flatten_steps(struct csv *csv, size_t row, const char *text, struct error *error);

/* Every number, text and truth of the object, and of those in it by the name "imbalance.cov"; lists are left out, and
 * so is what has a column of that name in the row already. -1 with one line where the text is no report. */
int flatten_report(struct csv *csv, size_t row, const char *text, struct error *error);
