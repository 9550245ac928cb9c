/* SPDX-License-Identifier: MIT */
/* Output of fixed-size records: see records.h. Writers neither seek nor lock: each range of iterations has a fixed
 * position in the file, so any number of ranks can write one file at the same time. The leading rank locks the file
 * against other runs. */
#include "common/results/records.h"

#include "common/os/files.h"
#include "common/results/formats.h"
#include "common/results/intact.h"
#include "common/results/partial.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct results_format *const formats[] = {&results_npy, &results_png, &results_csv, &results_bin,
                                                       &results_raw};

enum { FORMATS = sizeof formats / sizeof formats[0] };

#define KNOWN_EXTENSIONS ".npy, .png, .csv, .bin or .raw"

static const struct results_format *format_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path, *dot = strrchr(name, '.');
    for (size_t i = 0; dot != NULL && i < FORMATS; i++)
        if (strcasecmp(dot, formats[i]->extension) == 0)
            return formats[i];
    return NULL;
}

bool records_have_type(const char *path)
{
    const struct results_format *format = format_of(path);
    return format == &results_npy || format == &results_png;
}

static void written_path(const char *path, const struct results_format *format, char written[PATH_MAX])
{
    snprintf(written, PATH_MAX, "%s%s", path, format->convert != NULL ? ".records" : "");
}

/* A link is not followed if HDSS has chosen the name. It is followed if the user has given the name. */
static int link_flag(const struct results_format *format)
{
    return format->convert != NULL ? O_NOFOLLOW : 0;
}

static uint64_t array_bytes(const struct hdss_loop *loop)
{
    uint64_t elements = 1;
    for (unsigned i = 0; i < loop->dims; i++)
        elements *= loop->shape[i];
    return elements * hdss_type_size(loop->type);
}

static uint64_t header_of(const struct results_format *format, const struct hdss_loop *loop,
                          char header[RESULTS_HEADER_MAX])
{
    return format->header != NULL ? format->header(loop, header) : 0;
}

int records_check(const char *path, const struct hdss_loop *loop, struct error *error)
{
    const struct results_format *format = format_of(path);
    if (strlen(path) + sizeof ".records" > PATH_MAX)
        return error_set(error, "%.60s...: the name is too long", path);
    if (format == NULL && file_refuse_folder(path, "results.npy", error) < 0)
        return -1;
    if (format == NULL)
        return error_set(error, "%.200s: unknown kind of output file; accepted: names that end in " KNOWN_EXTENSIONS,
                         path);
    return format->check != NULL ? format->check(path, loop, error) : 0;
}

static int records_refuse_write(const char *path, uint64_t bytes, struct error *error)
{
    return error_set(error, "%.200s: cannot write: %s (the results take %.1f MiB)", path, strerror(errno),
                     (double)bytes / 0x1p20);
}

/* Sets the size of the file, and allocates its blocks if the file system can do this. Then a full disk is detected at
 * the start of the run. */
static int records_reserve(int fd, uint64_t bytes)
{
    if (ftruncate(fd, (off_t)bytes) < 0)
        return -1;
    if (bytes == 0 || fallocate(fd, 0, 0, (off_t)bytes) == 0)
        return 0;
    return errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? -1 : 0;
}

