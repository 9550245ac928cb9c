/* SPDX-License-Identifier: MIT */
/* Journal files: see journal.h. Invariant: the first `size` bytes of the file are a head and complete records.
 * `done` contains all ranges of these records, and `digest` is their checksum. */
#include "common/job/journal.h"

#include "common/os/files.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A journal is rewritten if it is longer than GROWN_BYTES and more than GROWN_TIMES times as long as it would be
 * after rewriting. */
#define GROWN_TIMES 4
#define GROWN_BYTES (256u << 10)

/* Opens, locks and reads the file. If possible, opens it for writing, because network file systems refuse the lock
 * otherwise. Returns a journal_state. */
static int journal_load(struct journal_file *file, const char *path, struct error *error)
{
    struct stat status;
    file->fd = file_open_locked(path, O_RDWR);
    if (file->fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return JOURNAL_ABSENT;
    if (file->fd < 0 && errno != EWOULDBLOCK)
        file->fd = file_open_locked(path, O_RDONLY);
    if (file->fd < 0 && errno == EINVAL)
        return error_set(error, "%.200s: is not a journal, nor a regular file", path), JOURNAL_UNUSABLE;
    if (file->fd < 0 && errno == EWOULDBLOCK)
        return error_set(error, "%.200s: another run is writing it", path), JOURNAL_IN_USE;
    if (file->fd < 0 || fstat(file->fd, &status) < 0)
        return error_set(error, "%.200s: %s", path, strerror(errno)), JOURNAL_FAILED;
    file->size = (size_t)status.st_size;
    file->bytes = malloc(file->size + 1);
    if (file->bytes == NULL || file_read_at(file->fd, file->bytes, file->size, 0) != 0)
        return error_set(error, "%.200s: %s", path, strerror(file->bytes == NULL ? ENOMEM : errno)), JOURNAL_FAILED;
    return JOURNAL_READABLE;
}

static enum journal_state decode(struct journal_file *file, const char *path, struct error *error)
{
    static const char *const reasons[] = {
        [JOURNAL_FOREIGN] = "is not a journal",
        [JOURNAL_OTHER_VERSION] = "is a journal of another version of HDSS",
        [JOURNAL_BAD_HEAD] = "is torn or corrupted at its beginning",
        [JOURNAL_CONTRADICTS] = "contradicts itself",
    };
    enum journal_decoded decoded = journal_decode(&file->content, file->bytes, file->size);
    if (decoded == JOURNAL_GOOD)
        return JOURNAL_READABLE;
    if (decoded == JOURNAL_NO_MEMORY)
        return error_set(error, "%.200s: out of memory", path), JOURNAL_FAILED;
    error_set(error, "%.200s: %s", path, reasons[decoded]);
    return JOURNAL_UNUSABLE;
}

enum journal_state journal_read(struct journal_file *file, const char *path, struct error *error)
{
    *file = (struct journal_file){.fd = -1};
    int state = journal_load(file, path, error);
    return state == JOURNAL_READABLE ? decode(file, path, error) : (enum journal_state)state;
}

void journal_file_fini(struct journal_file *file)
{
    journal_content_fini(&file->content);
    free(file->bytes);
    if (file->fd >= 0)
        close(file->fd);
    *file = (struct journal_file){.fd = -1};
}

static const char *next_line(const char **text, const char *end)
{
    const char *line = *text;
    if (line >= end)
        return "";
    *text += strlen(line) + 1;
    return line;
}

const char *journal_value(const struct journal_head *head, const char *name)
{
    const size_t length = strlen(name);
    const char *text = head->text, *end = text + head->text_bytes;
    while (text < end) {
        const char *line = next_line(&text, end);
        if (strncmp(line, name, length) == 0 && line[length] == '=')
            return line + length + 1;
    }
    return "";
}

static int journal_refuse(const char *path, const char *there, const char *here, struct error *error)
{
    const char *name = *here != '\0' ? here : there;
    int length = (int)strcspn(name, "=");
    const char *was = strchr(there, '='), *is = strchr(here, '=');
    return error_set(error, "%.150s: is the journal of another job: %.*s is %.80s there and %.80s here", path,
                     length < 40 ? length : 40, name, was != NULL ? was + 1 : "not said",
                     is != NULL ? is + 1 : "not said");
}

int journal_compare(const struct journal_head *there, const struct journal_head *here, const char *path,
                    struct error *error)
{
    const char *theirs = there->text, *ours = here->text;
    const char *theirs_end = theirs + there->text_bytes, *ours_end = ours + here->text_bytes;
    while (theirs < theirs_end || ours < ours_end) {
        const char *was = next_line(&theirs, theirs_end), *is = next_line(&ours, ours_end);
        if (strcmp(was, is) != 0)
            return journal_refuse(path, was, is, error);
    }
    if (there->loop.first == here->loop.first && there->loop.count == here->loop.count)
        return 0;
    return error_set(error, "%.150s: is the journal of another job: its loop is %llu:%llu there and %llu:%llu here",
                     path, (unsigned long long)there->loop.first, (unsigned long long)there->loop.count,
                     (unsigned long long)here->loop.first, (unsigned long long)here->loop.count);
}

static int journal_fail(const struct journal *journal, const char *what, struct error *error)
{
    return error_set(error, "%.200s: %s: %s", journal->path, what, strerror(errno));
}

static int journal_make_room(struct journal *journal, size_t size)
{
    if (size <= journal->capacity)
        return 0;
    unsigned char *bytes = realloc(journal->bytes, size);
    if (bytes == NULL)
        return -1;
    journal->bytes = bytes;
    journal->capacity = size;
    return 0;
}

static size_t records_size(const struct journal *journal)
{
    size_t ranges = ranges_length(&journal->done);
    size_t size = (ranges > 0 ? journal_record_size(ranges) : 0) +
                  (journal->deaths.count + journal->growth_count) * journal_record_size(1);
    for (unsigned i = 0; i < journal->point_count; i++)
        size += journal_point_size(journal->points[i].bytes);
    return size;
}

static int write_whole(struct journal *journal, int fd, uint64_t *size, uint32_t *crc)
{
    size_t ranges = ranges_length(&journal->done), records = records_size(journal), at = 0;
    *size = journal->head_bytes + records;
    *crc = journal->head_crc;
    if (journal_make_room(journal, records) < 0)
        return -1;
    for (unsigned i = 0; i < journal->growth_count; i++, at += journal_record_size(1))
        *crc = journal_growth_put(journal->loop.first, &journal->growths[i], *crc, journal->bytes + at);
    if (ranges > 0) {
        *crc = journal_record_put(ranges_at(&journal->done, 0), ranges, journal->digest, *crc, journal->bytes + at);
        at += journal_record_size(ranges);
    }
    for (size_t i = 0; i < journal->deaths.count; i++, at += journal_record_size(1))
        *crc = journal_deaths_put(&journal->deaths.items[i], *crc, journal->bytes + at);
    for (unsigned i = 0; i < journal->point_count; at += journal_point_size(journal->points[i++].bytes))
        *crc = journal_point_put(&journal->points[i], *crc, journal->bytes + at);
    return file_write_at(fd, journal->head, journal->head_bytes, 0) < 0 ||
                   file_write_at(fd, journal->bytes, records, journal->head_bytes) < 0 ||
                   (journal->sync && fdatasync(fd) < 0)
               ? -1
               : 0;
}

static int replace(struct journal *journal, struct error *error)
{
    uint64_t size;
    uint32_t crc;
    unlink(journal->temporary);
    int fd = open(journal->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return journal_fail(journal, "cannot create", error);
    file_lock(fd); /* The lock cannot be refused, because no other process knows the new file yet. */
    if (write_whole(journal, fd, &size, &crc) < 0 || rename(journal->temporary, journal->path) < 0) {
        journal_fail(journal, "cannot write", error);
        unlink(journal->temporary);
        close(fd);
        return -1;
    }
    if (journal->fd >= 0)
        close(journal->fd);
    journal->fd = fd;
    journal->size = size;
    journal->crc = crc;
    return journal->sync && file_sync_name(journal->path) < 0 ? journal_fail(journal, "cannot write", error) : 0;
}

static int copy_head(struct journal *journal, const struct journal_head *head)
{
    assert(head->growth_count <= JOURNAL_GROWTHS && "a head has few growths");
    journal->loop = journal_loop(head);
    journal->growth_count = (unsigned)head->growth_count;
    for (size_t i = 0; i < head->growth_count; i++)
        journal->growths[i] = head->growths[i];
    journal->head_bytes = journal_head_size(head);
    journal->head = malloc(journal->head_bytes);
    if (journal->head != NULL)
        journal->head_crc = journal_head_put(head, journal->head);
    return journal->head != NULL ? 0 : -1;
}

static void drop_point(struct journal *journal, unsigned i)
{
    free((unsigned char *)journal->points[i].data);
    memmove(&journal->points[i], &journal->points[i + 1], (--journal->point_count - i) * sizeof *journal->points);
}

static void drop_old_points(struct journal *journal)
{
    const struct range *done = ranges_length(&journal->done) > 0 ? ranges_at(&journal->done, 0) : NULL;
    const bool from_beginning = done != NULL && done->first == journal->loop.first;
    while (journal->point_count > 1 && from_beginning && journal->points[1].at <= done->first + done->count)
        drop_point(journal, 0);
}

static bool wants_point(const struct journal *journal, const struct journal_point *point)
{
    return journal->point_count == 0 ||
           (journal->point_count < JOURNAL_POINTS && point->at > journal->points[journal->point_count - 1].at);
}

static int keep_point(struct journal *journal, const struct journal_point *point)
{
    unsigned char *data = malloc(point->bytes);
    if (data == NULL)
        return -1;
    memcpy(data, point->data, point->bytes);
    journal->points[journal->point_count++] = (struct journal_point){point->at, point->bytes, data};
    return 0;
}

static int copy_earlier(struct journal *journal, const struct journal_content *earlier)
{
    if (earlier == NULL)
        return 0;
    for (size_t i = 0; i < ranges_length(&earlier->done); i++) {
        const struct range *range = ranges_at(&earlier->done, i);
        if (ranges_add(&journal->done, range->first, range->count, NULL) < 0)
            return -1;
    }
    for (size_t i = 0; i < earlier->deaths.count; i++)
        if (poison_add(&journal->deaths, &earlier->deaths.items[i]) < 0)
            return -1;
    for (size_t i = 0; i < earlier->point_count; i++)
        if (wants_point(journal, &earlier->points[i]) && keep_point(journal, &earlier->points[i]) < 0)
            return -1;
    journal->digest = earlier->digest;
    return 0;
}

int journal_begin(struct journal *journal, const char *path, const struct journal_head *head,
                  const struct journal_content *earlier, bool sync, struct error *error)
{
    *journal = (struct journal){.fd = -1, .sync = sync, .path = strdup(path)};
    ranges_init(&journal->done);
    int result;
    if (journal->path == NULL || asprintf(&journal->temporary, "%s.tmp", path) < 0 || copy_head(journal, head) < 0 ||
        copy_earlier(journal, earlier) < 0)
        result = error_set(error, "%.200s: out of memory", path);
    else
        result = replace(journal, error);
    if (result < 0)
        journal_close(journal, false);
    return result;
}

/* Truncates the file before a record that may be incomplete, because readers would ignore all records after it. If
 * the truncation fails, closes the journal. Always returns -1. */
static int journal_take_back(struct journal *journal, struct error *error)
{
    journal_fail(journal, "cannot write", error);
    if (ftruncate(journal->fd, (off_t)journal->size) == 0)
        return -1;
    close(journal->fd);
    journal->fd = -1;
    return -1;
}

/* Adds ranges to `done`; journal_append() has reserved the memory. Also forgets the deaths of the iterations in
 * these ranges. If memory runs out, some of the deaths stay. That is harmless, because readers ignore deaths of done
 * iterations. */
static void journal_note(struct journal *journal, const struct range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int result = ranges_add(&journal->done, ranges[i].first, ranges[i].count, NULL);
        assert(result == 0 && "room for the ranges was reserved");
        if (journal->deaths.count > 0)
            result = poison_forget(&journal->deaths, ranges[i].first, ranges[i].count);
        (void)result;
    }
}

static bool has_grown(const struct journal *journal)
{
    uint64_t needed = journal->head_bytes + records_size(journal);
    return journal->size > GROWN_BYTES && journal->size / GROWN_TIMES > needed;
}

static int prepare_record(struct journal *journal, size_t size, struct error *error)
{
    if (journal->fd < 0)
        return error_set(error, "%.200s: an earlier write failed", journal->path != NULL ? journal->path : "journal");
    return journal_make_room(journal, size) < 0 ? error_set(error, "%.200s: out of memory", journal->path) : 0;
}

static int write_record(struct journal *journal, size_t size, uint32_t crc, struct error *error)
{
    if (file_write_at(journal->fd, journal->bytes, size, journal->size) < 0 ||
        (journal->sync && fdatasync(journal->fd) < 0))
        return journal_take_back(journal, error);
    journal->size += size;
    journal->crc = crc;
    return 0;
}

int journal_append(struct journal *journal, const struct range *ranges, size_t count, uint64_t digest,
                   struct error *error)
{
    const size_t size = journal_record_size(count);
    if (count == 0)
        return 0;
    if (prepare_record(journal, size, error) < 0)
        return -1;
    if (ranges_reserve(&journal->done, ranges_length(&journal->done) + count) < 0)
        return error_set(error, "%.200s: out of memory", journal->path);
    assert(size <= journal->capacity && "the record has room");
    if (write_record(journal, size, journal_record_put(ranges, count, digest, journal->crc, journal->bytes), error) < 0)
        return -1;
    journal_note(journal, ranges, count);
    journal->digest += digest;
    if (has_grown(journal))
        /* If rewriting fails, the old journal is still valid. It is only longer than necessary. */
        replace(journal, NULL);
    return 0;
}

static void thin_growths(struct journal *journal)
{
    for (unsigned i = 0; i < JOURNAL_GROWTHS / 2; i++)
        journal->growths[i] = journal->growths[2 * i + 1];
    journal->growth_count = JOURNAL_GROWTHS / 2;
}

int journal_append_growths(struct journal *journal, const struct journal_growth *growths, size_t count,
                           struct error *error)
{
    const size_t size = count * journal_record_size(1);
    uint32_t crc = journal->crc;
    if (count == 0)
        return 0;
    if (prepare_record(journal, size, error) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        crc = journal_growth_put(journal->loop.first, &growths[i], crc, journal->bytes + i * journal_record_size(1));
    if (write_record(journal, size, crc, error) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        assert(growths[i].count > journal->loop.count && "a loop that grows becomes longer");
        if (journal->growth_count == JOURNAL_GROWTHS)
            thin_growths(journal);
        journal->growths[journal->growth_count++] = growths[i];
        journal->loop.count = growths[i].count;
    }
    return 0;
}

int journal_append_deaths(struct journal *journal, const struct poison *deaths, struct error *error)
{
    const size_t size = journal_record_size(1);
    assert(deaths->deaths + deaths->failures > 0 && "somebody has died");
    if (prepare_record(journal, size, error) < 0)
        return -1;
    if (poison_forget(&journal->deaths, deaths->first, deaths->count) < 0 || poison_add(&journal->deaths, deaths) < 0)
        return error_set(error, "%.200s: out of memory", journal->path);
    return write_record(journal, size, journal_deaths_put(deaths, journal->crc, journal->bytes), error);
}

int journal_append_point(struct journal *journal, const struct journal_point *point, struct error *error)
{
    const size_t size = journal_point_size(point->bytes);
    drop_old_points(journal);
    if (!wants_point(journal, point))
        return 0;
    if (prepare_record(journal, size, error) < 0)
        return -1;
    if (keep_point(journal, point) < 0)
        return error_set(error, "%.200s: out of memory", journal->path);
    if (write_record(journal, size, journal_point_put(point, journal->crc, journal->bytes), error) < 0) {
        drop_point(journal, journal->point_count - 1);
        return -1;
    }
    if (has_grown(journal))
        replace(journal, NULL);
    return 0;
}

int journal_end(struct journal *journal, uint64_t bytes, struct error *error)
{
    const size_t size = journal_record_size(0);
    assert(journal_is_complete(journal) && "what is over is done");
    while (journal->point_count > 0)
        drop_point(journal, 0);
    if (prepare_record(journal, size, error) < 0 || replace(journal, error) < 0)
        return -1;
    return write_record(journal, size, journal_end_put(bytes, journal->crc, journal->bytes), error);
}

bool journal_is_complete(const struct journal *journal)
{
    return ranges_total(&journal->done) == journal->loop.count;
}

void journal_close(struct journal *journal, bool remove)
{
    if (remove && journal->path != NULL)
        unlink(journal->path);
    if (journal->fd >= 0)
        close(journal->fd);
    ranges_fini(&journal->done);
    poison_fini(&journal->deaths);
    while (journal->point_count > 0)
        drop_point(journal, 0);
    free(journal->path);
    free(journal->temporary);
    free(journal->head);
    free(journal->bytes);
    *journal = (struct journal){.fd = -1};
}
