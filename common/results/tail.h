/* SPDX-License-Identifier: MIT */
/* The end of variable output that is still being collected: entries of its parts as they are added, by several ranks
 * and in several runs of a job that is resumed.
 *
 * Each entry is handed over once, whole, in the order in which it is found. Iterations may be in several of them: see
 * parts.h. */
#pragma once

#include "common/util/error.h"
#include "proto/block.h"

#include <stdbool.h>
#include <stdint.h>

struct results_tail;

/* Where an entry is. */
struct results_place {
    uint32_t file;
    uint64_t at;
};

struct results_entry {
    struct results_place place;
    uint64_t first; /* its first iteration */
};

/* Goes to the beginning of what there is. Unless the run `resumes`, parts that lie there now are of an earlier one, and
 * count for nothing: the run makes them anew. NULL with one line. */
struct results_tail *results_tail_begin(const char *path, unsigned streams, bool resumes, struct error *error);
void results_tail_end(struct results_tail *tail);

/* Takes the next entry, and loads its block. 1; 0 where there is none by now; -1 with one line. In the `last` look,
 * when nobody writes any more, an entry that is corrupted is left out. */
int results_tail_next(struct results_tail *tail, bool last, struct results_entry *entry, struct error *error);

/* Loads the block of an entry that has been handed over. -1 with one line. */
int results_tail_load(struct results_tail *tail, struct results_place place, uint64_t *first, struct error *error);

/* The block that was loaded last, and stays until the next one is. */
const struct block *results_tail_block(const struct results_tail *tail);

/* Frees the disk space of the block that was loaded last, if it is large and the file system can. The block cannot be
 * loaded again. Its head stays, so that the entries after it are found. */
void results_tail_release(struct results_tail *tail);

/* Entries that were left out. */
uint64_t results_tail_corrupted(const struct results_tail *tail);

/* Removes the parts, which is for the reader where the run was told not to join them. */
void results_tail_remove(const char *path);
