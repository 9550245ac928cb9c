/* SPDX-License-Identifier: MIT */
/* Reading growing parts: see tail.h. */
#include "common/results/tail.h"

#include "common/os/files.h"
#include "common/results/parts_read.h"
#include "common/util/grow.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The disk space of smaller blocks is not freed, because punching a hole takes time and frees only whole pages. */
#define RELEASE_BYTES (64u << 10)

struct results_tail {
    struct parts_reader reader;
    uint64_t *ends; /* [count] for each file, the offset of the end of the last returned entry; owned */
    size_t count, capacity;
    bool looks;
    uint32_t file;
    uint64_t size;
    uint64_t first, corrupted;
    /* Descriptor of the parts folder of an earlier run; -1: there is no such folder. While the path leads to that
     * folder, its parts are ignored. */
    int stale;
};

static int tail_no_memory(struct error *error)
{
    return error_set(error, "out of memory for the parts of the output");
}

static int tail_list(struct results_tail *tail, struct error *error)
{
    if (parts_reader_list(&tail->reader, error) < 0)
        return -1;
    while (tail->count < tail->reader.file_count) {
        uint64_t *grown = grow(tail->ends, tail->count, &tail->capacity, sizeof *grown);
        if (grown == NULL)
            return tail_no_memory(error);
        tail->ends = grown;
        tail->ends[tail->count++] = 0;
    }
    return 0;
}

struct results_tail *results_tail_begin(const char *path, unsigned streams, bool resumes, struct error *error)
{
    struct results_tail *tail = malloc(sizeof *tail);
    if (tail == NULL) {
        tail_no_memory(error);
        return NULL;
    }
    *tail = (struct results_tail){.stale = -1};
    parts_reader_init(&tail->reader, path, streams);
    if (!resumes) /* While this descriptor is open, a new folder at the same path cannot get the same inode number. */
        tail->stale = open(tail->reader.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return tail;
}

void results_tail_end(struct results_tail *tail)
{
    parts_reader_fini(&tail->reader);
    if (tail->stale >= 0)
        close(tail->stale);
    free(tail->ends);
    free(tail);
}

static bool is_stale(struct results_tail *tail)
{
    struct stat known, there;
    if (tail->stale < 0)
        return false;
    if (stat(tail->reader.folder, &there) < 0 ||
        (fstat(tail->stale, &known) == 0 && known.st_dev == there.st_dev && known.st_ino == there.st_ino))
        return true;
    close(tail->stale);
    tail->stale = -1;
    return false;
}

static int take_next(struct results_tail *tail, bool last, struct results_entry *entry, struct error *error)
{
    uint64_t *end = &tail->ends[tail->file];
    struct part_head head;
    for (;;) {
        const struct results_place place = {tail->file, *end};
        int good = parts_reader_head(&tail->reader, place.file, place.at, tail->size, &head, error);
        if (good <= 0)
            return good;
        good = parts_reader_load(&tail->reader, place.file, place.at, &head, error);
        if (good < 0 || (good == 0 && !last)) /* On a network file system the missing bytes may still arrive later. */
            return good;
        *end = part_end(place.at, &head);
        tail->corrupted += good == 0;
        if (good == 0)
            continue;
        tail->first = head.first;
        *entry = (struct results_entry){place, head.first};
        return 1;
    }
}

int results_tail_next(struct results_tail *tail, bool last, struct results_entry *entry, struct error *error)
{
    int result = 0;
    if (is_stale(tail))
        return 0;
    if (!tail->looks) {
        if (tail_list(tail, error) < 0)
            return -1;
        tail->file = 0;
        tail->size = 0;
        tail->looks = true;
    }
    while (result == 0 && tail->file < tail->count) {
        if (tail->size == 0)
            result = parts_reader_size(&tail->reader, tail->file, &tail->size, error);
        if (result == 0)
            result = take_next(tail, last, entry, error);
        if (result == 0) {
            tail->file++;
            tail->size = 0;
        }
    }
    tail->looks = result > 0;
    return result;
}

int results_tail_load(struct results_tail *tail, struct results_place place, uint64_t *first, struct error *error)
{
    struct parts_reader *reader = &tail->reader;
    struct part_head head;
    const uint64_t end = tail->ends[place.file];
    if (!reader->is_loaded || reader->loaded_file != place.file || reader->loaded_at != place.at) {
        int good = parts_reader_head(reader, place.file, place.at, end, &head, error);
        if (good > 0)
            good = parts_reader_load(reader, place.file, place.at, &head, error);
        if (good <= 0)
            return good < 0 ? -1
                            : error_set(error, "%.200s/%s: was changed by somebody else", reader->folder,
                                        reader->files[place.file].name);
        tail->first = head.first;
    }
    *first = tail->first;
    return 0;
}

const struct block *results_tail_block(const struct results_tail *tail)
{
    return &tail->reader.block;
}

void results_tail_release(struct results_tail *tail)
{
    const struct parts_reader *reader = &tail->reader;
    const struct block *block = &reader->block;
    char path[PATH_MAX + PART_NAME_MAX + 1];
    uint64_t bytes = 0;
    for (unsigned s = 0; s < block->streams; s++)
        bytes += block->bytes[s];
    if (!reader->is_loaded || bytes < RELEASE_BYTES)
        return;
    snprintf(path, sizeof path, "%s/%s", reader->folder, reader->files[reader->loaded_file].name);
    const int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    (void)!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(reader->loaded_at + PART_HEAD_BYTES),
                     (off_t)bytes);
    close(fd);
}

uint64_t results_tail_corrupted(const struct results_tail *tail)
{
    return tail->corrupted;
}

void results_tail_remove(const char *path)
{
    parts_remove(path);
}
