/* SPDX-License-Identifier: MIT */
/* A task log, together with the output of the tasks if that still exists. If the run is over, the output is in files.
 * If the run continues or was interrupted, it is in the parts. */
#pragma once

#include "common/metrics/reasons.h"
#include "common/metrics/task_log.h"
#include "common/util/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define LOG_ERRORS_KEPT 4096

struct log_record {
    uint64_t number, at;
    double started_s, runtime_s;
    bool has_failed, tried_again;
    uint32_t worker, node;
    uint64_t out, err, out_at, err_at;
};

enum log_streams { LOG_STREAMS_UNKNOWN, LOG_STREAMS_FILES, LOG_STREAMS_PARTS };

struct log_file {
    char path[PATH_MAX];
    FILE *file;
    enum task_log kind;
    /* owned; ordered by task number; one record for each task, of the last line that the task has */
    struct log_record *records;
    size_t count, capacity;
    uint64_t strange;
    enum log_streams streams;
    /* LOG_STREAMS_FILES: paths of the two files. LOG_STREAMS_PARTS: `output` is the path of the output to which the
     * parts belong. */
    char output[PATH_MAX], errors[PATH_MAX];
    FILE *out, *err;
    char *line;
    size_t room;
};

/* Opens a log. `name` is its path, or the path of the list or output of its run. `output`: path of the run's output;
 * NULL: the output is searched beside the log. */
int log_file_open(struct log_file *log, const char *name, const char *output, struct error *error);
void log_file_close(struct log_file *log);

const struct log_record *log_file_find(const struct log_file *log, uint64_t number);

/* Parses the line of a record. The texts of `row` are valid until the next call. */
int log_file_row(struct log_file *log, const struct log_record *record, struct task_row *row, struct error *error);

/* Copies the end of the task's errors, and returns its length; 0: unknown. */
size_t log_file_errors(struct log_file *log, const struct log_record *record, char bytes[LOG_ERRORS_KEPT]);

/* Adds the reason of a failed task, with the last line of its errors if the reason is new. */
int log_file_add_reason(struct log_file *log, const struct log_record *record, struct reasons *reasons,
                        struct error *error);

/* Gets a piece of a stream: stream 0 is output, 1 errors. */
typedef int log_taker(void *context, unsigned stream, const void *bytes, size_t count, struct error *error);

/* Passes on the task's output, then its errors. log->streams says whether they are known. */
int log_file_streams(struct log_file *log, const struct log_record *record, log_taker *take, void *context,
                     struct error *error);
