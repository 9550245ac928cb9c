/* SPDX-License-Identifier: MIT */
/* Following parts as they grow: see tail.h. */
#include "common/results/tail.h"

#include "common/os/files.h"
#include "common/results/parts_read.h"
#include "common/util/crc.h"
#include "common/util/grow.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A line of the file of marks: a name, a number, and the CRC of both, always as long. */
#define MARK_TEXT       "%-23s %20" PRIu64
#define MARK_TEXT_BYTES 44
#define MARK_BYTES      54
/* The marks that are none of a file: how many lines follow the first one, and the `next` of results_tail_keep(). */
#define MARK_COUNT "lines"
#define MARK_NEXT  "next"
#define MARKS_MORE 2

/* How far a file of parts was read. */
struct tail_file {
    uint64_t at;     /* behind what was handed over */
    uint64_t mark;   /* behind what is done with */
    uint64_t kept;   /* behind what an earlier reader was done with */
    bool is_earlier; /* the file was there at the beginning */
};

struct results_tail {
    struct parts_reader reader;
    struct tail_file *files; /* of the reader's files */
    size_t count, capacity;
    bool looks;    /* a look through the files is under way, */
    uint32_t file; /* and is at this one, */
    uint64_t size; /* which is as long */
    uint64_t first, kept_next, corrupted;
    bool marks_are_damaged;
    int stale;   /* folder of an earlier run, which does not count; -1: none */
    int marks;   /* file of marks; -1: not open */
    char *kept;  /* text of the marks that an earlier reader has kept; NULL: none */
    char *text;  /* text of the marks */
    size_t room; /* for it */
};

static int tail_no_memory(struct error *error)
{
    return error_set(error, "out of memory for the parts of the output");
}

/* --- marks --- */

static const char *marks_file(const struct results_tail *tail, char file[PATH_MAX + 16])
{
    snprintf(file, PATH_MAX + 16, "%s/" PARTS_MARKS, tail->reader.folder);
    return file;
}

/* The number behind `name` in the marks that an earlier reader has kept; 0 where there is none. */
static uint64_t find_mark(const struct results_tail *tail, const char *name)
{
    const size_t length = strlen(name);
    for (const char *line = tail->kept; line != NULL && *line != '\0';) {
        if (strncmp(line, name, length) == 0 && line[length] == ' ')
            return strtoull(line + length, NULL, 10);
        line = strchr(line, '\n');
        line += line != NULL;
    }
    return 0;
}

/* True where the line, which `left` bytes follow, is as it was written. */
static bool is_whole_mark(const char *line, size_t left)
{
    char sum[MARK_BYTES - MARK_TEXT_BYTES + 1] = "";
    if (left < MARK_BYTES)
        return false;
    snprintf(sum, sizeof sum, " %08" PRIx32 "\n", crc32c(0, line, MARK_TEXT_BYTES));
    return memcmp(line + MARK_TEXT_BYTES, sum, MARK_BYTES - MARK_TEXT_BYTES) == 0;
}

/* Keeps the lines of `bytes` that are whole. */
static void take_marks(struct results_tail *tail, const char *bytes, size_t size)
{
    uint64_t lines = 0;
    char *out = tail->kept;
    for (size_t at = 0; at < size; at += MARK_BYTES) {
        if (!is_whole_mark(bytes + at, size - at))
            continue;
        memcpy(out, bytes + at, MARK_BYTES);
        out += MARK_BYTES;
        lines++;
    }
    *out = '\0';
    tail->kept_next = find_mark(tail, MARK_NEXT);
    tail->marks_are_damaged = size != lines * MARK_BYTES || lines != find_mark(tail, MARK_COUNT) + 1;
}

static int read_marks(struct results_tail *tail, struct error *error)
{
    char file[PATH_MAX + 16];
    struct stat status;
    const int fd = open(marks_file(tail, file), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT)
        return 0;
    const size_t size = fd >= 0 && fstat(fd, &status) == 0 ? (size_t)status.st_size : 0;
    char *bytes = malloc(size + 1);
    int result = bytes == NULL ? tail_no_memory(error) : 0;
    if (result == 0 && (fd < 0 || file_read_at(fd, bytes, size, 0) != 0))
        result = error_set(error, "%.200s: cannot read: %s", file, strerror(errno));
    tail->kept = result == 0 ? malloc(size + 1) : NULL;
    if (tail->kept != NULL)
        take_marks(tail, bytes, size);
    else if (result == 0)
        result = tail_no_memory(error);
    free(bytes);
    if (fd >= 0)
        close(fd);
    return result;
}

bool results_tail_marks_are_damaged(const struct results_tail *tail)
{
    return tail->marks_are_damaged;
}

void results_tail_mark(struct results_tail *tail, struct results_place place)
{
    tail->files[place.file].mark = place.at;
}

void results_tail_mark_all(struct results_tail *tail)
{
    for (size_t i = 0; i < tail->count; i++)
        tail->files[i].mark = tail->files[i].at;
}

static int refuse_marks(const struct results_tail *tail, struct error *error)
{
    char file[PATH_MAX + 16];
    return error_set(error, "%.200s: cannot write: %s", marks_file(tail, file), strerror(errno));
}