static bool is_regular(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

static int records_lock(int fd, const char *written, struct error *error)
{
    if (!is_regular(fd) || file_lock(fd))
        return 0;
    close(fd);
    return error_set(error, "%.200s: another run is writing it", written);
}

static int records_keep(int fd, int *lock)
{
    if (lock == NULL)
        return close(fd);
    *lock = fd;
    return 0;
}

static int look_for_lock(const char *written, const struct results_format *format, struct error *error)
{
    struct stat status;
    if (stat(written, &status) < 0 || !S_ISREG(status.st_mode))
        return 0;
    int fd = open(written, O_WRONLY | O_CLOEXEC | link_flag(format));
    if (fd < 0)
        return 0;
    if (records_lock(fd, written, error) < 0)
        return -1;
    close(fd);
    return 0;
}

int records_check_place(const char *path, struct error *error)
{
    char written[PATH_MAX];
    if (file_refuse_folder(path, "results.npy", error) < 0)
        return -1;
    written_path(path, format_of(path), written);
    if (faccessat(AT_FDCWD, written, W_OK, AT_EACCESS) == 0)
        return look_for_lock(written, format_of(path), error);
    if (errno == ENOENT || errno == ENOTDIR)
        return file_check_folder(path, error);
    return error_set(error, "%.200s: cannot write: %s", written, strerror(errno));
}

int records_create(const char *path, const struct hdss_loop *loop, int *lock, struct error *error)
{
    if (records_check(path, loop, error) < 0 || file_refuse_folder(path, "results.npy", error) < 0)
        return -1;
    const struct results_format *format = format_of(path);
    char written[PATH_MAX], header[RESULTS_HEADER_MAX];
    written_path(path, format, written);
    int fd = file_open_to_write(written, O_CREAT | link_flag(format));
    if (fd < 0)
        return error_set(error, "%.200s: cannot create: %s", written, file_write_error(errno));
    /* the file is locked first, because it must not be truncated while another run uses it */
    if (records_lock(fd, written, error) < 0)
        return -1;
    uint64_t header_bytes = header_of(format, loop, header), bytes = header_bytes + array_bytes(loop);
    if ((is_regular(fd) && ftruncate(fd, 0) < 0) || file_write_at(fd, header, header_bytes, 0) < 0 ||
        records_reserve(fd, bytes) < 0) {
        bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
        records_refuse_write(written, bytes, error);
        if (is_regular(fd))
            unlink(written);
        close(fd);
        return full ? RESULTS_NO_ROOM : -1;
    }
    return records_keep(fd, lock) < 0 ? records_refuse_write(written, bytes, error) : 0;
}

static bool records_is_ours(int fd, uint64_t bytes, const char *header, uint64_t header_bytes)
{
    char there[RESULTS_HEADER_MAX];
    struct stat stat_of;
    return fstat(fd, &stat_of) == 0 && S_ISREG(stat_of.st_mode) && (uint64_t)stat_of.st_size == bytes &&
           (header_bytes == 0 ||
            (pread(fd, there, header_bytes, 0) == (ssize_t)header_bytes && memcmp(there, header, header_bytes) == 0));
}

int records_find(const char *path, const struct hdss_loop *loop, int *lock, struct error *error)
{
    if (records_check(path, loop, error) < 0)
        return -1;
    char written[PATH_MAX], header[RESULTS_HEADER_MAX];
    const struct results_format *format = format_of(path);
    uint64_t header_bytes = header_of(format, loop, header), bytes = header_bytes + array_bytes(loop);
    written_path(path, format, written);
    int fd = open(written, O_RDWR | O_CLOEXEC | link_flag(format));
    if (fd < 0 && errno == ENOENT)
        return RESULTS_ABSENT;
    if (fd < 0)
        return error_set(error, "%.200s: cannot open: %s", written, strerror(errno));
    if (records_lock(fd, written, error) < 0)
        return -1;
    if (records_is_ours(fd, bytes, header, header_bytes))
        return records_keep(fd, lock);
    close(fd);
    return error_set(error, "%.200s: is not the output of such a job: that has %llu bytes and begins as its kind does",
                     written, (unsigned long long)bytes);
}

int records_look_again(const char *path, const struct hdss_loop *loop, int lock, struct error *error)
{
    const struct results_format *format = format_of(path);
    char written[PATH_MAX], header[RESULTS_HEADER_MAX];
    uint64_t header_bytes = header_of(format, loop, header), bytes = header_bytes + array_bytes(loop);
    if (!is_regular(lock))
        return 0;
    written_path(path, format, written);
    /* The file is opened a second time. A network file system then asks its server for the current state of the file.
     */
    int fd = open(written, O_RDONLY | O_CLOEXEC | O_NONBLOCK | link_flag(format));
    int result = intact_check_name(lock, written, error);
    if (result == 0)
        result = intact_check(lock, written, bytes, error);
    if (result == 0 && fd >= 0 && !records_is_ours(fd, bytes, header, header_bytes))
        result = intact_refuse(written, "was overwritten", error);
    if (fd >= 0)
        close(fd);
    return result;
}

bool records_exist(const char *path)
{
    const struct results_format *format = format_of(path);
    char written[PATH_MAX];
    if (format == NULL)
        return false;
    written_path(path, format, written);
    return access(path, F_OK) == 0 || access(written, F_OK) == 0;
}

static int open_written(const char *path, int flags, uint64_t bytes, struct error *error)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | flags);
    if (fd < 0 && errno == ENOENT)
        return error_set(error, "%.200s: is not there on this node: output must be in a folder that all nodes share",
                         path);
    if (fd < 0)
        return error_set(error, "%.200s: cannot open: %s", path, strerror(errno));
    struct stat stat_of;
    if (fstat(fd, &stat_of) == 0 && (uint64_t)stat_of.st_size == bytes)
        return fd;
    close(fd);
    return error_set(error, "%.200s: is another file on this node: output must be in a folder that all nodes share",
                     path);
}

