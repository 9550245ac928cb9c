/* SPDX-License-Identifier: MIT */
/* The metrics of a run or a set in a file, for the textfile collector of Prometheus' node-exporter: see metrics_file.c.
 */
#pragma once

#include "common/control/source.h"
#include "common/util/error.h"

/* The time from one text to the next. */
#define METRICS_FILE_EVERY_MS 10000

/* All of it is borrowed for the life of the file; `path` is copied. */
struct metrics_file_setup {
    struct event_base *base; /* the one that the rank waits in */
    const char *path;
    unsigned every_ms;
    const char *version;
    const struct control_source *source;
    /* Says one line that ends no run: the name is not one that the collector reads, or a text could not be written. */
    void (*warn)(void *context, const char *line);
    void *context;
};

struct metrics_file;

/* Writes the first text, and starts a thread that writes the others: struct introduction is to say so. NULL with one
 * line where that cannot be. */
struct metrics_file *metrics_file_new(const struct metrics_file_setup *setup, struct error *error);

/* Writes the last text: the run, with this exit status, or the set is over. NULL is fine. Before the base is freed. It
 * waits for the disk. */
void metrics_file_free(struct metrics_file *file, int status);
