/* SPDX-License-Identifier: MIT */
/* How this process was launched, from its environment. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The launcher without MPI (deploy/fork) sets it for each rank: see common/mpi/lanes.h. */
#define LAUNCHED_WITHOUT_MPI "HDSS_LAUNCH"

bool launched_as_rank(void);

bool launched_without_mpi(void);

/* Returns whether the launcher that started this process may have bound it to cores. */
bool launched_to_be_bound(void);

bool launched_beside_others(void);

/* Returns whether the launcher's command line has a program of HDSS with `-n 0`: Open MPI starts it once per slot.
 * `line` has `size` bytes: the words, each with a final NUL. */
bool launched_line_has_none(const char *line, size_t size);

bool launched_with_none(void);

/* Notes that pods (separate launches) may join this launch later, so that its nodes are not all nodes of the run. */
void launched_note_joinable(void);
bool launched_is_joinable(void);

bool launched_on_one_node(void);
