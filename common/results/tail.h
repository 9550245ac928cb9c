/* SPDX-License-Identifier: MIT */
/* Reads variable output while ranks still collect it. Returns each complete entry of the parts once, in the order in
 * which entries are found. The parts may be of several ranks and, if the job is resumed, of several runs.
 *
 * Several entries may contain the same iteration: see parts.h. */
#pragma once

#include "common/util/error.h"
#include "proto/block.h"

#include <stdbool.h>
#include <stdint.h>

struct results_tail;

struct results_place {
    uint32_t file;
    uint64_t at;
};

struct results_entry {
    struct results_place place;
    uint64_t first;
};

/* Begins with the first entry. If `resumes` is false, existing parts are ignored, because the run does not continue
 * them but creates new parts. */
struct results_tail *results_tail_begin(const char *path, unsigned streams, bool resumes, struct error *error);
void results_tail_end(struct results_tail *tail);

/* Loads the next entry. Returns 1 after that, 0 if there is no entry yet, or -1. If an entry is damaged, it is skipped
 * if `last` is set; otherwise it counts as not complete yet. */
int results_tail_next(struct results_tail *tail, bool last, struct results_entry *entry, struct error *error);

int results_tail_load(struct results_tail *tail, struct results_place place, uint64_t *first, struct error *error);

const struct block *results_tail_block(const struct results_tail *tail);

/* Frees the disk space of the loaded block if the file system can do this. Afterwards the block cannot be loaded any
 * more, but its head can. */
void results_tail_release(struct results_tail *tail);

uint64_t results_tail_corrupted(const struct results_tail *tail);

/* Removes the parts after they were read. Only for a run that does not join its parts into final files. */
void results_tail_remove(const char *path);
