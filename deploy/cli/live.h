/* SPDX-License-Identifier: MIT */
/* The lines that running tasks have written: fragments in a folder, written by their workers
 * (worker/kernels/exec/fragments.h), sorted by the tries of the tasks. Files that were read and have a successor are
 * removed. */
#pragma once

#include "common/util/error.h"
#include "worker/kernels/exec/fragments.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct live_file {
    unsigned rank, number;
    uint64_t at; /* offset after the last fragment found */
    uint64_t task, began_ms;
};

struct live_try {
    uint64_t task, began_ms;
    unsigned rank, number; /* its file */
    uint64_t at;           /* offset of its next fragment */
    uint64_t shown[2];     /* bytes of its streams before that */
};

struct live {
    const char *folder; /* borrowed; NULL: nothing is read */
    struct live_file *files;
    size_t file_count, file_capacity;
    struct live_try *tries; /* in the order of discovery */
    size_t try_count, try_capacity;
    int file; /* last opened file; -1: none */
    unsigned file_rank, file_number;
    char *bytes; /* of the last fragment; owned */
    size_t room;
};

void live_init(struct live *live, const char *folder);
void live_fini(struct live *live);

/* Finds new tries, except of tasks for which `is_over` is true. */
int live_look(struct live *live, bool (*is_over)(const void *context, uint64_t task), const void *context,
              struct error *error);

/* Reads the next fragment of a try into live->bytes. 1; 0 if there is none yet; or -1. */
int live_take(struct live *live, struct live_try *try, struct fragment *fragment, struct error *error);

/* The try of a task on that rank with that start time, as in the task log; NULL: none was found. */
const struct live_try *live_find(const struct live *live, uint64_t task, uint64_t rank, double began_s);

/* Removes the tries of a finished task. */
void live_forget(struct live *live, uint64_t task);
