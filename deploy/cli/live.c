/* SPDX-License-Identifier: MIT */
/* Reads what running tasks write: see live.h. */
#include "deploy/cli/live.h"

#include "common/util/grow.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void live_init(struct live *live, const char *folder)
{
    *live = (struct live){.folder = folder, .file = -1};
}

static void close_file(struct live *live)
{
    if (live->file >= 0)
        close(live->file);
    live->file = -1;
}

void live_fini(struct live *live)
{
    close_file(live);
    free(live->files);
    free(live->tries);
    free(live->bytes);
}

static int live_no_memory(struct error *error)
{
    return error_set(error, "out of memory for the lines of the tasks");
}

static const char *file_path(const struct live *live, unsigned rank, unsigned number, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%u-%u", live->folder, rank, number);
    return path;
}

/* Returns false if the file cannot be opened, which may be temporary on a network file system. */
static bool open_file(struct live *live, unsigned rank, unsigned number)
{
    char path[PATH_MAX];
    if (live->file >= 0 && live->file_rank == rank && live->file_number == number)
        return true;
    close_file(live);
    live->file = open(file_path(live, rank, number, path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    live->file_rank = rank;
    live->file_number = number;
    return live->file >= 0;
}

static bool file_is_known(const struct live *live, unsigned rank, unsigned number)
{
    for (size_t i = 0; i < live->file_count; i++)
        if (live->files[i].rank == rank && live->files[i].number == number)
            return true;
    return false;
}

static int add_file(struct live *live, const char *name, struct error *error)
{
    unsigned rank, number;
    int end = -1;
    if (sscanf(name, "%u-%u%n", &rank, &number, &end) < 2 || name[end] != '\0' || file_is_known(live, rank, number))
        return 0;
    struct live_file *grown = grow(live->files, live->file_count, &live->file_capacity, sizeof *grown);
    if (grown == NULL)
        return live_no_memory(error);
    live->files = grown;
    live->files[live->file_count++] = (struct live_file){.rank = rank, .number = number};
    return 0;
}

static int compare_files(const void *one, const void *other)
{
    const struct live_file *a = one, *b = other;
    return a->rank != b->rank ? (a->rank > b->rank) - (a->rank < b->rank)
                              : (a->number > b->number) - (a->number < b->number);
}

static int list_files(struct live *live, struct error *error)
{
    int result = 0;
    DIR *folder = opendir(live->folder);
    if (folder == NULL)
        return 0;
    for (const struct dirent *entry; result == 0 && (entry = readdir(folder)) != NULL;)
        result = add_file(live, entry->d_name, error);
    closedir(folder);
    if (live->file_count > 1)
        qsort(live->files, live->file_count, sizeof *live->files, compare_files);
    return result;
}

static bool is_used_up(const struct live *live, const struct live_file *file)
{
    bool has_successor = false;
    for (size_t i = 0; i < live->file_count; i++)
        has_successor |= live->files[i].rank == file->rank && live->files[i].number > file->number;
    for (size_t i = 0; i < live->try_count; i++)
        if (live->tries[i].rank == file->rank && live->tries[i].number == file->number)
            return false;
    return has_successor;
}

static void remove_used_up(struct live *live)
{
    char path[PATH_MAX];
    for (size_t i = live->file_count; i-- > 0;) {
        const struct live_file file = live->files[i];
        if (!is_used_up(live, &file))
            continue;
        unlink(file_path(live, file.rank, file.number, path));
        live->files[i] = live->files[--live->file_count];
    }
}

static size_t read_head(const struct live *live, uint64_t at, uint64_t size, struct fragment *fragment)
{
    char head[FRAGMENT_HEAD_MAX];
    const ssize_t count = at < size ? pread(live->file, head, sizeof head, (off_t)at) : 0;
    const size_t length = count > 0 ? fragment_read(fragment, head, (size_t)count) : 0;
    return length > 0 && fragment->length <= size - at && at + length + fragment->length <= size ? length : 0;
}

static uint64_t file_size(const struct live *live)
{
    struct stat status;
    return fstat(live->file, &status) == 0 ? (uint64_t)status.st_size : 0;
}

static int add_try(struct live *live, const struct live_file *file, uint64_t at, struct error *error)
{
    struct live_try *grown = grow(live->tries, live->try_count, &live->try_capacity, sizeof *grown);
    if (grown == NULL)
        return live_no_memory(error);
    live->tries = grown;
    live->tries[live->try_count++] = (struct live_try){
        .task = file->task, .began_ms = file->began_ms, .rank = file->rank, .number = file->number, .at = at};
    return 0;
}

int live_look(struct live *live, bool (*is_over)(const void *context, uint64_t task), const void *context,
              struct error *error)
{
    char path[PATH_MAX];
    struct stat status;
    struct fragment fragment;
    if (live->folder == NULL)
        return 0;
    if (list_files(live, error) < 0)
        return -1;
    for (size_t i = 0; i < live->file_count; i++) {
        struct live_file *file = &live->files[i];
        if (stat(file_path(live, file->rank, file->number, path), &status) < 0 ||
            (uint64_t)status.st_size <= file->at || !open_file(live, file->rank, file->number))
            continue;
        const uint64_t size = file_size(live);
        for (size_t head; (head = read_head(live, file->at, size, &fragment)) > 0; file->at += head + fragment.length) {
            const bool is_new = file->at == 0 || fragment.task != file->task || fragment.began_ms != file->began_ms;
            file->task = fragment.task;
            file->began_ms = fragment.began_ms;
            if (is_new && !is_over(context, fragment.task) && add_try(live, file, file->at, error) < 0)
                return -1;
        }
    }
    remove_used_up(live);
    return 0;
}

int live_take(struct live *live, struct live_try *try, struct fragment *fragment, struct error *error)
{
    if (!open_file(live, try->rank, try->number))
        return 0;
    const size_t head = read_head(live, try->at, file_size(live), fragment);
    if (head == 0 || fragment->task != try->task || fragment->began_ms != try->began_ms)
        return 0;
    if (fragment->length > live->room) {
        char *grown = realloc(live->bytes, fragment->length);
        if (grown == NULL)
            return live_no_memory(error);
        live->bytes = grown;
        live->room = fragment->length;
    }
    if (pread(live->file, live->bytes, fragment->length, (off_t)(try->at + head)) != (ssize_t)fragment->length)
        return 0;
    try->at += head + fragment->length;
    try->shown[fragment->stream] = fragment->offset + fragment->length;
    return 1;
}

const struct live_try *live_find(const struct live *live, uint64_t task, uint64_t rank, double began_s)
{
    for (size_t i = 0; i < live->try_count; i++) {
        const struct live_try *try = &live->tries[i];
        const double apart_ms = began_s * 1000 - (double)try->began_ms;
        if (try->task == task && try->rank == rank && apart_ms > -2 && apart_ms < 2)
            return try;
    }
    return NULL;
}

void live_forget(struct live *live, uint64_t task)
{
    size_t kept = 0;
    for (size_t i = 0; i < live->try_count; i++)
        if (live->tries[i].task != task)
            live->tries[kept++] = live->tries[i];
    live->try_count = kept;
}
