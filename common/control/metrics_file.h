/* SPDX-License-Identifier: MIT */
/* The metrics of a run or set in a file for node-exporter's textfile collector: see metrics_file.c. */
#pragma once

#include "common/control/source.h"
#include "common/util/error.h"

#define METRICS_FILE_EVERY_MS 10000

/* The struct metrics_file borrows all pointers until it is freed. It copies only `path`. */
struct metrics_file_setup {
    struct event_base *base;
    const char *path;
    unsigned every_ms;
    const char *version;
    const struct control_source *source;
    void (*warn)(void *context, const char *line);
    void *context;
};

struct metrics_file;

/* Writes the first text, and starts a thread that writes the others. The caller must have set `has_threads` in its
 * struct introduction. */
struct metrics_file *metrics_file_new(const struct metrics_file_setup *setup, struct error *error);

/* Writes the last text, which contains the exit status of the run, and waits until the text is on disk. Must be called
 * before the base is freed. `file` may be NULL. */
void metrics_file_free(struct metrics_file *file, int status);
