/* SPDX-License-Identifier: MIT */
/* Recreates the parts of a complete run from its final files. The final files do not show where the bytes of an
 * iteration end. The parts need not show it either: parts are joined in order, and no iteration of a complete run has
 * failed. So each of the first iterations gets a piece of each file, and all other iterations get no bytes. */
#include "common/os/files.h"
#include "common/results/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Least size of a piece. Pieces are larger if there are few iterations. */
#define PIECE_BYTES (UINT64_C(16) << 20)
#define EMPTY_MAX   UINT64_C(65536)

struct taken_file {
    int fd;
    uint64_t at, end, piece;
};

static int open_file(struct taken_file *file, const char *path, const struct hdss_stream *stream, uint64_t count,
                     struct error *error)
{
    char name[PATH_MAX];
    struct stat found;
    file->at = stream->heading != NULL ? strlen(stream->heading) : 0;
    file->fd = open(parts_stream_file(path, stream->ending, name), O_RDONLY | O_CLOEXEC);
    if (file->fd < 0 || fstat(file->fd, &found) < 0)
        return error_set(error, "%.200s: cannot read: %s", name, strerror(errno));
    file->end = (uint64_t)found.st_size;
    if (file->end < file->at || (count == 0 && file->end > file->at))
        return error_set(error, "%.200s: is not what a complete run has left", name);
    file->piece = count > 0 ? (file->end - file->at) / count + 1 : 1;
    if (file->piece < PIECE_BYTES)
        file->piece = PIECE_BYTES;
    return 0;
}

static int write_entry(struct results_sink *sink, struct taken_file *files, uint64_t first, uint64_t count,
                       struct error *error)
{
    const unsigned streams = sink->loop.streams;
    size_t lengths[HDSS_STREAMS_MAX], bytes = BLOCK_HEAD_BYTES + (size_t)count * block_entry_bytes(streams), at = bytes;
    for (unsigned s = 0; s < streams; s++) {
        const uint64_t left = files[s].end - files[s].at;
        lengths[s] = (size_t)(left < files[s].piece ? left : files[s].piece);
        bytes += lengths[s];
    }
    unsigned char *block = bytes <= BLOCK_MAX ? calloc(1, bytes) : NULL;
    if (block == NULL)
        return error_set(error, "%.200s: no room for %zu bytes of a complete run", sink->path, bytes);
    block_head_put(block, (uint32_t)count, streams);
    int result = 0;
    for (unsigned s = 0; result == 0 && s < streams; s++) {
        wire_put32(block + BLOCK_HEAD_BYTES + 4 + 4 * (size_t)s, (uint32_t)lengths[s]);
        if (file_read_at(files[s].fd, block + at, lengths[s], files[s].at) != 0)
            result = error_set(error, "%.200s: cannot read what a complete run has left", sink->path);
        at += lengths[s];
        files[s].at += lengths[s];
    }
    if (result == 0)
        result = parts_write(sink, first, count, block, bytes, error);
    free(block);
    return result;
}

static bool are_read(const struct taken_file *files, unsigned streams)
{
    unsigned s = 0;
    while (s < streams && files[s].at == files[s].end)
        s++;
    return s == streams;
}

static int write_all(struct results_sink *sink, struct taken_file *files, struct range range, struct error *error)
{
    int result = 0;
    for (uint64_t count; result == 0 && range.count > 0; range.first += count, range.count -= count) {
        count = !are_read(files, sink->loop.streams) ? 1 : range.count < EMPTY_MAX ? range.count : EMPTY_MAX;
        result = write_entry(sink, files, range.first, count, error);
    }
    return result;
}

int parts_take_back(const char *path, const struct hdss_loop *loop, struct range range, struct error *error)
{
    struct taken_file files[HDSS_STREAMS_MAX];
    struct results_sink sink;
    unsigned opened = 0;
    int result = parts_create(path, loop, NULL, error);
    if (result != 0 || parts_open(&sink, path, loop, 0, error) < 0)
        return result != 0 ? result : -1;
    for (; result == 0 && opened < loop->streams; opened++)
        result = open_file(&files[opened], path, &loop->stream[opened], range.count, error);
    if (result == 0)
        result = write_all(&sink, files, range, error);
    while (opened > 0)
        if (files[--opened].fd >= 0)
            close(files[opened].fd);
    return results_close(&sink, result == 0 ? error : NULL) < 0 ? -1 : result;
}
