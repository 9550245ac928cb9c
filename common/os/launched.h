/* SPDX-License-Identifier: MIT */
/* The launch of this process, as the launcher tells it in the environment. */
#pragma once

#include <stdbool.h>

/* The variable by which the launcher without MPI (deploy/fork) names each rank's part in its launch:
 * common/mpi/lanes.h.
 */
#define LAUNCHED_WITHOUT_MPI "HDSS_LAUNCH"

/* True where an MPI launcher, or the one without MPI, has started this process. */
bool launched_as_rank(void);

/* True if the launcher without MPI has started this process. */
bool launched_without_mpi(void);

/* Launches of their own may join this one: its nodes are not all that there are. */
void launched_note_joinable(void);
bool launched_is_joinable(void);

/* True where the launcher says that all ranks are on this node. */
bool launched_on_one_node(void);
