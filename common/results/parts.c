/* SPDX-License-Identifier: MIT */
/* Writing parts, and their folder: see parts.h. */
#include "common/results/parts.h"

#include "common/os/files.h"
#include "common/results/intact.h"
#include "common/util/digest.h"
#include "common/util/grow.h"
#include "proto/wire.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FOLDER_ENDING ".parts"
#define RUN_FILE      "run"
#define OUT_ENDING    ".out"
#define LONGEST_NAME  (sizeof FOLDER_ENDING + PART_NAME_MAX)

static const char magic[4] = {'H', 'D', 'S', 'B'};

static void part_head_put(const struct part_head *head, unsigned char out[PART_HEAD_BYTES])
{
    memcpy(out, magic, sizeof magic);
    wire_put32(out + 4, head->run);
    wire_put64(out + 8, head->first);
    wire_put64(out + 16, head->count);
    wire_put64(out + 24, head->bytes);
    wire_put64(out + 32, head->sum);
    wire_put64(out + 40, digest_record(0, out, 40));
}

bool part_head_get(struct part_head *head, const unsigned char in[PART_HEAD_BYTES])
{
    *head = (struct part_head){
        .run = wire_get32(in + 4),
        .first = wire_get64(in + 8),
        .count = wire_get64(in + 16),
        .bytes = wire_get64(in + 24),
        .sum = wire_get64(in + 32),
    };
    return memcmp(in, magic, sizeof magic) == 0 && wire_get64(in + 40) == digest_record(0, in, 40) && head->count > 0 &&
           head->first <= UINT64_MAX - head->count && head->bytes <= BLOCK_MAX;
}

static const char *parts_folder_of(const char *path, char folder[PATH_MAX])
{
    snprintf(folder, PATH_MAX, "%s" FOLDER_ENDING, path);
    return folder;
}

static const char *file_in(const char *path, const char *name, char file[PATH_MAX])
{
    snprintf(file, PATH_MAX, "%s" FOLDER_ENDING "/%s", path, name);
    return file;
}

const char *parts_stream_file(const char *path, const char *ending, char file[PATH_MAX])
{
    size_t length = strlen(path), own = strlen(OUT_ENDING);
    bool has_stem = length > own && path[length - own - 1] != '/' && strcmp(path + length - own, OUT_ENDING) == 0;
    bool takes_place = has_stem && ending[0] == '.' && strcmp(ending, OUT_ENDING) != 0;
    snprintf(file, PATH_MAX, "%.*s%s", (int)(takes_place ? length - own : length), path, ending);
    return file;
}

int parts_check(const char *path, const struct hdss_loop *loop, struct error *error)
{
    struct stat status;
    (void)loop;
    if (strlen(path) + LONGEST_NAME > PATH_MAX)
        return error_set(error, "%.60s...: the name is too long", path);
    if (strcmp(path, "-") == 0 || (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)))
        return error_set(error,
                         "%.200s: results of tasks are files, which replace what is there; accepted: the name of a "
                         "file (hdss exec prints to standard output)",
                         path);
    return file_refuse_folder(path, "results.out", error);
}

bool parts_exist(const char *path)
{
    char folder[PATH_MAX];
    return access(path, F_OK) == 0 || access(parts_folder_of(path, folder), F_OK) == 0;
}

bool parts_begun(const char *path)
{
    char file[PATH_MAX];
    return access(file_in(path, RUN_FILE, file), F_OK) == 0;
}

static bool is_part_name(const char *name)
{
    size_t run = strspn(name, "0123456789"), rank = name[run] == '-' ? strspn(name + run + 1, "0123456789") : 0;
    return run > 0 && rank > 0 && name[run + 1 + rank] == '\0' && strlen(name) < PART_NAME_MAX;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct part_file *)a)->name, ((const struct part_file *)b)->name);
}

int parts_list(const char *folder, struct part_file **files, size_t *count)
{
    size_t capacity = 0;
    int result = 0;
    *files = NULL;
    *count = 0;
    DIR *dir = opendir(folder);
    if (dir == NULL)
        return -1;
    for (struct dirent *item; result == 0 && (item = readdir(dir)) != NULL;) {
        if (!is_part_name(item->d_name))
            continue;
        struct part_file *grown = grow(*files, *count, &capacity, sizeof *grown);
        result = grown == NULL ? -1 : 0;
        *files = grown != NULL ? grown : *files;
        if (result == 0)
            strcpy((*files)[(*count)++].name, item->d_name);
    }
    closedir(dir);
    if (*count > 0)
        qsort(*files, *count, sizeof **files, by_name);
    return result;
}

