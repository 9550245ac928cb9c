/* SPDX-License-Identifier: MIT */
/* The journal's file: see journal.h. Invariant: the first `size` bytes of the file are a head and whole records, and
 * say what `done` and `digest` say. */
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

/* Factor above its least length at which a journal is written anew, if it is longer than a few hundred groups. */
#define GROWN_TIMES 4
#define GROWN_BYTES (256u << 10)

/* --- reading --- */

/* Loads the file, which is opened to be written where that may be, as a network's locks ask for it. 0 with the whole
 * file in memory, or a journal_state. */
static int journal_load(struct journal_file *file, const char *path, struct error *error)
{
    struct stat status;
    file->fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (file->fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return JOURNAL_ABSENT;
    if (file->fd < 0)
        file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file->fd < 0 || fstat(file->fd, &status) < 0)
        return error_set(error, "%.200s: %s", path, strerror(errno)), JOURNAL_FAILED;
    if (!S_ISREG(status.st_mode))
        return error_set(error, "%.200s: is not a journal, nor a regular file", path), JOURNAL_UNUSABLE;
    if (!file_lock(file->fd))
        return error_set(error, "%.200s: another run is writing it", path), JOURNAL_IN_USE;
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

/* Returns the line at `*text`, which moves on to the next one; "" behind the last. */
static const char *next_line(const char **text, const char *end)
{
    const char *line = *text;
    if (line >= end)
        return "";
    *text += strlen(line) + 1;
    return line;
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

/* --- writing --- */

static int journal_fail(const struct journal *journal, const char *what, struct error *error)
{
    return error_set(error, "%.200s: %s: %s", journal->path, what, strerror(errno));
}

static int journal_make_room(struct journal *journal, size_t ranges)
{
    size_t size = journal_record_size(ranges);
    if (size <= journal->capacity)
        return 0;
    unsigned char *bytes = realloc(journal->bytes, size);
    if (bytes == NULL)
        return -1;
    journal->bytes = bytes;
    journal->capacity = size;
    return 0;
}

/* Writes the head, and one record of all that is done. */
static int write_whole(struct journal *journal, int fd, uint64_t *size, uint32_t *crc)
{
    size_t ranges = ranges_length(&journal->done), record = ranges > 0 ? journal_record_size(ranges) : 0;
    *size = journal->head_bytes + record;
    *crc = journal->head_crc;
    if (journal_make_room(journal, ranges) < 0)
        return -1;
    if (ranges > 0)
        *crc = journal_record_put(ranges_at(&journal->done, 0), ranges, journal->digest, *crc, journal->bytes);
    return file_write_at(fd, journal->head, journal->head_bytes, 0) < 0 ||
                   file_write_at(fd, journal->bytes, record, journal->head_bytes) < 0 ||
                   (journal->sync && fdatasync(fd) < 0)
               ? -1
               : 0;
}

/* Writes the journal under the temporary name and gives it its own. On failure the old file, if any, is as it was. */
static int replace(struct journal *journal, struct error *error)
{
    uint64_t size;
    uint32_t crc;
    unlink(journal->temporary);
    int fd = open(journal->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return journal_fail(journal, "cannot create", error);
    file_lock(fd); /* the new file is known to nobody else yet */
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
    journal->loop = head->loop;
    journal->head_bytes = journal_head_size(head);
    journal->head = malloc(journal->head_bytes);
    if (journal->head != NULL)
        journal->head_crc = journal_head_put(head, journal->head);
    return journal->head != NULL ? 0 : -1;
}

static int copy_done(struct journal *journal, const struct ranges *done)
{
    if (done == NULL)
        return 0;
    for (size_t i = 0; i < ranges_length(done); i++)
        if (ranges_add(&journal->done, ranges_at(done, i)->first, ranges_at(done, i)->count, NULL) < 0)
            return -1;
    return 0;
}

int journal_begin(struct journal *journal, const char *path, const struct journal_head *head, const struct ranges *done,
                  uint64_t digest, bool sync, struct error *error)
{
    *journal = (struct journal){.fd = -1, .sync = sync, .digest = digest, .path = strdup(path)};
    ranges_init(&journal->done);
    int result;
    if (journal->path == NULL || asprintf(&journal->temporary, "%s.tmp", path) < 0 || copy_head(journal, head) < 0 ||
        copy_done(journal, done) < 0)
        result = error_set(error, "%.200s: out of memory", path);
    else
        result = replace(journal, error);
    if (result < 0)
        journal_close(journal, false);
    return result;
}

/* Takes back a record that is not whole, or not known to be on the disk: nothing must follow it. */
static int journal_take_back(struct journal *journal, struct error *error)
{
    journal_fail(journal, "cannot write", error);
    if (ftruncate(journal->fd, (off_t)journal->size) == 0)
        return -1;
    close(journal->fd);
    journal->fd = -1;
    return -1;
}

/* Notes the ranges, for which journal_append() has made room. */
static void journal_note(struct journal *journal, const struct range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int result = ranges_add(&journal->done, ranges[i].first, ranges[i].count, NULL);
        assert(result == 0 && "room for the ranges was reserved");
        (void)result;
    }
}

static bool has_grown(const struct journal *journal)
{
    uint64_t needed = journal->head_bytes + journal_record_size(ranges_length(&journal->done));
    return journal->size > GROWN_BYTES && journal->size / GROWN_TIMES > needed;
}

int journal_append(struct journal *journal, const struct range *ranges, size_t count, uint64_t digest,
                   struct error *error)
{
    if (count == 0)
        return 0;
    if (journal->fd < 0)
        return error_set(error, "%.200s: an earlier write failed", journal->path != NULL ? journal->path : "journal");
    if (journal_make_room(journal, count) < 0 ||
        ranges_reserve(&journal->done, ranges_length(&journal->done) + count) < 0)
        return error_set(error, "%.200s: out of memory", journal->path);
    assert(journal_record_size(count) <= journal->capacity && "the record has room");
    uint32_t crc = journal_record_put(ranges, count, digest, journal->crc, journal->bytes);
    if (file_write_at(journal->fd, journal->bytes, journal_record_size(count), journal->size) < 0 ||
        (journal->sync && fdatasync(journal->fd) < 0))
        return journal_take_back(journal, error);
    journal_note(journal, ranges, count);
    journal->size += journal_record_size(count);
    journal->digest += digest;
    journal->crc = crc;
    if (has_grown(journal))
        replace(journal, NULL); /* the long journal stays where a second one finds no room */
    return 0;
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
    free(journal->path);
    free(journal->temporary);
    free(journal->head);
    free(journal->bytes);
    *journal = (struct journal){.fd = -1};
}
