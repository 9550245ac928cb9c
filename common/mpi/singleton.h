/* SPDX-License-Identifier: MIT */
/* A rank that is alone in its world: see singleton.c. */
#pragma once

#include <stdbool.h>

/* True for the rank that says why all leave, as far as the launcher tells. */
bool singleton_speaks(void);

/* For a rank that is alone in its world: whether a launcher of another MPI library has started several such, which is
 * wrong use. The first of them says so in one line. */
bool singleton_refuse(const char *program);
