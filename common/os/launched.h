/* SPDX-License-Identifier: MIT */
/* The launch of this process, as the launcher tells it in the environment. */
#pragma once

#include <stdbool.h>

/* True where an MPI launcher has started this process. */
bool launched_as_rank(void);

/* True where the launcher says that all ranks are on this node. */
bool launched_on_one_node(void);
