/* SPDX-License-Identifier: MIT */
/* Collective messages at the start and the end: see tree.c. */
#pragma once

#include "common/mpi/runtime.h"

#include <stdbool.h>
#include <stddef.h>

/* Gathers `bytes` from each rank in `all` on rank 0, in the tree's order. Collective. */
int tree_gather(struct runtime *runtime, const void *own, size_t bytes, void *all);
/* Broadcasts `bytes` from the rank `root`. Collective. */
void tree_share(struct runtime *runtime, unsigned root, void *data, size_t bytes);
/* The first rank of a node sends data to the others of the node, which receive them. */
int tree_tell_node(struct runtime *runtime, const void *data, size_t bytes);
void tree_hear_node(struct runtime *runtime, unsigned first, void *data, size_t bytes);
/* True if a peer has ended. */
typedef bool tree_lost(struct runtime *runtime);
/* Returns when all have called it, or false after `has_lost` was true; it may be NULL. */
bool tree_wait(struct runtime *runtime, tree_lost *has_lost);
