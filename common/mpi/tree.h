/* SPDX-License-Identifier: MIT */
/* Collective messages at the start and the end of a run: see tree.c. */
#pragma once

#include "common/mpi/runtime.h"

#include <stdbool.h>
#include <stddef.h>

/* Collective. `all` is used at rank 0 only. It gets `bytes` from each rank, in the order of the tree. */
int tree_gather(struct runtime *runtime, const void *own, size_t bytes, void *all);
/* Collective. Sends `data` from rank `root` to all ranks. */
void tree_share(struct runtime *runtime, unsigned root, void *data, size_t bytes);
int tree_tell_node(struct runtime *runtime, const void *data, size_t bytes);
void tree_hear_node(struct runtime *runtime, unsigned first, void *data, size_t bytes);
typedef bool tree_lost(struct runtime *runtime);
/* Waits until all ranks have called this function, then returns true. Returns false if `has_lost` returns true before
 * that. `has_lost` may be NULL. */
bool tree_wait(struct runtime *runtime, tree_lost *has_lost);
