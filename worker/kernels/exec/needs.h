/* SPDX-License-Identifier: MIT */
/* Needs of tasks: cores, memory and GPUs of the node that they run on. */
#pragma once

#include "common/util/error.h"
#include "worker/kernels/exec/tasks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum need { NEED_CORES, NEED_MEMORY, NEED_GPUS, NEEDS };

/* Amounts of each, memory in bytes: what a task needs, or what a node has. */
struct needs {
    uint64_t amount[NEEDS];
};

/* Where the needs of tasks are said: once for all tasks, and in the columns `cores`, `memory` and `gpus`. */
struct needs_source {
    struct needs all;       /* also of a task whose field is empty */
    bool is_counted[NEEDS]; /* tasks wait for it, and are refused where a node has too little of it */
    int column[NEEDS];      /* -1: there is none */
};

/* Reads a need as people write it: a number; of memory bytes, or with K, M, G or T behind it (1K is 1024). -1 with one
 * line. */
int need_parse(enum need need, const char *text, size_t length, uint64_t *amount, struct error *error);

/* An amount as people write it, "2 cores" or "1.5G of memory". Returns `text`. */
#define NEED_TEXT_MAX 48
const char *need_text(enum need need, uint64_t amount, char text[NEED_TEXT_MAX]);

/* `memory` is text, "" where nothing is said; 0 cores or GPUs: nothing is said. -1 with one line. */
int needs_init(struct needs_source *source, const struct tasks *tasks, uint64_t cores, const char *memory,
               uint64_t gpus, struct error *error);

/* True if tasks need anything: else none of them waits for another. */
static inline bool needs_are_given(const struct needs_source *source)
{
    return source->is_counted[NEED_CORES] || source->is_counted[NEED_MEMORY] || source->is_counted[NEED_GPUS];
}

/* True if tasks differ in their needs. */
static inline bool needs_differ(const struct needs_source *source)
{
    return source->column[NEED_CORES] >= 0 || source->column[NEED_MEMORY] >= 0 || source->column[NEED_GPUS] >= 0;
}

/* The needs of the task at hand. -1 with one line. */
int needs_of_task(const struct needs_source *source, const struct tasks *tasks, struct needs *needs,
                  struct error *error);

/* -1 with one line, such as "needs 8 cores; this node has 2", where that is more than there is. */
int needs_check(const struct needs *needs, const struct needs *has, struct error *error);