void parts_remove(const char *path)
{
    char folder[PATH_MAX], file[PATH_MAX];
    struct part_file *files;
    size_t count;
    if (parts_list(parts_folder_of(path, folder), &files, &count) == 0)
        for (size_t i = 0; i < count; i++)
            unlink(file_in(path, files[i].name, file));
    free(files);
    unlink(file_in(path, RUN_FILE, file));
    rmdir(folder);
}

static int parts_write_run(const char *path, unsigned streams, uint32_t run, struct error *error)
{
    char file[PATH_MAX], text[80];
    int length = snprintf(text, sizeof text, "HDSS parts 1, %u streams, run %" PRIu32 "\n", streams, run);
    int result = file_write(file_in(path, RUN_FILE, file), text, (size_t)length, error);
    return result < 0 && (errno == ENOSPC || errno == EDQUOT) ? RESULTS_NO_ROOM : result;
}

static int parts_read_run(const char *path, unsigned streams, uint32_t *run, struct error *error)
{
    char file[PATH_MAX];
    unsigned there = 0;
    int end = 0;
    if (access(file_in(path, RUN_FILE, file), F_OK) < 0 && errno == ENOENT)
        return RESULTS_ABSENT;
    char *text = file_read(file, error);
    if (text == NULL)
        return -1;
    bool sound = sscanf(text, "HDSS parts 1, %u streams, run %" SCNu32 "%n", &there, run, &end) == 2 &&
                 strcmp(text + end, "\n") == 0;
    free(text);
    if (!sound || there != streams || *run == UINT32_MAX)
        return error_set(error, "%.200s: is not of the output of such a job", file);
    return 0;
}

/* Opens and locks the file `run`. The caller owns `*lock` (-1: no file). Fails if another run holds the lock. */
static int lock_run(const char *path, int *lock, struct error *error)
{
    char file[PATH_MAX];
    *lock = file_open_locked(file_in(path, RUN_FILE, file), O_RDWR);
    if (*lock < 0 && errno == EWOULDBLOCK)
        return error_set(error, "%.200s" FOLDER_ENDING ": another run is writing it", path);
    return 0;
}

static void parts_unlock(int lock)
{
    if (lock >= 0)
        close(lock);
}

static int parts_keep(const char *path, int *lock, struct error *error)
{
    return lock == NULL ? 0 : lock_run(path, lock, error);
}

int parts_check_place(const char *path, struct error *error)
{
    struct stat status;
    char folder[PATH_MAX];
    int lock;
    if (stat(parts_folder_of(path, folder), &status) == 0 && !S_ISDIR(status.st_mode))
        return error_set(error, "%.200s: is there, and is not a folder; accepted: another --output, or without it",
                         folder);
    if (lock_run(path, &lock, error) < 0)
        return -1;
    parts_unlock(lock);
    return file_check_folder(path, error);
}

static int make_folder(const char *path, const struct hdss_loop *loop, struct error *error)
{
    char folder[PATH_MAX];
    parts_remove(path);
    if (mkdir(parts_folder_of(path, folder), 0777) < 0)
        return error_set(error, "%.200s: cannot create: %s", folder, strerror(errno));
    int result = parts_write_run(path, loop->streams, 1, error);
    if (result != 0)
        rmdir(folder);
    return result;
}

int parts_create(const char *path, const struct hdss_loop *loop, int *lock, struct error *error)
{
    int earlier;
    if (parts_check(path, loop, error) < 0 || lock_run(path, &earlier, error) < 0)
        return -1;
    int result = make_folder(path, loop, error);
    if (result == 0)
        result = parts_keep(path, lock, error);
    parts_unlock(earlier);
    return result;
}

/* Returns the highest number of a run that has a part, but at least `run`. The number of an earlier run must not be
 * used again, and the number in a damaged file `run` may be too low. */
static uint32_t latest_run(const char *path, uint32_t run)
{
    char folder[PATH_MAX];
    struct part_file *files;
    size_t count;
    if (parts_list(parts_folder_of(path, folder), &files, &count) == 0)
        for (size_t i = 0; i < count; i++) {
            const unsigned long part = strtoul(files[i].name, NULL, 10);
            run = part > run && part < UINT32_MAX ? (uint32_t)part : run;
        }
    free(files);
    return run;
}

