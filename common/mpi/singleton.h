/* SPDX-License-Identifier: MIT */
/* Ranks that are alone in their MPI world: see singleton.c. */
#pragma once

#include <stdbool.h>

/* Should this rank print why all ranks leave? True for the first rank, according to the launcher's variables. If there
 * are no such variables, true for every rank. */
bool singleton_speaks(void);

/* Returns true if MPI knows only this rank although the launcher has started several. The first of these ranks prints
 * an error. */
bool singleton_refuse(const char *program);