int records_open(struct results_sink *sink, const char *path, const struct hdss_loop *loop, struct error *error)
{
    *sink = (struct results_sink){.fd = -1, .loop = *loop, .record_bytes = hdss_record_size(loop)};
    if (records_check(path, loop, error) < 0)
        return -1;
    const struct results_format *format = format_of(path);
    char written[PATH_MAX], header[RESULTS_HEADER_MAX];
    written_path(path, format, written);
    sink->header_bytes = header_of(format, loop, header);
    bool tiles = loop->layout == HDSS_LAYOUT_TILES;
    sink->path = strdup(written);
    sink->line = tiles ? malloc(loop->shape[1] * hdss_type_size(loop->type) + 1) : NULL;
    if (sink->path == NULL || (tiles && sink->line == NULL))
        error_set(error, "%.200s: out of memory", written);
    else
        sink->fd = open_written(written, link_flag(format), sink->header_bytes + array_bytes(loop), error);
    if (sink->fd >= 0)
        return 0;
    records_close(sink, NULL);
    return -1;
}

static int write_tiles(struct results_sink *sink, uint64_t first, uint64_t count, const char *records)
{
    const struct hdss_loop *loop = &sink->loop;
    uint64_t height = loop->shape[0], width = loop->shape[1], element = hdss_type_size(loop->type);
    uint64_t across = (width + loop->tile_width - 1) / loop->tile_width;
    uint64_t top = first / across * loop->tile_height, left = first % across * loop->tile_width;
    uint64_t right = left + count * loop->tile_width < width ? left + count * loop->tile_width : width;
    for (uint64_t y = 0; y < loop->tile_height && top + y < height; y++) {
        for (uint64_t x = left, i = 0; x < right; x += loop->tile_width, i++) {
            uint64_t length = right - x < loop->tile_width ? right - x : loop->tile_width;
            memcpy(sink->line + (x - left) * element, records + i * sink->record_bytes + y * loop->tile_width * element,
                   length * element);
        }
        uint64_t offset = sink->header_bytes + ((top + y) * width + left) * element;
        if (file_write_at(sink->fd, sink->line, (right - left) * element, offset) < 0)
            return -1;
    }
    return 0;
}

static int write_all_tiles(struct results_sink *sink, uint64_t first, uint64_t count, const char *records)
{
    uint64_t across = (sink->loop.shape[1] + sink->loop.tile_width - 1) / sink->loop.tile_width;
    while (count > 0) {
        uint64_t to_edge = across - first % across, some = count < to_edge ? count : to_edge;
        if (write_tiles(sink, first, some, records) < 0)
            return -1;
        first += some;
        count -= some;
        records += some * sink->record_bytes;
    }
    return 0;
}

int records_write(struct results_sink *sink, uint64_t first, uint64_t count, const void *records, struct error *error)
{
    if (first > sink->loop.iterations || count > sink->loop.iterations - first)
        return error_set(error, "%.200s: iterations %llu + %llu are beyond the loop's %llu", sink->path,
                         (unsigned long long)first, (unsigned long long)count,
                         (unsigned long long)sink->loop.iterations);
    assert(sink->fd >= 0 && "the file of the records is open");
    if (intact_check_sink(sink, sink->header_bytes + array_bytes(&sink->loop), error) < 0)
        return -1;
    int status = sink->loop.layout == HDSS_LAYOUT_TILES
                     ? write_all_tiles(sink, first, count, records)
                     : file_write_at(sink->fd, records, count * sink->record_bytes,
                                     sink->header_bytes + first * sink->record_bytes);
    return status < 0 ? records_refuse_write(sink->path, sink->header_bytes + array_bytes(&sink->loop), error) : 0;
}

