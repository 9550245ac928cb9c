/* SPDX-License-Identifier: MIT */
/* A task log with the output of its tasks, where that is there: the files of a run that is done, or the parts of one
 * that goes on or was cut off. */
#pragma once

#include "common/metrics/task_log.h"
#include "common/util/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The end of a task's errors that is kept at hand. */
#define LOG_ERRORS_KEPT 4096

/* A line of the log. */
struct log_record {
    uint64_t number, at; /* its task, and its place in the file */
    double started_s, runtime_s;
    bool has_failed, tried_again;
    uint32_t worker, node;
    uint64_t out, err, out_at, err_at; /* bytes of the task, and their places in the files, where those are known */
};

enum log_streams { LOG_STREAMS_UNKNOWN, LOG_STREAMS_FILES, LOG_STREAMS_PARTS };

struct log_file {
    char path[PATH_MAX];
    FILE *file;
    enum task_log kind;
    struct log_record *records; /* owned; by the tasks' numbers, the last line of each */
    size_t count, capacity;
    uint64_t strange; /* lines that are none of a task log */
    enum log_streams streams;
    char output[PATH_MAX], errors[PATH_MAX]; /* files, or the name of the parts' output */
    FILE *out, *err;
    char *line; /* owned: the line that was read last */
    size_t room;
};

/* Opens the log of that name, or the one that belongs to the list or the output of that name. `output` is the output of
 * its run, NULL: it is looked for beside the log. -1 with one line. */
int log_file_open(struct log_file *log, const char *name, const char *output, struct error *error);
void log_file_close(struct log_file *log);

/* NULL where there is no such task. */
const struct log_record *log_file_find(const struct log_file *log, uint64_t number);

/* Reads the line of a record; the texts of the row stay until the next one is read. -1 with one line. */
int log_file_row(struct log_file *log, const struct log_record *record, struct task_row *row, struct error *error);

/* Reads the end of what the task wrote on its errors, and returns how many bytes that is; 0 where it is not known. */
size_t log_file_errors(struct log_file *log, const struct log_record *record, char bytes[LOG_ERRORS_KEPT]);

/* Takes a piece of a stream, 0 output, 1 errors. -1 with one line. */
typedef int log_taker(void *context, unsigned stream, const void *bytes, size_t count, struct error *error);

/* Hands over all output of a task, then its errors; log->streams says whether they are known. -1 with one line. */
int log_file_streams(struct log_file *log, const struct log_record *record, log_taker *take, void *context,
                     struct error *error);
