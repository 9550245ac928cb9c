/* SPDX-License-Identifier: MIT */
/* Pictures of the collapse that the kernel evrard computes. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/collapse_file.h"

#include <stddef.h>

/* Pictures of the density in one file, at most. */
#define COLLAPSE_TIMES_MAX 30

/* The kinetic, internal, potential and total energy over time. The file is replaced only when all went well. -1 with
 * one line. */
int collapse_plot_energies(struct collapse_file *file, const char *path, struct error *error);

/* The density as it is seen along z, at the steps nearest to these times. The same for the rest. */
int collapse_plot_density(struct collapse_file *file, const char *path, const double *times, size_t count,
                          struct error *error);