/* Opens the file in each call. On network file systems the writes of other nodes are visible only in this way. */
int records_read(const char *path, const struct hdss_loop *loop, uint64_t first, uint64_t count, void *records,
                 struct error *error)
{
    const struct results_format *format = format_of(path);
    char written[PATH_MAX], header[RESULTS_HEADER_MAX];
    written_path(path, format, written);
    int fd = open(written, O_RDONLY | O_CLOEXEC | link_flag(format));
    if (fd < 0)
        return error_set(error, "%.200s: cannot open: %s", written, strerror(errno));
    uint64_t bytes = hdss_record_size(loop);
    int result = file_read_at(fd, records, count * bytes, header_of(format, loop, header) + first * bytes);
    if (result != 0)
        error_set(error, "%.200s: cannot read: %s", written,
                  result == FILE_ENDS ? "it ends too early" : strerror(errno));
    close(fd);
    return result == 0 ? 0 : -1;
}

int records_sync(struct results_sink *sink, struct error *error)
{
    return fdatasync(sink->fd) == 0
               ? 0
               : records_refuse_write(sink->path, sink->header_bytes + array_bytes(&sink->loop), error);
}

int records_close(struct results_sink *sink, struct error *error)
{
    int status = 0;
    if (sink->fd >= 0 && close(sink->fd) < 0)
        status = records_refuse_write(sink->path, sink->header_bytes + array_bytes(&sink->loop), error);
    free(sink->path);
    free(sink->line);
    *sink = (struct results_sink){.fd = -1};
    return status;
}

struct conversion {
    const char *path;
    const struct results_format *format;
    struct partial partial;
    char records[PATH_MAX];
};

static int refuse_conversion(const struct conversion *conversion, const char *what, struct error *error)
{
    return error_set(error, "%.150s: %s: %s; the results are kept in %.150s", conversion->path, what, strerror(errno),
                     conversion->records);
}

static int convert_to(FILE *out, const struct conversion *conversion, struct rows *rows, struct error *error)
{
    int status = conversion->format->convert(out, conversion->path, rows, error);
    bool failed = fflush(out) != 0 || ferror(out);
    if (status == 0 && failed)
        status = refuse_conversion(conversion, "cannot write", error);
    if (fclose(out) != 0 && status == 0)
        status = refuse_conversion(conversion, "cannot write", error);
    return status;
}

static int records_convert_all(const struct conversion *conversion, struct rows *rows, struct error *error)
{
    FILE *out = partial_open(&conversion->partial);
    if (out == NULL)
        return refuse_conversion(conversion, "cannot create", error);
    int status = convert_to(out, conversion, rows, error);
    if (status == 0 && partial_keep(&conversion->partial) < 0)
        status = refuse_conversion(conversion, "cannot replace", error);
    if (status < 0)
        partial_drop(&conversion->partial);
    return status;
}

int records_convert(const char *path, const struct hdss_loop *loop, struct error *error)
{
    if (records_check(path, loop, error) < 0)
        return -1;
    struct conversion conversion = {.path = path, .format = format_of(path)};
    struct rows rows;
    if (conversion.format->convert == NULL)
        return 0;
    written_path(path, conversion.format, conversion.records);
    if (partial_init(&conversion.partial, path, error) < 0 || rows_open(&rows, conversion.records, loop, error) < 0)
        return -1;
    int status = records_convert_all(&conversion, &rows, error);
    rows_close(&rows);
    return status;
}

void records_remove(const char *path)
{
    const struct results_format *format = format_of(path);
    char records[PATH_MAX];
    if (format == NULL || format->convert == NULL)
        return;
    written_path(path, format, records);
    unlink(records);
}