static int find_run(const char *path, const struct hdss_loop *loop, bool goes_on, int *lock, struct error *error)
{
    uint32_t run;
    int earlier;
    if (parts_check(path, loop, error) < 0 || lock_run(path, &earlier, error) < 0)
        return -1;
    int result = parts_read_run(path, loop->streams, &run, error);
    if (result == 0 && goes_on)
        result = parts_write_run(path, loop->streams, latest_run(path, run) + 1, error);
    if (result == 0 && goes_on)
        result = parts_keep(path, lock, error);
    parts_unlock(earlier);
    return result;
}

int parts_look_for(const char *path, const struct hdss_loop *loop, struct error *error)
{
    return find_run(path, loop, false, NULL, error);
}

int parts_find(const char *path, const struct hdss_loop *loop, int *lock, struct error *error)
{
    return find_run(path, loop, true, lock, error);
}

/* Missing parts are not searched here: they are detected when the parts are joined. */
int parts_look_again(const char *path, int lock, struct error *error)
{
    char file[PATH_MAX];
    return intact_check_name(lock, file_in(path, RUN_FILE, file), error);
}

int parts_open(struct results_sink *sink, const char *path, const struct hdss_loop *loop, unsigned writer,
               struct error *error)
{
    char file[PATH_MAX], name[PART_NAME_MAX];
    *sink = (struct results_sink){.fd = -1, .loop = *loop};
    if (loop->grows)
        sink->loop.iterations = INT64_MAX;
    int found = parts_read_run(path, loop->streams, &sink->run, error);
    if (found == RESULTS_ABSENT)
        return error_set(error,
                         "%.200s" FOLDER_ENDING
                         ": is not there on this node: output must be in a folder that all nodes share",
                         path);
    if (found < 0)
        return -1;
    snprintf(name, sizeof name, "%" PRIu32 "-%u", sink->run, writer);
    sink->path = strdup(file_in(path, name, file));
    if (sink->path != NULL)
        sink->fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (sink->fd >= 0)
        return 0;
    error_set(error, "%.200s: cannot create: %s", file, strerror(sink->path == NULL ? ENOMEM : errno));
    free(sink->path);
    sink->path = NULL;
    return -1;
}

static int parts_refuse_write(const struct results_sink *sink, struct error *error)
{
    return error_set(error, "%.200s: cannot write: %s", sink->path, strerror(errno));
}

static int parts_append(struct results_sink *sink, unsigned char *head, const void *bytes, uint64_t size)
{
    const struct iovec both[] = {{head, PART_HEAD_BYTES}, {(void *)bytes, size}};
    ssize_t done = pwritev(sink->fd, both, 2, (off_t)sink->end);
    if (done == (ssize_t)(PART_HEAD_BYTES + size))
        return 0;
    if (file_write_at(sink->fd, bytes, size, sink->end + PART_HEAD_BYTES) < 0)
        return -1;
    return file_write_at(sink->fd, head, PART_HEAD_BYTES, sink->end);
}

int parts_write(struct results_sink *sink, uint64_t first, uint64_t count, const void *bytes, uint64_t size,
                struct error *error)
{
    struct block block;
    unsigned char head[PART_HEAD_BYTES];
    uint64_t iterations = sink->loop.iterations;
    if (!block_read(&block, bytes, size, sink->loop.streams) || block.count != count || first > iterations ||
        count > iterations - first)
        return error_set(error,
                         "%.200s: the results of iterations %" PRIu64 " + %" PRIu64 " are not what they should be",
                         sink->path, first, count);
    if (intact_check_sink(sink, sink->end, error) < 0)
        return -1;
    part_head_put(&(struct part_head){sink->run, first, count, size, digest_record(first, bytes, size)}, head);
    if (parts_append(sink, head, bytes, size) < 0)
        return parts_refuse_write(sink, error);
    sink->end += PART_HEAD_BYTES + size;
    return 0;
}

int parts_sync(struct results_sink *sink, struct error *error)
{
    if (fdatasync(sink->fd) < 0 || (!sink->name_is_synced && file_sync_name(sink->path) < 0))
        return parts_refuse_write(sink, error);
    sink->name_is_synced = true;
    return 0;
}
