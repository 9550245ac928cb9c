/* SPDX-License-Identifier: MIT */
/* Records on their way to a trace: see spool.h. */
#include "common/trace/spool.h"

#include "common/util/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SPOOL_MAGIC "HDSStrc1"
/* Records that are read at once. */
#define READ_RECORDS 512

char *trace_spool_name(const char *path, unsigned rank)
{
    struct text name;
    text_init(&name);
    text_add(&name, "%s.%u.part", path, rank);
    return text_take(&name);
}

/* The same, so that it can be opened from any folder. */
static char *absolute_name(const char *path, unsigned rank)
{
    char folder[PATH_MAX];
    struct text name;
    text_init(&name);
    if (path[0] != '/' && getcwd(folder, sizeof folder) != NULL)
        text_add(&name, "%s/", folder);
    text_add(&name, "%s.%u.part", path, rank);
    return text_take(&name);
}

static int note_problem(struct trace_spool *spool, const char *what)
{
    return error_set(&spool->problem, "%.300s: %.100s: %.100s", spool->path, what, strerror(errno));
}

/* Appends to the file; `flags` are those of open() besides. -1, and the problem says why. */
static int append(struct trace_spool *spool, int flags, const void *bytes, size_t size)
{
    const int file = open(spool->path, O_WRONLY | O_APPEND | O_CLOEXEC | flags, 0666);
    if (file < 0)
        return note_problem(spool, "cannot be opened");
    for (size_t written = 0; written < size;) {
        const ssize_t count = write(file, (const char *)bytes + written, size - written);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) {
            note_problem(spool, "cannot be written");
            close(file);
            return -1;
        }
        written += (size_t)count;
    }
    return close(file) == 0 ? 0 : note_problem(spool, "cannot be written");
}

static void take_records(struct trace_sink *sink)
{
    struct trace_spool *spool = (struct trace_spool *)sink;
    const size_t count = (size_t)(sink->next - spool->records);
    sink->next = spool->records;
    if (count > 0 && spool->problem.text[0] == '\0')
        append(spool, 0, spool->records, count * sizeof *spool->records);
}

int trace_spool_open(struct trace_spool *spool, const char *path, unsigned rank, const struct trace_clock *clock,
                     struct error *error)
{
    struct trace_spool_head head = {
        .magic = SPOOL_MAGIC, .record_bytes = sizeof(struct trace_record), .rank = rank, .clock = *clock};
    *spool = (struct trace_spool){.path = absolute_name(path, rank),
                                  .records = calloc(TRACE_SPOOL_RECORDS, sizeof *spool->records)};
    spool->sink = (struct trace_sink){spool->records, spool->records + TRACE_SPOOL_RECORDS, take_records};
    if (clock->real_ns > 0 && gethostname(head.host, sizeof head.host - 1) < 0)
        head.host[0] = '\0';
    if (spool->path == NULL || spool->records == NULL)
        error_set(&spool->problem, "out of memory for a trace");
    else if (append(spool, O_CREAT | O_TRUNC, &head, sizeof head) == 0)
        return 0;
    *error = spool->problem;
    free(spool->path);
    free(spool->records);
    *spool = (struct trace_spool){0};
    return -1;
}

int trace_spool_close(struct trace_spool *spool, struct error *error)
{
    if (spool->records == NULL)
        return 0;
    take_records(&spool->sink);
    const struct error problem = spool->problem;
    free(spool->path);
    free(spool->records);
    *spool = (struct trace_spool){0};
    if (problem.text[0] == '\0')
        return 0;
    *error = problem;
    return -1;
}

/* --- reading --- */

static bool is_head(const struct trace_spool_head *head)
{
    return memcmp(head->magic, SPOOL_MAGIC, sizeof head->magic) == 0 &&
           head->record_bytes == sizeof(struct trace_record) && memchr(head->host, '\0', sizeof head->host) != NULL;
}

/* False where the file cannot be read to its end. */
static bool read_records(FILE *file, bool (*take)(void *context, const struct trace_record *records, size_t count),
                         void *context)
{
    struct trace_record records[READ_RECORDS];
    size_t count;
    while ((count = fread(records, sizeof *records, READ_RECORDS, file)) > 0 && take(context, records, count))
        ;
    return ferror(file) == 0;
}

int trace_spool_read(const char *name, struct trace_spool_head *head,
                     bool (*take)(void *context, const struct trace_record *records, size_t count), void *context,
                     struct error *error)
{
    FILE *file = fopen(name, "rbe");
    if (file == NULL && errno == ENOENT)
        return 1;
    if (file == NULL)
        return error_set(error, "%.300s: %.100s", name, strerror(errno));
    int result = 0;
    if (fread(head, sizeof *head, 1, file) != 1 || !is_head(head))
        result = error_set(error, "%.300s: is not of a trace of this version", name);
    else if (!read_records(file, take, context))
        result = error_set(error, "%.300s: cannot be read", name);
    fclose(file);
    return result;
}
