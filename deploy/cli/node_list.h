/* SPDX-License-Identifier: MIT */
/* Parses Slurm's lists: of nodes, "n[01-04,7],gpu3", and of counts, "16(x2),8". */
#pragma once

#include "common/util/error.h"

/* Called for each name, which is valid during the call. If it returns -1, no further names follow. */
typedef int node_visitor(void *context, const char *name, struct error *error);

/* Visits the nodes in the order of the list. A name may have several ranges, as in "r[1-2]n[01-16]". Numbers have as
 * many digits as the first number of their range. */
int node_list_expand(const char *list, node_visitor *visit, void *context, struct error *error);

/* Fills counts[count]. Fails if the list has not exactly `count` counts; the contents of `counts` are then
 * undefined. */
int node_counts_parse(const char *list, unsigned *counts, unsigned count, struct error *error);
