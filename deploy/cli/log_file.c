/* SPDX-License-Identifier: MIT */
/* Reads task logs, and what the tasks have written: see log_file.h. */
#include "deploy/cli/log_file.h"

#include "common/results/tail.h"
#include "common/util/grow.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE (64u << 10)

static int log_no_memory(const struct log_file *log, struct error *error)
{
    return error_set(error, "%.200s: out of memory", log->path);
}

static int refuse_read(const char *path, struct error *error)
{
    return error_set(error, "%.200s: %s", path, strerror(errno));
}

static int add_record(struct log_file *log, const struct log_record *record, struct error *error)
{
    struct log_record *grown = grow(log->records, log->count, &log->capacity, sizeof *grown);
    if (grown == NULL)
        return log_no_memory(log, error);
    log->records = grown;
    log->records[log->count++] = *record;
    return 0;
}

static int take_row(struct log_file *log, const struct task_row *row, uint64_t at, struct error *error)
{
    const struct log_record record = {.number = row->number,
                                      .at = at,
                                      .started_s = row->started_s,
                                      .runtime_s = row->runtime_s,
                                      .has_failed = task_row_failed(row),
                                      .tried_again = row->tries > 1,
                                      .worker = (uint32_t)row->worker,
                                      .node = (uint32_t)row->node,
                                      .out = row->out,
                                      .err = row->err};
    return add_record(log, &record, error);
}

static size_t line_length(const char *line, ssize_t length)
{
    return length > 0 && line[length - 1] == '\n' ? (size_t)length - 1 : (size_t)length;
}

static int read_lines(struct log_file *log, struct error *error)
{
    struct task_row row;
    uint64_t at = 0;
    int result = 0;
    for (ssize_t length; result == 0 && (length = getline(&log->line, &log->room, log->file)) > 0;
         at += (uint64_t)length) {
        if (at == 0)
            continue;
        if (task_row_read(&row, log->kind, log->line, line_length(log->line, length)))
            result = take_row(log, &row, at, error);
        else
            log->strange++;
    }
    return result == 0 && ferror(log->file) ? refuse_read(log->path, error) : result;
}

/* Orders records by task number. If a task has several lines, its last line comes first. */
static int by_number(const void *a, const void *b)
{
    const struct log_record *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->at < y->at) - (x->at > y->at);
}

static void sort_records(struct log_file *log)
{
    size_t kept = 0;
    if (log->count == 0)
        return;
    qsort(log->records, log->count, sizeof *log->records, by_number);
    for (size_t i = 0; i < log->count; i++)
        if (kept == 0 || log->records[i].number != log->records[kept - 1].number)
            log->records[kept++] = log->records[i];
    log->count = kept;
}

int log_file_row(struct log_file *log, const struct log_record *record, struct task_row *row, struct error *error)
{
    if (fseeko(log->file, (off_t)record->at, SEEK_SET) == 0) {
        const ssize_t length = getline(&log->line, &log->room, log->file);
        if (length > 0 && task_row_read(row, log->kind, log->line, line_length(log->line, length)))
            return 0;
    }
    return error_set(error, "%.200s: was changed while it was read", log->path);
}

