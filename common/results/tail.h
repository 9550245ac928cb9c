/* SPDX-License-Identifier: MIT */
/* Reads variable output while it is being collected: entries of its parts as they are added, by several ranks and,
 * if the job is resumed, in several runs.
 *
 * Each complete entry is returned once, in the order found. Several entries may contain the same iteration: see
 * parts.h. */
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

/* Starts at the first entry. If the run does not resume another, existing parts are ignored, because the run creates
 * new parts. */
struct results_tail *results_tail_begin(const char *path, unsigned streams, bool resumes, struct error *error);
void results_tail_end(struct results_tail *tail);

/* Loads the next entry. Returns 1, 0 if there is none yet, or -1. If `last`, damaged entries are skipped; otherwise
 * they count as not complete yet. */
int results_tail_next(struct results_tail *tail, bool last, struct results_entry *entry, struct error *error);

int results_tail_load(struct results_tail *tail, struct results_place place, uint64_t *first, struct error *error);

const struct block *results_tail_block(const struct results_tail *tail);

/* Frees the disk space of the loaded block if the file system can. Then the block cannot be loaded again, but its head
 * remains. */
void results_tail_release(struct results_tail *tail);

uint64_t results_tail_corrupted(const struct results_tail *tail);

/* Removes the parts after they were read, if the run does not join its parts. */
void results_tail_remove(const char *path);
