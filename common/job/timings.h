/* SPDX-License-Identifier: MIT */
/* The times of a run's chunks, for --record-costs: each worker writes those of its own beside the file as it leaves,
 * and the supermaster makes one file of them, sorted, as costs_parse() in worker/kernels/costs reads it. Nothing of
 * this is on the way of a chunk where it is not asked for. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct timing {
    uint64_t first, count;
    double us;       /* microseconds for each iteration */
    unsigned worker; /* rank of the worker that computed them; set by timings_join() */
};

struct timings {
    struct timing *items; /* owned */
    size_t length, capacity;
};

/* Notes a chunk; one for which there is no memory is left out. */
void timings_add(struct timings *timings, uint64_t first, uint64_t count, double us);
void timings_fini(struct timings *timings);

/* Writes them to the file `path`.`rank`.part. -1 with one line. */
int timings_write_part(const struct timings *timings, const char *path, unsigned rank, struct error *error);

/* True where that file is here. */
bool timings_has_part(const char *path, unsigned rank);

/* Makes the file `path` of the parts of these ranks, as far as they are there, and removes them: each line says, too,
 * which rank has computed the chunk. Of iterations that
 * were computed twice the one of the chunk that begins first counts. -1 with one line. */
int timings_join(const char *path, const unsigned *ranks, unsigned count, struct error *error);
