/* SPDX-License-Identifier: MIT */
/* How this process was launched, from its environment. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Set by the launcher without MPI (deploy/fork) for each rank: common/mpi/lanes.h. */
#define LAUNCHED_WITHOUT_MPI "HDSS_LAUNCH"

/* True if an MPI launcher, or that without MPI, has started this process. */
bool launched_as_rank(void);

bool launched_without_mpi(void);

/* True if a launcher has started this process that may have bound it to cores. */
bool launched_to_be_bound(void);

/* True if Open MPI says that the line of the launch has several programs. */
bool launched_beside_others(void);

/* True if the launcher's command line, `size` bytes of words that end with a NUL each, has a program of HDSS with `-n
 * 0`, of which Open MPI starts as many as there are slots. */
bool launched_line_has_none(const char *line, size_t size);

/* launched_line_has_none() of the parent process. */
bool launched_with_none(void);

/* Notes that pods (separate launches) may join this launch later, so that its nodes are not all of the run's. */
void launched_note_joinable(void);
bool launched_is_joinable(void);

/* True if the launcher tells that all ranks are on this node. */
bool launched_on_one_node(void);
