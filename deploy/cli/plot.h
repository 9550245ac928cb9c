/* The picture of `hdss chunks --plot`: chunk size over scheduling step, one line for each technique, as Figure 1 of
 * Eleliemy and Ciorba, A Distributed Chunk Calculation Approach for Self-scheduling. */
#pragma once

#include "deploy/cli/series.h"

/* The largest number of lines in one picture. More cannot be told apart. */
#define PLOT_SERIES_MAX 64

struct plot {
    const char *path; /* ends in one of the formats */
    const struct series_setup *setup;
    char **specs; /* as given */
    unsigned count;
};

/* -1 with one line where the name ends in no format that can be drawn. */
int plot_check_path(const char *path, struct error *error);

/* Draws the file. It is replaced only when all went well. The specs have been checked with series_init(). -1 with one
 * line. */
int plot_draw(const struct plot *plot, struct error *error);
