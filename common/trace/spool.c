/* SPDX-License-Identifier: MIT */
/* Trace records in files: see spool.h. */
#include "common/trace/spool.h"

#include "common/util/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SPOOL_MAGIC "HDSStrc1"
/* Size of the head of the file: a multiple of all page sizes. */
#define HEAD_BYTES   65536u
#define PART_BYTES   (TRACE_SPOOL_RECORDS * sizeof(struct trace_record))
#define READ_RECORDS 512

char *trace_spool_name(const char *path, unsigned rank)
{
    struct text name;
    text_init(&name);
    text_add(&name, "%s.%u.part", path, rank);
    return text_take(&name);
}

bool trace_spool_is_there(const char *path, unsigned rank)
{
    char *name = trace_spool_name(path, rank);
    const bool is_there = name != NULL && access(name, F_OK) == 0;
    free(name);
    return is_there;
}

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

static int write_head(struct trace_spool *spool, const struct trace_spool_head *head)
{
    const int file = open(spool->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
        return note_problem(spool, "cannot be made");
    const bool is_written = write(file, head, sizeof *head) == (ssize_t)sizeof *head;
    if (!is_written)
        note_problem(spool, "cannot be written");
    close(file);
    return is_written ? 0 : -1;
}

static struct trace_record *map_part(struct trace_spool *spool)
{
    const int file = open(spool->path, O_RDWR | O_CLOEXEC);
    if (file < 0) {
        note_problem(spool, "cannot be opened");
        return NULL;
    }
    errno = posix_fallocate(file, (off_t)spool->at, PART_BYTES);
    struct trace_record *records =
        errno == 0 ? mmap(NULL, PART_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)spool->at) : MAP_FAILED;
    if (records == MAP_FAILED)
        note_problem(spool, "cannot grow");
    close(file);
    return records != MAP_FAILED ? records : NULL;
}

static struct trace_record *map_nowhere(void)
{
    void *records = mmap(NULL, PART_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return records != MAP_FAILED ? records : NULL;
}

static void set_room(struct trace_spool *spool, struct trace_record *records)
{
    spool->records = records;
    spool->sink.next = records;
    spool->sink.end = records + TRACE_SPOOL_RECORDS;
}

/* Maps the next part of the file, because the present part is full. After a problem, records overwrite the same memory
 * again and again. */
static void take_records(struct trace_sink *sink)
{
    struct trace_spool *spool = (struct trace_spool *)sink;
    if (spool->problem.text[0] != '\0') {
        sink->next = spool->records;
        return;
    }
    if (sink->next < sink->end) {
        msync(spool->records, PART_BYTES, MS_SYNC);
        return;
    }
    spool->at += PART_BYTES;
    struct trace_record *next = map_part(spool);
    next = next != NULL ? next : map_nowhere();
    /* there is no memory even for records that are discarded, so they overwrite the old part; the trace is incomplete
     * anyway */
    if (next == NULL) {
        sink->next = spool->records;
        return;
    }
    munmap(spool->records, PART_BYTES);
    set_room(spool, next);
}

int trace_spool_open(struct trace_spool *spool, const char *path, unsigned rank, const struct trace_clock *clock,
                     struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    struct trace_spool_head head = {
        .magic = SPOOL_MAGIC, .record_bytes = sizeof(struct trace_record), .rank = rank, .clock = *clock};
    *spool = (struct trace_spool){.path = absolute_name(path, rank), .at = HEAD_BYTES, .sink.take = take_records};
    if (clock->real_ns > 0 && gethostname(head.host, sizeof head.host - 1) < 0)
        head.host[0] = '\0';
    if (spool->path == NULL)
        error_set(&spool->problem, "out of memory for a trace");
    else if (write_head(spool, &head) == 0) {
        struct trace_record *records = map_part(spool);
        if (records != NULL) {
            set_room(spool, records);
            return 0;
        }
        unlink(spool->path);
    }
    *error = spool->problem;
    free(spool->path);
    *spool = (struct trace_spool){0};
    return -1;
}

int trace_spool_close(struct trace_spool *spool, struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    if (spool->records == NULL)
        return 0;
    const struct error problem = spool->problem;
    if (problem.text[0] == '\0')
        msync(spool->records, PART_BYTES, MS_SYNC);
    munmap(spool->records, PART_BYTES);
    free(spool->path);
    *spool = (struct trace_spool){0};
    if (problem.text[0] == '\0')
        return 0;
    *error = problem;
    return -1;
}

static bool is_head(const struct trace_spool_head *head)
{
    return memcmp(head->magic, SPOOL_MAGIC, sizeof head->magic) == 0 &&
           head->record_bytes == sizeof(struct trace_record) && memchr(head->host, '\0', sizeof head->host) != NULL;
}

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
    if (fread(head, sizeof *head, 1, file) != 1 || !is_head(head) || fseek(file, HEAD_BYTES, SEEK_SET) < 0)
        result = error_set(error, "%.300s: is not of a trace of this version", name);
    else if (!read_records(file, take, context))
        result = error_set(error, "%.300s: cannot be read", name);
    fclose(file);
    return result;
}
