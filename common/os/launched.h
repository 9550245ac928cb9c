/* SPDX-License-Identifier: MIT */
/* How this process was launched, as its environment shows. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The launcher without MPI (deploy/fork) sets this variable for each rank: see common/mpi/lanes.h. */
#define LAUNCHED_WITHOUT_MPI "HDSS_LAUNCH"

bool launched_as_rank(void);

bool launched_without_mpi(void);

/* Returns whether the launcher that started this process may have bound it to cores. */
bool launched_to_be_bound(void);

bool launched_beside_others(void);

/* Returns whether a launcher's command line starts a program of HDSS with `-n 0`. Open MPI takes this as one rank per
 * slot. `line` has `size` bytes: the words of the command line, each with a final NUL. */
bool launched_line_has_none(const char *line, size_t size);

bool launched_with_none(void);

/* Records that pods (launches of their own) may join this launch later, so that the run may get more nodes than this
 * launch has. */
void launched_note_joinable(void);
bool launched_is_joinable(void);

bool launched_on_one_node(void);
