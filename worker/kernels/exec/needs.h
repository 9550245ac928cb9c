/* SPDX-License-Identifier: MIT */
/* Needs of tasks: cores, memory and GPUs of their node. */
#pragma once

#include "common/util/error.h"
#include "worker/kernels/exec/tasks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum need { NEED_CORES, NEED_MEMORY, NEED_GPUS, NEEDS };

/* What a task needs, or what a node has; memory in bytes. */
struct needs {
    uint64_t amount[NEEDS];
};

/* Where needs are given: for all tasks, and in the columns `cores`, `memory` and `gpus`. */
struct needs_source {
    struct needs all;       /* for tasks without a value in the column */
    bool is_counted[NEEDS]; /* tasks wait for it, and are refused by a node with too little of it */
    int column[NEEDS];      /* -1: none */
};

/* Parses a need: a number; memory in bytes or with K, M, G or T (1K is 1024). */
int need_parse(enum need need, const char *text, size_t length, uint64_t *amount, struct error *error);

/* Formats an amount: "2 cores", "1.5G of memory". Returns `text`. */
#define NEED_TEXT_MAX 48
const char *need_text(enum need need, uint64_t amount, char text[NEED_TEXT_MAX]);

/* `memory`: text, or "" if not given; 0 cores or GPUs: not given. */
int needs_init(struct needs_source *source, const struct tasks *tasks, uint64_t cores, const char *memory,
               uint64_t gpus, struct error *error);

/* True if tasks need anything, and so may wait for each other. */
static inline bool needs_are_given(const struct needs_source *source)
{
    return source->is_counted[NEED_CORES] || source->is_counted[NEED_MEMORY] || source->is_counted[NEED_GPUS];
}

static inline bool needs_differ(const struct needs_source *source)
{
    return source->column[NEED_CORES] >= 0 || source->column[NEED_MEMORY] >= 0 || source->column[NEED_GPUS] >= 0;
}

int needs_of_task(const struct needs_source *source, const struct tasks *tasks, struct needs *needs,
                  struct error *error);

/* Fails if the needs exceed `has`: "needs 8 cores; this node has 2". */
int needs_check(const struct needs *needs, const struct needs *has, struct error *error);
