/* SPDX-License-Identifier: MIT */
/* What tasks need of their node: cores, memory and GPUs. */
#pragma once

#include "common/util/error.h"
#include "worker/kernels/exec/tasks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum need { NEED_CORES, NEED_MEMORY, NEED_GPUS, NEEDS };

/* What a task needs, or what a node has. Memory is in bytes. */
struct needs {
    uint64_t amount[NEEDS];
};

struct needs_source {
    struct needs all;
    bool is_counted[NEEDS];
    int column[NEEDS];
};

/* Parses a number; memory may have K, M, G or T (1K is 1024). */
int need_parse(enum need need, const char *text, size_t length, uint64_t *amount, struct error *error);

#define NEED_TEXT_MAX 48
const char *need_text(enum need need, uint64_t amount, char text[NEED_TEXT_MAX]);

/* `memory` "", `cores` 0 and `gpus` 0 mean that these needs are not given. */
int needs_init(struct needs_source *source, const struct tasks *tasks, uint64_t cores, const char *memory,
               uint64_t gpus, struct error *error);

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

int needs_check(const struct needs *needs, const struct needs *has, struct error *error);
