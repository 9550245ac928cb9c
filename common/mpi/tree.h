/* SPDX-License-Identifier: MIT */
/* Collective messages at the start and the end: see tree.c. */
#pragma once

#include "common/mpi/runtime.h"

#include <stdbool.h>
#include <stddef.h>

/* Collective. `all` gets `bytes` from each rank, in an order of the tree; at rank 0 only. */
int tree_gather(struct runtime *runtime, const void *own, size_t bytes, void *all);
/* Collective. */
void tree_share(struct runtime *runtime, unsigned root, void *data, size_t bytes);
int tree_tell_node(struct runtime *runtime, const void *data, size_t bytes);
void tree_hear_node(struct runtime *runtime, unsigned first, void *data, size_t bytes);
typedef bool tree_lost(struct runtime *runtime);
/* Returns true after all ranks have called it, or false after `has_lost` (may be NULL) returned true. */
bool tree_wait(struct runtime *runtime, tree_lost *has_lost);
