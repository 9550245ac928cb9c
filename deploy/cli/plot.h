/* SPDX-License-Identifier: MIT */
/* The picture of `hdss chunks --plot`: chunk size over scheduling step, one line for each technique, as Figure 1 of
 * Eleliemy and Ciorba, A Distributed Chunk Calculation Approach for Self-scheduling. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stdio.h>

/* The largest number of lines in one picture. More cannot be told apart. */
#define PLOT_SERIES_MAX 64

struct plot {
    const char *path; /* ends in one of the formats */
    const struct series_setup *setup;
    const char *const *specs; /* specs as given */
    unsigned count;
};

/* True if the name ends in a format that can be drawn. */
bool plot_accepts(const char *path);

/* A series that must be walked to be drawn has at most so many chunks: about a second. */
#define PLOT_CHUNKS_MAX UINT64_C(100000000)

enum plot_result {
    PLOT_DRAWN,
    PLOT_TOO_LONG, /* a series has too many chunks: what was asked for is not accepted */
    PLOT_FAILED,
};

/* Draws the file. It is replaced only when all went well. The specs have been checked with series_init(). One line
 * where it is not PLOT_DRAWN. */
enum plot_result plot_draw(const struct plot *plot, struct error *error);
