/* SPDX-License-Identifier: MIT */
/* Ranks that are alone in their MPI world: see singleton.c. */
#pragma once

#include <stdbool.h>

/* True for the rank that prints why all leave, as far as the launcher tells. */
bool singleton_speaks(void);

/* The first of these ranks prints an error. */
bool singleton_refuse(const char *program);
