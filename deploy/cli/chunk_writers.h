/* SPDX-License-Identifier: MIT */
/* The ways to print a series of chunks. They are written as they are cut. */
#pragma once

#include "deploy/cli/series.h"

/* The text written so far. */
struct tally {
    uint64_t chunks, largest, smallest;
    int width, worker_width; /* widths of the columns, text only */
};

struct chunk_writer {
    const char *name;
    void (*begin)(const struct tally *tally);
    void (*chunk)(const struct tally *tally, const struct chunk *chunk); /* the tally includes the chunk */
    void (*end)(const struct tally *tally);
};

/* `text`, `json` or `csv`; NULL where there is none of that name. */
const struct chunk_writer *chunk_writer_find(const char *name);

/* Writes what is left of the series to standard output. False when that fails; errno says why. */
bool chunk_writer_run(const struct chunk_writer *writer, struct series *series);
