/* SPDX-License-Identifier: MIT */
/* The output of running tasks: fragments in a folder, written by the workers of the tasks
 * (worker/kernels/exec/fragments.h). A *try* is one execution of a task; the fragments of different tries are kept
 * apart. Each rank writes numbered files. A file is removed after it was read and its rank has begun a new one. */
#pragma once

#include "common/util/error.h"
#include "worker/kernels/exec/fragments.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct live_file {
    unsigned rank, number;
    uint64_t at;
    uint64_t task, began_ms;
};

struct live_try {
    uint64_t task, began_ms;
    unsigned rank, number;
    uint64_t at;
    uint64_t shown[2];
};

struct live {
    const char *folder;
    struct live_file *files;
    size_t file_count, file_capacity;
    struct live_try *tries;
    size_t try_count, try_capacity;
    int file;
    unsigned file_rank, file_number;
    char *bytes;
    size_t room;
};

void live_init(struct live *live, const char *folder);
void live_fini(struct live *live);

int live_look(struct live *live, bool (*is_over)(const void *context, uint64_t task), const void *context,
              struct error *error);

/* Reads the try's next fragment into live->bytes. Returns 1; 0 if there is no further fragment yet; or -1. */
int live_take(struct live *live, struct live_try *try, struct fragment *fragment, struct error *error);

/* Finds the try with the task, rank and start time of a line of the task log. Returns NULL if there is no such try. */
const struct live_try *live_find(const struct live *live, uint64_t task, uint64_t rank, double began_s);

void live_forget(struct live *live, uint64_t task);
