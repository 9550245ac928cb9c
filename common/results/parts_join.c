/* SPDX-License-Identifier: MIT */
/* Joins parts: writes the streams of all iterations in order. */
#include "common/metrics/reasons.h"
#include "common/metrics/task_log.h"
#include "common/results/parts.h"
#include "common/results/partial.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES (1u << 20)
struct stream {
    struct partial partial;
    FILE *file;
    char *buffer;
};

struct join {
    const char *path;
    const struct hdss_loop *loop;
    struct range whole; /* iterations that must exist; count 0: iterations may be missing */
    uint64_t next;
    struct ranges *failed;
    struct reasons *reasons;
    unsigned log;
    struct stream stream[HDSS_STREAMS_MAX];
};

static int parts_join_refuse(const struct join *join, unsigned s, const char *what, struct error *error)
{
    char path[PATH_MAX];
    int reason = errno;
    parts_stream_file(join->path, join->loop->stream[s].ending, path);
    return error_set(error, "%.150s: %s: %s; the results are kept in %.150s.parts", path, what, strerror(reason),
                     join->path);
}

static int open_stream(struct join *join, unsigned s, struct error *error)
{
    struct stream *stream = &join->stream[s];
    const struct hdss_stream *described = &join->loop->stream[s];
    char path[PATH_MAX];
    if (partial_init(&stream->partial, parts_stream_file(join->path, described->ending, path), error) < 0)
        return -1;
    stream->buffer = malloc(BUFFER_BYTES);
    stream->file = stream->buffer != NULL ? partial_open(&stream->partial) : NULL;
    if (stream->file == NULL)
        return parts_join_refuse(join, s, "cannot create", error);
    setvbuf(stream->file, stream->buffer, _IOFBF, BUFFER_BYTES);
    if (described->heading != NULL && fputs(described->heading, stream->file) < 0)
        return parts_join_refuse(join, s, "cannot write", error);
    return 0;
}

static uint64_t sum_lengths(const struct block *block, unsigned s, uint32_t from, uint32_t count)
{
    uint64_t sum = 0;
    if (from == 0 && count == block->count)
        return block->bytes[s];
    for (uint32_t i = from; i < from + count; i++)
        sum += block_length(block, i, s);
    return sum;
}

static unsigned find_log(const struct hdss_loop *loop)
{
    for (unsigned s = 0; loop->are_tasks && s < loop->streams; s++) {
        const char *heading = loop->stream[s].heading;
        const size_t length = heading != NULL ? strcspn(heading, "\n") : 0;
        if (task_log_kind(heading, length) == TASK_LOG_HDSS)
            return s;
    }
    return loop->streams;
}

struct piece_of {
    const char *at;
    uint32_t length;
};

static void note_reason(const struct join *join, struct piece_of line, struct piece_of errors)
{
    struct task_row row;
    if (line.length > 0 && line.at[line.length - 1] == '\n')
        line.length--;
    if (task_row_read(&row, TASK_LOG_HDSS, line.at, line.length))
        reasons_add(join->reasons, &row, errors.at, errors.length);
}

static void note_reasons(const struct join *join, const struct block *block, uint32_t from, uint32_t count)
{
    const unsigned log = join->log;
    struct piece_of line = {(const char *)block->stream[log], 0};
    struct piece_of errors = {(const char *)block->stream[TASK_STREAM_ERR], 0};
    for (uint32_t i = 0; i < from + count; i++) {
        line.length = block_length(block, i, log);
        errors.length = block_length(block, i, TASK_STREAM_ERR);
        if (i >= from && block_failed(block, i))
            note_reason(join, line, errors);
        line.at += line.length;
        errors.at += errors.length;
    }
}

static int note_failed(void *context, uint64_t first, const struct block *block, uint32_t from, uint32_t count,
                       struct error *error)
{
    const struct join *join = context;
    uint32_t failed = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!block_failed(block, from + i))
            continue;
        failed++;
        if (ranges_add(join->failed, first + i, 1, NULL) < 0)
            return error_set(error, "out of memory for what failed");
    }
    if (failed > 0 && join->reasons != NULL && join->log < block->streams)
        note_reasons(join, block, from, count);
    return 0;
}

static int refuse_gap(const struct join *join, struct error *error)
{
    if (join->loop->are_tasks)
        return error_set(error, "%.150s.parts: the output of task %" PRIu64 " is missing there", join->path,
                         join->next + 1);
    return error_set(error, "%.150s.parts: the results of iteration %" PRIu64 " are missing there", join->path,
                     join->next);
}

static int parts_join_take(void *context, uint64_t first, const struct block *block, uint32_t from, uint32_t count,
                           struct error *error)
{
    struct join *join = context;
    if (first > join->next && join->next < join->whole.first + join->whole.count)
        return refuse_gap(join, error);
    join->next = first + count > join->next ? first + count : join->next;
    if (note_failed(join, first, block, from, count, error) < 0)
        return -1;
    for (unsigned s = 0; s < block->streams; s++) {
        const unsigned char *bytes = block->stream[s] + sum_lengths(block, s, 0, from);
        uint64_t length = sum_lengths(block, s, from, count);
        if (length > 0 && fwrite(bytes, 1, length, join->stream[s].file) != length)
            return parts_join_refuse(join, s, "cannot write", error);
    }
    return 0;
}

static int close_stream(struct join *join, unsigned s, struct error *error)
{
    struct stream *stream = &join->stream[s];
    int result = 0;
    if (stream->file != NULL && fclose(stream->file) != 0)
        result = parts_join_refuse(join, s, "cannot write", error);
    stream->file = NULL;
    free(stream->buffer);
    return result;
}

static int parts_join_end(struct join *join, int result, struct error *error)
{
    for (unsigned s = 0; s < join->loop->streams; s++)
        if (close_stream(join, s, result == 0 ? error : NULL) < 0)
            result = -1;
    for (unsigned s = 0; s < join->loop->streams; s++) {
        if (join->stream[s].partial.name[0] == '\0')
            continue;
        if (result == 0 && partial_keep(&join->stream[s].partial) < 0)
            result = parts_join_refuse(join, s, "cannot replace", error);
        if (result < 0)
            partial_drop(&join->stream[s].partial);
    }
    return result;
}

int parts_review(const char *path, const struct hdss_loop *loop, const struct ranges *among, struct ranges *failed,
                 struct reasons *reasons, struct error *error)
{
    struct join join = {.loop = loop, .failed = failed, .reasons = reasons, .log = find_log(loop)};
    return among != NULL && ranges_total(among) == 0 ? 0
                                                     : parts_sweep(path, loop, among, false, note_failed, &join, error);
}

int parts_join(const char *path, const struct hdss_loop *loop, const struct range *whole, struct ranges *failed,
               struct reasons *reasons, struct error *error)
{
    struct join *join = calloc(1, sizeof *join);
    int result = 0;
    if (join == NULL)
        return error_set(error, "%.200s: out of memory", path);
    *join = (struct join){.path = path,
                          .loop = loop,
                          .whole = *whole,
                          .next = whole->first,
                          .failed = failed,
                          .reasons = reasons,
                          .log = find_log(loop)};
    for (unsigned s = 0; result == 0 && s < loop->streams; s++)
        result = open_stream(join, s, error);
    if (result == 0)
        result = parts_sweep(path, loop, NULL, false, parts_join_take, join, error);
    if (result == 0 && join->next < whole->first + whole->count)
        result = refuse_gap(join, error);
    result = parts_join_end(join, result, error);
    free(join);
    return result;
}