/* Opens the file of marks, if its folder is there by now. */
static int open_marks(struct results_tail *tail, struct error *error)
{
    char file[PATH_MAX + 16];
    if (tail->marks >= 0 || tail->count == 0)
        return 0;
    tail->marks = open(marks_file(tail, file), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    return tail->marks < 0 ? refuse_marks(tail, error) : 0;
}

static void put_mark(char *out, const char *name, uint64_t value)
{
    snprintf(out, MARK_TEXT_BYTES + 1, MARK_TEXT, name, value);
    snprintf(out + MARK_TEXT_BYTES, MARK_BYTES - MARK_TEXT_BYTES + 1, " %08" PRIx32 "\n",
             crc32c(0, out, MARK_TEXT_BYTES));
}

int results_tail_keep(struct results_tail *tail, uint64_t next, struct error *error)
{
    const size_t bytes = MARK_BYTES * (tail->count + MARKS_MORE);
    if (open_marks(tail, error) < 0 || tail->marks < 0)
        return tail->marks < 0 && tail->count > 0 ? -1 : 0;
    if (tail->room <= bytes) {
        free(tail->text);
        tail->text = malloc(2 * bytes);
        tail->room = tail->text != NULL ? 2 * bytes : 0;
        if (tail->text == NULL)
            return tail_no_memory(error);
    }
    put_mark(tail->text, MARK_COUNT, tail->count + MARKS_MORE - 1);
    put_mark(tail->text + MARK_BYTES, MARK_NEXT, next);
    for (size_t i = 0; i < tail->count; i++) {
        const struct tail_file *file = &tail->files[i];
        const uint64_t mark = file->mark > file->kept ? file->mark : file->kept;
        put_mark(tail->text + MARK_BYTES * (i + MARKS_MORE), tail->reader.files[i].name, mark);
    }
    return file_write_at(tail->marks, tail->text, bytes, 0) < 0 ? refuse_marks(tail, error) : 0;
}

uint64_t results_tail_kept(const struct results_tail *tail)
{
    return tail->kept_next;
}

/* --- the folder --- */

/* Finds the files that are there by now. */
static int tail_list(struct results_tail *tail, struct error *error)
{
    if (parts_reader_list(&tail->reader, error) < 0)
        return -1;
    while (tail->count < tail->reader.file_count) {
        struct tail_file *grown = grow(tail->files, tail->count, &tail->capacity, sizeof *grown);
        if (grown == NULL)
            return tail_no_memory(error);
        tail->files = grown;
        tail->files[tail->count] = (struct tail_file){.kept = find_mark(tail, tail->reader.files[tail->count].name)};
        tail->count++;
    }
    return 0;
}

/* Each run has files of its own. */
static int list_earlier(struct results_tail *tail, struct error *error)
{
    int result = tail_list(tail, error);
    for (size_t i = 0; i < tail->count; i++)
        tail->files[i].is_earlier = true;
    return result;
}

struct results_tail *results_tail_begin(const char *path, unsigned streams, bool resumes, struct error *error)
{
    struct results_tail *tail = malloc(sizeof *tail);
    if (tail == NULL) {
        tail_no_memory(error);
        return NULL;
    }
    *tail = (struct results_tail){.stale = -1, .marks = -1};
    parts_reader_init(&tail->reader, path, streams);
    if (!resumes) /* as long as it is open here no other folder has its number */
        tail->stale = open(tail->reader.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    else if (read_marks(tail, error) < 0 || list_earlier(tail, error) < 0) {
        results_tail_end(tail);
        return NULL;
    }
    return tail;
}

void results_tail_end(struct results_tail *tail)
{
    parts_reader_fini(&tail->reader);
    if (tail->stale >= 0)
        close(tail->stale);
    if (tail->marks >= 0)
        close(tail->marks);
    free(tail->files);
    free(tail->kept);
    free(tail->text);
    free(tail);
}

/* True if the folder is still that of an earlier run. */
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

/* --- entries --- */

/* Takes the next entry of the file that is looked at. */
static int take_next(struct results_tail *tail, bool last, struct results_entry *entry, struct error *error)
{
    struct tail_file *file = &tail->files[tail->file];
    struct part_head head;
    for (;;) {
        const struct results_place place = {tail->file, file->at};
        int good = parts_reader_head(&tail->reader, place.file, place.at, tail->size, &head, error);
        if (good <= 0)
            return good;
        good = parts_reader_load(&tail->reader, place.file, place.at, &head, error);
        if (good < 0 || (good == 0 && !last)) /* over a network its bytes may come a moment later */
            return good;
        file->at = part_end(place.at, &head);
        tail->corrupted += good == 0;
        if (good == 0)
            continue;
        tail->first = head.first;
        *entry = (struct results_entry){place, head.first, file->is_earlier, file->at <= file->kept};
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
    const uint64_t end = tail->files[place.file].at;
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

uint64_t results_tail_corrupted(const struct results_tail *tail)
{
    return tail->corrupted;
}

void results_tail_remove(const char *path)
{
    parts_remove(path);
}
