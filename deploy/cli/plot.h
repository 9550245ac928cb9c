/* SPDX-License-Identifier: MIT */
/* The picture of `hdss chunks --plot`: chunk size over scheduling step, one line for each technique, as Figure 1 of
 * Eleliemy and Ciorba, A Distributed Chunk Calculation Approach for Self-scheduling. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stdio.h>

/* Limit of lines in a picture, so that they can be told apart. */
#define PLOT_SERIES_MAX 64

struct plot {
    const char *path; /* with the extension of a format */
    const struct series_setup *setup;
    const char *const *specs;
    unsigned count;
};

/* True if the extension is that of a format. */
bool plot_accepts(const char *path);

/* Limit of chunks of a series that must be walked: about a second. */
#define PLOT_CHUNKS_MAX UINT64_C(100000000)

enum plot_result {
    PLOT_DRAWN,
    PLOT_TOO_LONG, /* a series has too many chunks */
    PLOT_FAILED,
};

/* Draws the file, which is replaced only on success. The specs were checked with series_init(). */
enum plot_result plot_draw(const struct plot *plot, struct error *error);
