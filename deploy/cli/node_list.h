/* SPDX-License-Identifier: MIT */
/* Parses Slurm's lists: of nodes, "n[01-04,7],gpu3", and of counts, "16(x2),8". */
#pragma once

#include "common/util/error.h"

/* Called for each name, which it then owns; -1 aborts. */
typedef int node_visitor(void *context, const char *name, struct error *error);

/* Visits the nodes of a list in order. A name may have several ranges, as in "r[1-2]n[01-16]"; numbers are padded to
 * the width of the first one of their range. */
int node_list_expand(const char *list, node_visitor *visit, void *context, struct error *error);

/* Parses the counts of `count` nodes. Fails if there are fewer or more; `counts` is then undefined. */
int node_counts_parse(const char *list, unsigned *counts, unsigned count, struct error *error);
