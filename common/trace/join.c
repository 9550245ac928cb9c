/* SPDX-License-Identifier: MIT */
/* The trace of a run: see join.h. */
#include "common/trace/join.h"

#include "common/os/files.h"
#include "common/trace/rows.h"
#include "common/trace/spool.h"
#include "common/trace/writer.h"
#include "common/util/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct trace_format *const formats[TRACE_FORMS] = {
    [TRACE_CSV] = &trace_csv, [TRACE_PERFETTO] = &trace_perfetto};

enum trace_form trace_form_of(const char *path)
{
    const size_t length = strlen(path);
    for (unsigned i = 0; i < TRACE_FORMS; i++) {
        const size_t ending = strlen(formats[i]->ending);
        if (length > ending && strcmp(path + length - ending, formats[i]->ending) == 0)
            return (enum trace_form)i;
    }
    return TRACE_FORMS;
}

int trace_check(const char *path, struct error *error)
{
    return trace_form_of(path) < TRACE_FORMS ? file_check_writable(path, error)
                                             : error_set(error, "%.300s: no ending of a trace", path);
}

struct joining {
    const struct trace_format *format;
    struct trace_writer writer;
    struct trace_spool_head base;
    struct chunk_rows *rows;
    bool failed;
};

static void write_row(void *context, const struct chunk_row *row)
{
    struct joining *joining = context;
    joining->format->row(&joining->writer, row);
}

static bool take_records(void *context, const struct trace_record *records, size_t count)
{
    struct joining *joining = context;
    joining->failed = !chunk_rows_add(joining->rows, records, count);
    return !joining->failed;
}

/* Returns the number that must be subtracted from the times in a file to get times of the trace. All machines of a node
 * use one clock, and so do all simulated machines. */
static uint64_t shift_of(const struct joining *joining, const struct trace_spool_head *head)
{
    const struct trace_spool_head *base = &joining->base;
    if (base->clock.real_ns == 0 || (base->host[0] != '\0' && strcmp(base->host, head->host) == 0))
        return base->clock.machine_ns;
    return head->clock.machine_ns - head->clock.real_ns + base->clock.real_ns;
}

static bool take_nothing(void *context, const struct trace_record *records, size_t count)
{
    (void)context, (void)records, (void)count;
    return false;
}

/* Reads the file twice: first for the values of its clocks, and then for its records. All files except that of the
 * first rank may be missing. */
static int join_file(struct joining *joining, const char *name, unsigned rank, bool is_first, struct error *error)
{
    struct trace_spool_head head;
    const int found = trace_spool_read(name, &head, take_nothing, NULL, error);
    if (found == 1 && is_first)
        return error_set(error, "%.300s: is not there", name);
    if (found != 0)
        return found < 0 ? -1 : 0;
    if (is_first) {
        joining->base = head;
        joining->writer.origin_real_ns = head.clock.real_ns;
        joining->format->begin(&joining->writer);
    }
    joining->writer.shift_ns = shift_of(joining, &head);
    joining->writer.master = rank;
    joining->rows = chunk_rows_new(write_row, joining);
    joining->failed = joining->rows == NULL;
    int result = joining->failed ? 0 : trace_spool_read(name, &head, take_records, joining, error);
    if (!joining->failed && result == 0)
        chunk_rows_end(joining->rows);
    if (joining->failed)
        result = error_set(error, "%.300s: out of memory, or the file is broken", name);
    chunk_rows_free(joining->rows);
    return result;
}

static int index_workers(struct trace_writer *writer)
{
    const struct trace_about *about = writer->about;
    for (unsigned w = 0; w < about->workers; w++)
        if (about->worker[w].rank >= writer->rank_end)
            writer->rank_end = about->worker[w].rank + 1;
    writer->by_rank = calloc(writer->rank_end + 1, sizeof *writer->by_rank);
    for (unsigned w = 0; writer->by_rank != NULL && w < about->workers; w++)
        writer->by_rank[about->worker[w].rank] = &about->worker[w];
    return writer->by_rank != NULL ? 0 : -1;
}

static int join_files(struct joining *joining, const char *path, const unsigned *ranks, unsigned count,
                      struct error *error)
{
    int result = 0;
    for (unsigned i = 0; i < count && result == 0; i++) {
        char *name = trace_spool_name(path, ranks[i]);
        result = name == NULL ? error_set(error, "out of memory for a trace")
                              : join_file(joining, name, ranks[i], i == 0, error);
        free(name);
    }
    return result;
}

static void remove_files(const char *path, const unsigned *ranks, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        char *name = trace_spool_name(path, ranks[i]);
        if (name != NULL)
            unlink(name);
        free(name);
    }
}

static int write_trace(struct joining *joining, const char *unfinished, const char *path, const unsigned *ranks,
                       unsigned count, struct error *error)
{
    FILE *file = joining->writer.file = fopen(unfinished, "we");
    if (file == NULL)
        return error_set(error, "%.300s: %.100s", unfinished, strerror(errno));
    int result = join_files(joining, path, ranks, count, error);
    const bool failed = ferror(file) != 0;
    const bool is_closed = fclose(file) == 0;
    if (result == 0 && (failed || !is_closed))
        result = error_set(error, "%.300s: cannot be written: %.100s", unfinished, strerror(errno));
    if (result == 0 && rename(unfinished, path) != 0)
        result = error_set(error, "%.300s: %.100s", path, strerror(errno));
    if (result < 0)
        unlink(unfinished);
    return result;
}

int trace_join(const char *path, const unsigned *ranks, unsigned count, const struct trace_about *about,
               struct error *error)
{
    struct joining joining = {.format = formats[trace_form_of(path)], .writer = {.about = about}};
    struct text name;
    text_init(&name);
    text_add(&name, "%s.part", path);
    char *unfinished = text_take(&name);
    if (unfinished == NULL || index_workers(&joining.writer) < 0) {
        free(unfinished);
        return error_set(error, "out of memory for a trace");
    }
    const int result = write_trace(&joining, unfinished, path, ranks, count, error);
    if (result == 0)
        remove_files(path, ranks, count);
    free(joining.writer.by_rank);
    free(unfinished);
    return result;
}
