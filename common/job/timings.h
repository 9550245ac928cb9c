/* SPDX-License-Identifier: MIT */
/* The times of a run's chunks, for --record-costs. Each worker writes its own times to a file when it leaves. The
 * supermaster joins these files into one sorted file. costs_parse() in worker/kernels/costs reads the sorted file. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct timing {
    uint64_t first, count;
    double us;
    unsigned worker;
};

struct timings {
    struct timing *items;
    size_t length, capacity;
};

/* Adds the time of a chunk. If memory runs out, the time is dropped. */
void timings_add(struct timings *timings, uint64_t first, uint64_t count, double us);
void timings_fini(struct timings *timings);

/* Writes the file `path`.`rank`.part. */
int timings_write_part(const struct timings *timings, const char *path, unsigned rank, struct error *error);

bool timings_has_part(const char *path, unsigned rank);

/* Joins the existing part files of these ranks into `path` and removes them. Each line names the rank of the
 * worker. If two chunks have common iterations, these count for the chunk that begins at the lower iteration. */
int timings_join(const char *path, const unsigned *ranks, unsigned count, struct error *error);
