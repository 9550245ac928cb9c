/* SPDX-License-Identifier: MIT */
/* Reading part files: see parts_read.h. */
#include "common/results/parts_read.h"

#include "common/os/files.h"
#include "common/util/digest.h"
#include "common/util/grow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A buffer larger than this is freed before the next block is loaded. */
#define ROOM_KEPT (4u << 20)

void parts_reader_init(struct parts_reader *reader, const char *path, unsigned streams)
{
    *reader = (struct parts_reader){.streams = streams};
    snprintf(reader->folder, sizeof reader->folder, "%s.parts", path);
    for (unsigned i = 0; i < PARTS_OPEN_MAX; i++)
        reader->fd[i] = -1;
}

void parts_reader_fini(struct parts_reader *reader)
{
    for (unsigned i = 0; i < PARTS_OPEN_MAX; i++)
        if (reader->fd[i] >= 0)
            close(reader->fd[i]);
    free(reader->files);
    free(reader->bytes);
}

static int parts_reader_no_memory(struct error *error)
{
    return error_set(error, "out of memory for the parts of the output");
}

static bool is_known(const struct parts_reader *reader, size_t known, const char *name)
{
    for (size_t i = 0; i < known; i++)
        if (strcmp(reader->files[i].name, name) == 0)
            return true;
    return false;
}

static int add_files(struct parts_reader *reader, const struct part_file *files, size_t count, struct error *error)
{
    const size_t known = reader->file_count;
    for (size_t i = 0; i < count; i++) {
        if (is_known(reader, known, files[i].name))
            continue;
        struct part_file *grown = grow(reader->files, reader->file_count, &reader->file_capacity, sizeof *grown);
        if (grown == NULL)
            return parts_reader_no_memory(error);
        reader->files = grown;
        reader->files[reader->file_count++] = files[i];
    }
    return 0;
}

int parts_reader_list(struct parts_reader *reader, struct error *error)
{
    struct part_file *files;
    size_t count;
    int result = 0;
    if (parts_list(reader->folder, &files, &count) == 0)
        result = count == reader->file_count ? 0 : add_files(reader, files, count, error);
    else if (errno != ENOENT)
        result = error_set(error, "%.200s: cannot read: %s", reader->folder, strerror(errno));
    free(files);
    return result;
}

static int open_file(struct parts_reader *reader, uint32_t file)
{
    char path[PATH_MAX + PART_NAME_MAX + 1];
    unsigned slot = file % PARTS_OPEN_MAX;
    if (reader->fd[slot] >= 0 && reader->fd_of[slot] == file)
        return reader->fd[slot];
    if (reader->fd[slot] >= 0)
        close(reader->fd[slot]);
    snprintf(path, sizeof path, "%s/%s", reader->folder, reader->files[file].name);
    reader->fd[slot] = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    reader->fd_of[slot] = file;
    return reader->fd[slot];
}

static int refuse_read(const struct parts_reader *reader, uint32_t file, struct error *error)
{
    return error_set(error, "%.200s/%s: cannot read: %s", reader->folder, reader->files[file].name, strerror(errno));
}

int parts_reader_size(struct parts_reader *reader, uint32_t file, uint64_t *size, struct error *error)
{
    struct stat status;
    int fd = open_file(reader, file);
    if (fd < 0 || fstat(fd, &status) < 0)
        return refuse_read(reader, file, error);
    *size = (uint64_t)status.st_size;
    return 0;
}

int parts_reader_head(struct parts_reader *reader, uint32_t file, uint64_t at, uint64_t size, struct part_head *head,
                      struct error *error)
{
    unsigned char bytes[PART_HEAD_BYTES];
    if (at > size || size - at <= PART_HEAD_BYTES)
        return 0;
    int fd = open_file(reader, file), result = fd < 0 ? -1 : file_read_at(fd, bytes, sizeof bytes, at);
    if (result < 0)
        return refuse_read(reader, file, error);
    return result == 0 && part_head_get(head, bytes) && head->bytes <= size - at - PART_HEAD_BYTES;
}

static int make_room(struct parts_reader *reader, uint64_t bytes, struct error *error)
{
    if (reader->room >= bytes && reader->room <= ROOM_KEPT)
        return 0;
    free(reader->bytes);
    reader->bytes = malloc(bytes);
    reader->room = reader->bytes != NULL ? bytes : 0;
    return reader->bytes != NULL ? 0 : parts_reader_no_memory(error);
}

int parts_reader_load(struct parts_reader *reader, uint32_t file, uint64_t at, const struct part_head *head,
                      struct error *error)
{
    if (reader->is_loaded && reader->loaded_file == file && reader->loaded_at == at)
        return 1;
    reader->is_loaded = false;
    if (make_room(reader, head->bytes, error) < 0)
        return -1;
    int fd = open_file(reader, file);
    int result = fd < 0 ? -1 : file_read_at(fd, reader->bytes, head->bytes, at + PART_HEAD_BYTES);
    if (result < 0)
        return refuse_read(reader, file, error);
    if (result > 0 || digest_record(head->first, reader->bytes, head->bytes) != head->sum ||
        !block_read(&reader->block, reader->bytes, head->bytes, reader->streams) || reader->block.count != head->count)
        return 0;
    reader->is_loaded = true;
    reader->loaded_file = file;
    reader->loaded_at = at;
    return 1;
}
