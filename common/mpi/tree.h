/* SPDX-License-Identifier: MIT */
/* Messages that all ranks exchange at the start and at the end: see tree.c. */
#pragma once

#include "common/mpi/runtime.h"

#include <stdbool.h>
#include <stddef.h>

/* Gathers `bytes` of each rank, at rank 0 in `all`, in the tree's order. Collective. -1 when memory is out. */
int tree_gather(struct runtime *runtime, const void *own, size_t bytes, void *all);
/* Shares `bytes` of the rank `root` with all. Collective. */
void tree_share(struct runtime *runtime, unsigned root, void *data, size_t bytes);
/* Sends data from the first rank of a node to the others of it, which call it to receive them. -1 when memory is
 * out. */
int tree_tell_node(struct runtime *runtime, const void *data, size_t bytes);
void tree_hear_node(struct runtime *runtime, unsigned first, void *data, size_t bytes);
/* True where a peer has ended. */
typedef bool tree_lost(struct runtime *runtime);
/* Returns when all have called it; false when `has_lost` was true before. NULL: nobody looks whether a peer has ended.
 */
bool tree_wait(struct runtime *runtime, tree_lost *has_lost);
