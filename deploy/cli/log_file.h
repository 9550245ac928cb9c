/* SPDX-License-Identifier: MIT */
/* A task log with the output of its tasks, if available: the files of a finished run, or the parts of one that is
 * running or was interrupted. */
#pragma once

#include "common/metrics/task_log.h"
#include "common/util/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Limit of errors kept per task. */
#define LOG_ERRORS_KEPT 4096

/* A line of the log. */
struct log_record {
    uint64_t number, at; /* task number, and offset of the line in the file */
    double started_s, runtime_s;
    bool has_failed, tried_again;
    uint32_t worker, node;
    uint64_t out, err, out_at, err_at; /* sizes of the task's output, and offsets in the files if known */
};

enum log_streams { LOG_STREAMS_UNKNOWN, LOG_STREAMS_FILES, LOG_STREAMS_PARTS };

struct log_file {
    char path[PATH_MAX];
    FILE *file;
    enum task_log kind;
    struct log_record *records; /* sorted by task number, only the last line of each; owned */
    size_t count, capacity;
    uint64_t strange; /* lines that are not of a task log */
    enum log_streams streams;
    char output[PATH_MAX], errors[PATH_MAX]; /* files, or the name of the output with parts */
    FILE *out, *err;
    char *line; /* last line read; owned */
    size_t room;
};

/* Opens the log `name`, or that of the list or output `name`. `output`: the run's output; NULL: it is looked for beside
 * the log. */
int log_file_open(struct log_file *log, const char *name, const char *output, struct error *error);
void log_file_close(struct log_file *log);

/* NULL if there is no such task. */
const struct log_record *log_file_find(const struct log_file *log, uint64_t number);

/* Parses the line of a record; the texts in `row` are valid until the next call. */
int log_file_row(struct log_file *log, const struct log_record *record, struct task_row *row, struct error *error);

/* Copies the end of the task's errors and returns its length; 0 if unknown. */
size_t log_file_errors(struct log_file *log, const struct log_record *record, char bytes[LOG_ERRORS_KEPT]);

/* Receives a piece of a stream: 0 output, 1 errors. */
typedef int log_taker(void *context, unsigned stream, const void *bytes, size_t count, struct error *error);

/* Passes the task's output, then its errors; log->streams tells whether they are known. */
int log_file_streams(struct log_file *log, const struct log_record *record, log_taker *take, void *context,
                     struct error *error);
