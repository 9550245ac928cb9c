/* SPDX-License-Identifier: MIT */
/* The figures of all cells for programs: as a table and as JSON. */
#pragma once

#include "deploy/cli/study/summary.h"

#include <stddef.h>

/* A CSV file (RFC 4180) with a row for each cell: its values on all axes, its runs, and of each measure NAME the
 * median, the ends of its interval of confidence (NAME.low, NAME.high) and the quartiles (NAME.least, NAME.q1, NAME.q3,
 * NAME.most); then what it is compared with. What is not known is empty. The caller frees the text; NULL when memory is
 * out. */
char *cells_csv(const struct summary *summary, size_t *length);

/* The same as JSON. The caller frees the text; NULL when memory is out. */
char *cells_json(const struct summary *summary);
