/* SPDX-License-Identifier: MIT */
/* Lists as Slurm writes them: of nodes, "n[01-04,7],gpu3", and of counts for them, "16(x2),8". */
#pragma once

#include "common/util/error.h"

/* Called for each name, which is the caller's after that; -1 with one line ends the list. */
typedef int node_visitor(void *context, const char *name, struct error *error);

/* Visits the nodes of a list in its order. A name may have several ranges, as in "r[1-2]n[01-16]"; numbers are padded
 * to the width of the first one of their range. -1 with one line: the list is none, or the visitor said so. */
int node_list_expand(const char *list, node_visitor *visit, void *context, struct error *error);

/* The counts of `count` nodes. -1 with one line where the list is none or has fewer or more of them; `counts` is then
 * undefined. */
int node_counts_parse(const char *list, unsigned *counts, unsigned count, struct error *error);
