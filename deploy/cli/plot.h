/* SPDX-License-Identifier: MIT */
/* The picture of `hdss chunks --plot`: the size of each chunk over its scheduling step, with a line for each
 * technique, like Figure 1 of Eleliemy and Ciorba, A Distributed Chunk Calculation Approach for Self-scheduling. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stdio.h>

/* More lines would be hard to tell apart. */
#define PLOT_SERIES_MAX 64

struct plot {
    const char *path;
    const struct series_setup *setup;
    const char *const *specs;
    unsigned count;
};

bool plot_accepts(const char *path);

/* Limit of chunks in a series that must be cut one by one. Cutting this many takes about a second. */
#define PLOT_CHUNKS_MAX UINT64_C(100000000)

enum plot_result {
    PLOT_DRAWN,
    PLOT_TOO_LONG,
    PLOT_FAILED,
};

/* An existing file is replaced only on success. series_init() must have accepted the specs. */
enum plot_result plot_draw(const struct plot *plot, struct error *error);