const struct log_record *log_file_find(const struct log_file *log, uint64_t number)
{
    size_t low = 0, high = log->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (log->records[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < log->count && log->records[low].number == number ? &log->records[low] : NULL;
}

static uint64_t size_of(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) ? (uint64_t)status.st_size : UINT64_MAX;
}

/* Computes where each task's output is in the files, which are in the order of task numbers. Returns false if the files
 * do not belong to this log. */
static bool place_records(struct log_file *log)
{
    uint64_t out = 0, err = 0;
    for (size_t i = 0; i < log->count; i++) {
        struct log_record *record = &log->records[i];
        record->out_at = out;
        record->err_at = err;
        out += record->out;
        err += record->err;
    }
    return out == size_of(log->output) && err == size_of(log->errors);
}

static bool try_output(struct log_file *log, const char *stem, size_t length, const char *ending)
{
    const bool has_stem = strcmp(ending, ".out") == 0;
    snprintf(log->output, sizeof log->output, "%.*s%s", (int)length, stem, ending);
    snprintf(log->errors, sizeof log->errors, "%.*s%s.err", (int)length, stem, has_stem ? "" : ending);
    if (!place_records(log))
        return false;
    log->out = fopen(log->output, "r");
    log->err = fopen(log->errors, "r");
    log->streams = log->out != NULL && log->err != NULL ? LOG_STREAMS_FILES : LOG_STREAMS_UNKNOWN;
    return log->streams == LOG_STREAMS_FILES;
}

static bool ends_with(const char *text, const char *ending)
{
    const size_t length = strlen(text), own = strlen(ending);
    return length > own && strcmp(text + length - own, ending) == 0;
}

static void find_streams(struct log_file *log, const char *output)
{
    const char *name = output != NULL ? output : log->path;
    const size_t length = strlen(name);
    if (log->kind != TASK_LOG_HDSS)
        return;
    if (output != NULL && !(ends_with(name, ".out") && try_output(log, name, length - 4, ".out")))
        try_output(log, name, length, "");
    else if (output == NULL && ends_with(name, ".log") && !try_output(log, name, length - 4, ".out"))
        try_output(log, name, length - 4, "");
}

static const unsigned char *find_stream(const struct block *block, uint32_t index, unsigned stream)
{
    const unsigned char *at = block->stream[stream];
    for (uint32_t i = 0; i < index; i++)
        at += block_length(block, i, stream);
    return at;
}

static bool keep_errors(struct log_file *log, const unsigned char *errors, uint32_t length, uint64_t *at)
{
    const size_t kept = length < LOG_ERRORS_KEPT ? length : LOG_ERRORS_KEPT;
    const uint64_t begin = *at;
    *at += kept;
    /* Only the end of the errors is kept. This is the position at which the errors would begin if all had been kept. */
    log->records[log->count - 1].err_at = begin + kept - length;
    return fwrite(errors + length - kept, 1, kept, log->err) == kept;
}

static int take_block(struct log_file *log, const struct block *block, uint64_t *at, uint64_t *err_at,
                      struct error *error)
{
    const unsigned char *line = block->stream[TASK_STREAM_LOG], *errors = block->stream[TASK_STREAM_ERR];
    struct task_row row;
    for (uint32_t i = 0; i < block->count; i++) {
        const uint32_t length = block_length(block, i, TASK_STREAM_LOG),
                       bytes = block_length(block, i, TASK_STREAM_ERR);
        if (task_row_read(&row, TASK_LOG_HDSS, (const char *)line, line_length((const char *)line, length))) {
            if (take_row(log, &row, *at, error) < 0)
                return -1;
            log->records[log->count - 1].err = bytes;
            if (!keep_errors(log, errors, bytes, err_at))
                return error_set(error, "no room for a file under /tmp: %s", strerror(errno));
        }
        if (fwrite(line, 1, length, log->file) != length)
            return error_set(error, "no room for a file under /tmp: %s", strerror(errno));
        *at += length;
        line += length;
        errors += bytes;
    }
    return 0;
}

static int read_parts(struct log_file *log, const char *output, struct error *error)
{
    struct results_tail *tail = results_tail_begin(output, TASK_STREAMS, true, error);
    struct results_entry entry;
    uint64_t at = 0, err_at = 0;
    int more = tail == NULL ? -1 : 1;
    log->file = tmpfile();
    log->err = tmpfile();
    if (more > 0 && (log->file == NULL || log->err == NULL))
        more = error_set(error, "no room for a file under /tmp: %s", strerror(errno));
    while (more > 0) {
        more = results_tail_next(tail, true, &entry, error);
        if (more > 0 && take_block(log, results_tail_block(tail), &at, &err_at, error) < 0)
            more = -1;
    }
    if (tail != NULL)
        results_tail_end(tail);
    log->kind = TASK_LOG_HDSS;
    log->streams = LOG_STREAMS_PARTS;
    snprintf(log->path, sizeof log->path, "%.*s.parts", (int)sizeof log->path - 7, output);
    snprintf(log->output, sizeof log->output, "%s", output);
    return more;
}

static bool has_parts(const char *stem, size_t length, const char *ending, char output[PATH_MAX])
{
    char run[PATH_MAX + 16];
    snprintf(output, PATH_MAX, "%.*s%s", (int)length, stem, ending);
    snprintf(run, sizeof run, "%s.parts/run", output);
    return access(run, F_OK) == 0;
}

/* Returns 1 if the file is a task log, 0 if it is another file or does not exist, or -1 on failure. */
static int open_log(struct log_file *log, const char *stem, size_t length, const char *ending, struct error *error)
{
    struct stat status;
    snprintf(log->path, sizeof log->path, "%.*s%s", (int)length, stem, ending);
    if (stat(log->path, &status) < 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : refuse_read(log->path, error);
    if (S_ISDIR(status.st_mode))
        return 0;
    if (!S_ISREG(status.st_mode))
        return error_set(error, "%.200s: is not a regular file", log->path);
    log->file = fopen(log->path, "r");
    if (log->file == NULL)
        return refuse_read(log->path, error);
    const ssize_t first = getline(&log->line, &log->room, log->file);
    log->kind = first > 0 ? task_log_kind(log->line, line_length(log->line, first)) : TASK_LOG_NONE;
    if (log->kind != TASK_LOG_NONE) {
        rewind(log->file);
        return 1;
    }
    fclose(log->file);
    log->file = NULL;
    return 0;
}

/* `name` may be the name of the log, of the list or of the output. Returns the same as open_log(). */
static int find_log(struct log_file *log, const char *name, struct error *error)
{
    const size_t length = strlen(name);
    int found = open_log(log, name, length, "", error);
    if (found == 0)
        found = open_log(log, name, length, ".log", error);
    if (found == 0 && ends_with(name, ".out"))
        found = open_log(log, name, length - 4, ".log", error);
    return found;
}

static bool find_parts(const char *name, char output[PATH_MAX])
{
    const size_t length = strlen(name);
    return has_parts(name, length, "", output) || has_parts(name, length, ".out", output) ||
           (ends_with(name, ".parts") && has_parts(name, length - 6, "", output)) ||
           (ends_with(name, ".log") &&
            (has_parts(name, length - 4, ".out", output) || has_parts(name, length - 4, "", output)));
}

int log_file_open(struct log_file *log, const char *name, const char *output, struct error *error)
{
    char parts[PATH_MAX];
    *log = (struct log_file){0};
    if (strlen(name) > PATH_MAX - 16)
        return error_set(error, "%.60s...: the name is too long", name);
    int found = find_log(log, name, error);
    if (found == 0 && find_parts(name, parts))
        found = read_parts(log, parts, error) < 0 ? -1 : 2;
    else if (found == 0)
        found = access(name, F_OK) == 0
                    ? error_set(error, "%.200s: is no task log, and there is no %.200s.log", name, name)
                    : error_set(error, "%.200s: there is no such file, and no %.200s.log", name, name);
    if (found == 1 && read_lines(log, error) < 0)
        found = -1;
    if (found < 0) {
        log_file_close(log);
        return -1;
    }
    sort_records(log);
    if (found == 1)
        find_streams(log, output);
    return 0;
}

static void close_file(FILE **file)
{
    if (*file != NULL)
        fclose(*file);
    *file = NULL;
}

void log_file_close(struct log_file *log)
{
    close_file(&log->file);
    close_file(&log->out);
    close_file(&log->err);
    free(log->records);
    free(log->line);
    log->records = NULL;
    log->line = NULL;
}

size_t log_file_errors(struct log_file *log, const struct log_record *record, char bytes[LOG_ERRORS_KEPT])
{
    const size_t kept = record->err < LOG_ERRORS_KEPT ? record->err : LOG_ERRORS_KEPT;
    if (log->streams == LOG_STREAMS_UNKNOWN || kept == 0 ||
        fseeko(log->err, (off_t)(record->err_at + record->err - kept), SEEK_SET) < 0)
        return 0;
    return fread(bytes, 1, kept, log->err);
}

static int hand_over(FILE *file, const char *path, uint64_t at, uint64_t length, unsigned stream, log_taker *take,
                     void *context, struct error *error)
{
    char *bytes = malloc(PIECE);
    int result = bytes == NULL || fseeko(file, (off_t)at, SEEK_SET) < 0 ? refuse_read(path, error) : 0;
    while (result == 0 && length > 0) {
        const size_t wanted = length < PIECE ? length : PIECE, there = fread(bytes, 1, wanted, file);
        result = there == 0 ? error_set(error, "%.200s: was changed while it was read", path)
                            : take(context, stream, bytes, there, error);
        length -= there;
    }
    free(bytes);
    return result;
}

/* Passes on a task's output from the parts. If the parts have several tries of the task, only the last try is passed
 * on. The log treats its lines in the same way. */
static int hand_over_parts(const struct log_file *log, uint64_t task, log_taker *take, void *context,
                           struct error *error)
{
    struct results_tail *tail = results_tail_begin(log->output, TASK_STREAMS, true, error);
    struct results_entry entry, last = {0};
    uint64_t first;
    bool is_there = false;
    int more = tail == NULL ? -1 : 1;
    while (more > 0) {
        more = results_tail_next(tail, true, &entry, error);
        if (more > 0 && task >= entry.first && task - entry.first < results_tail_block(tail)->count) {
            last = entry;
            is_there = true;
        }
    }
    if (more == 0 && is_there && results_tail_load(tail, last.place, &first, error) < 0)
        more = -1;
    for (unsigned s = 0; more == 0 && is_there && s < TASK_STREAM_LOG; s++) {
        const struct block *block = results_tail_block(tail);
        const uint32_t index = (uint32_t)(task - last.first);
        const uint32_t length = block_length(block, index, s);
        more = length > 0 ? take(context, s, find_stream(block, index, s), length, error) : 0;
    }
    if (tail != NULL)
        results_tail_end(tail);
    return more;
}

int log_file_streams(struct log_file *log, const struct log_record *record, log_taker *take, void *context,
                     struct error *error)
{
    if (log->streams == LOG_STREAMS_UNKNOWN)
        return 0;
    if (log->streams == LOG_STREAMS_PARTS)
        return hand_over_parts(log, record->number - 1, take, context, error);
    if (hand_over(log->out, log->output, record->out_at, record->out, 0, take, context, error) < 0)
        return -1;
    return hand_over(log->err, log->errors, record->err_at, record->err, 1, take, context, error);
}

int log_file_add_reason(struct log_file *log, const struct log_record *record, struct reasons *reasons,
                        struct error *error)
{
    struct task_row row;
    char bytes[LOG_ERRORS_KEPT];
    if (log_file_row(log, record, &row, error) < 0)
        return -1;
    const size_t length = reasons_know(reasons, &row) ? 0 : log_file_errors(log, record, bytes);
    reasons_add(reasons, &row, bytes, length);
    return 0;
}
