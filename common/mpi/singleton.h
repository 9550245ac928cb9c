/* SPDX-License-Identifier: MIT */
/* A rank that is alone in its world: see singleton.c. */
#pragma once

#include <stdbool.h>

/* For a rank that is alone in its world: whether a launcher of another MPI library has started several such, which is
 * wrong use. The first of them says so in one line. */
bool singleton_refuse(const char *program);
