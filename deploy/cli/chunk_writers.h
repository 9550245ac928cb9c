/* SPDX-License-Identifier: MIT */
/* Formats for a series of chunks. Each chunk is written as soon as it is cut. */
#pragma once

#include "deploy/cli/series.h"

struct tally {
    uint64_t chunks, largest, smallest;
    int width, worker_width;
};

struct chunk_writer {
    const char *name;
    void (*begin)(const struct tally *tally);
    void (*chunk)(const struct tally *tally, const struct chunk *chunk); /* the tally already includes `chunk` */
    void (*end)(const struct tally *tally);
};

const struct chunk_writer *chunk_writer_find(const char *name);

/* Writes the rest of the series to standard output. If that fails, returns false and errno says why. */
bool chunk_writer_run(const struct chunk_writer *writer, struct series *series);
