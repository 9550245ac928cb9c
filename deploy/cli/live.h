/* SPDX-License-Identifier: MIT */
/* The lines that tasks write while they run: the fragments in a folder that their workers add to
 * (worker/kernels/exec/fragments.h), by the tries of the tasks. Files that are read and have a successor are removed.
 */
#pragma once

#include "common/util/error.h"
#include "worker/kernels/exec/fragments.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct live_file {
    unsigned rank, number;
    uint64_t at; /* behind the last head that was found */
    uint64_t task, began_ms;
};

/* A try of a task. */
struct live_try {
    uint64_t task, began_ms;
    unsigned rank, number; /* its file */
    uint64_t at;           /* its next fragment */
    uint64_t shown[2];     /* bytes of its streams before that */
};

struct live {
    const char *folder; /* NULL: nothing is looked for; borrowed */
    struct live_file *files;
    size_t file_count, file_capacity;
    struct live_try *tries; /* in the order in which they were found */
    size_t try_count, try_capacity;
    int file; /* the one that was opened last; -1: none */
    unsigned file_rank, file_number;
    char *bytes; /* of the fragment that was taken last; owned */
    size_t room;
};

void live_init(struct live *live, const char *folder);
void live_fini(struct live *live);

/* Looks for tries that are new, but of tasks for which `is_over`. -1 with one line. */
int live_look(struct live *live, bool (*is_over)(const void *context, uint64_t task), const void *context,
              struct error *error);

/* Takes the next fragment of a try: its bytes are in live->bytes until the next call. 1; 0 where there is none by now;
 * -1 with one line. */
int live_take(struct live *live, struct live_try *try, struct fragment *fragment, struct error *error);

/* The try of a task on that rank that began then, as the task log says it; NULL: nothing of it was found. */
const struct live_try *live_find(const struct live *live, uint64_t task, uint64_t rank, double began_s);

/* Drops the tries of a task that is over. */
void live_forget(struct live *live, uint64_t task);
