/* SPDX-License-Identifier: MIT */
/* Output of both kinds, records and parts: see results.h. */
#include "common/results/results.h"

#include "common/os/files.h"
#include "common/results/parts.h"
#include "common/results/records.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

static bool results_is_variable(const struct hdss_loop *loop)
{
    return loop->streams > 0;
}

/* Bytes of many iterations, one after another, are neither an array nor a picture. A command may print either. */
static int refuse_array(const char *path, const struct hdss_loop *loop, struct error *error)
{
    if (loop->are_tasks || !records_have_type(path))
        return 0;
    return error_set(error,
                     "%.200s: the kernel yields bytes or text, not numbers of one type; accepted: a name that ends in "
                     ".txt, or numbers: in Python 'dtype' in what describe() returns",
                     path);
}

int results_check(const char *path, const struct hdss_loop *loop, struct error *error)
{
    if (!results_is_variable(loop))
        return records_check(path, loop, error);
    return refuse_array(path, loop, error) < 0 ? -1 : parts_check(path, loop, error);
}

int results_create(const char *path, const struct hdss_loop *loop, int *lock, struct error *error)
{
    return results_is_variable(loop) ? parts_create(path, loop, lock, error) : records_create(path, loop, lock, error);
}

int results_find(const char *path, const struct hdss_loop *loop, int *lock, struct error *error)
{
    return results_is_variable(loop) ? parts_find(path, loop, lock, error) : records_find(path, loop, lock, error);
}

int results_check_place(const char *path, const struct hdss_loop *loop, struct error *error)
{
    return results_is_variable(loop) ? parts_check_place(path, error) : records_check_place(path, error);
}

int results_look(const char *path, const struct hdss_loop *loop, struct error *error)
{
    return results_is_variable(loop) ? parts_look_for(path, loop, error) : records_find(path, loop, NULL, error);
}

int results_look_again(const char *path, const struct hdss_loop *loop, int lock, struct error *error)
{
    return results_is_variable(loop) ? parts_look_again(path, lock, error)
                                     : records_look_again(path, loop, lock, error);
}

bool results_exist(const char *path, const struct hdss_loop *loop)
{
    return results_is_variable(loop) ? parts_exist(path) : records_exist(path);
}

int results_open(struct results_sink *sink, const char *path, const struct hdss_loop *loop, unsigned writer,
                 struct error *error)
{
    return results_is_variable(loop) ? parts_open(sink, path, loop, writer, error)
                                     : records_open(sink, path, loop, error);
}

int results_write(struct results_sink *sink, uint64_t first, uint64_t count, const void *bytes, uint64_t size,
                  struct error *error)
{
    return results_is_variable(&sink->loop) ? parts_write(sink, first, count, bytes, size, error)
                                            : records_write(sink, first, count, bytes, error);
}

int results_read(const char *path, const struct hdss_loop *loop, uint64_t first, uint64_t count, void *records,
                 struct error *error)
{
    return records_read(path, loop, first, count, records, error);
}

int results_sync(struct results_sink *sink, struct error *error)
{
    return results_is_variable(&sink->loop) ? parts_sync(sink, error) : records_sync(sink, error);
}

int results_close(struct results_sink *sink, struct error *error)
{
    return records_close(sink, error);
}

int results_convert(const char *path, const struct hdss_loop *loop, const struct range *whole, struct ranges *failed,
                    struct reasons *reasons, struct error *error)
{
    return results_is_variable(loop) ? parts_join(path, loop, whole, failed, reasons, error)
                                     : records_convert(path, loop, error);
}

int results_review(const char *path, const struct hdss_loop *loop, const struct ranges *among, struct ranges *failed,
                   struct reasons *reasons, struct error *error)
{
    return parts_review(path, loop, among, failed, reasons, error);
}

void results_remove(const char *path, const struct hdss_loop *loop)
{
    if (results_is_variable(loop))
        parts_remove(path);
    else
        records_remove(path);
}

unsigned results_files(const struct hdss_loop *loop)
{
    return results_is_variable(loop) ? loop->streams : 1;
}

const char *results_file(const char *path, const struct hdss_loop *loop, unsigned i, char file[PATH_MAX])
{
    return results_is_variable(loop) ? parts_stream_file(path, loop->stream[i].ending, file) : path;
}

uint64_t results_bytes(const char *path, const struct hdss_loop *loop)
{
    char file[PATH_MAX];
    struct stat found;
    uint64_t bytes = 0;
    for (unsigned i = 0; i < results_files(loop); i++)
        if (stat(results_file(path, loop, i, file), &found) == 0)
            bytes += (uint64_t)found.st_size;
    return bytes;
}

int results_take_back(const char *path, const struct hdss_loop *loop, struct range range, struct error *error)
{
    return parts_take_back(path, loop, range, error);
}

static int sync_file(const char *path, struct error *error)
{
    return file_sync(path) < 0 || file_sync_name(path) < 0
               ? error_set(error, "%.200s: cannot bring it to the disk: %s", path, strerror(errno))
               : 0;
}

int results_sync_files(const char *path, const struct hdss_loop *loop, struct error *error)
{
    char file[PATH_MAX];
    for (unsigned i = 0; i < results_files(loop); i++)
        if (sync_file(results_file(path, loop, i, file), error) < 0)
            return -1;
    return 0;
}

int results_hold(const char *path, const struct hdss_loop *loop, const struct ranges *done, struct error *error)
{
    return results_is_variable(loop) ? parts_hold(path, loop, done, error) : RESULTS_COMPLETE;
}

int results_find_sound(const char *path, const struct hdss_loop *loop, const struct ranges *done, bool by_heads,
                       struct ranges *sound, uint64_t *digest, struct error *error)
{
    const enum parts_wanted wanted = by_heads ? PARTS_WITH_HEAD : PARTS_SOUND;
    *digest = 0;
    return results_is_variable(loop) ? parts_look(path, loop, done, wanted, sound, digest, error) : 0;
}

int results_find_failed(const char *path, const struct hdss_loop *loop, const struct ranges *done,
                        struct ranges *failed, uint64_t *digest, struct error *error)
{
    *digest = 0;
    return results_is_variable(loop) ? parts_look(path, loop, done, PARTS_FAILED, failed, digest, error) : 0;
}
