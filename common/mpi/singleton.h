/* SPDX-License-Identifier: MIT */
/* Ranks that are alone in their MPI world: see singleton.c. */
#pragma once

#include <stdbool.h>

/* True for the rank that prints why all ranks leave: the first rank, according to the launcher's variables; if there
 * are none, every rank. */
bool singleton_speaks(void);

/* Returns true if this rank is alone although the launcher has started several; the first of them prints an error. */
bool singleton_refuse(const char *program);
