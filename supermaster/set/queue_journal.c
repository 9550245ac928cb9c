/* SPDX-License-Identifier: MIT */
/* The file of the queue's journal: see queue_journal.h. Invariant: unless `is_stale` is set, the queue is described by
 * the first `size` bytes of the file together with the notes that are not written yet. */
#include "supermaster/set/queue_journal.h"

#include "common/os/files.h"
#include "supermaster/set/queue_format.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct queue_journal {
    struct queue *queue;
    char *path, *temporary; /* owned */
    int fd;
    uint64_t size, least; /* size of the file now, and after it was last rewritten */
    struct queue_notes notes;
    struct error warning;
    bool is_unsynced;
    bool is_stale;
};

static int fail(const struct queue_journal *journal, const char *what, struct error *error)
{
    return error_set(error, "%.200s: %s: %s", journal->path, what, strerror(errno));
}

void queue_journal_submitted(struct queue_journal *journal, const struct queue_job *job)
{
    queue_note_submitted(&journal->notes, job);
}

void queue_journal_items(struct queue_journal *journal, const struct queue_job *job)
{
    /* an attached job is not continued by a later set, so its items need not be recorded */
    if (!job->submission.is_attached)
        queue_note_items(&journal->notes, job);
}

void queue_journal_begun(struct queue_journal *journal, const struct queue_job *job)
{
    queue_note_begun(&journal->notes, job);
}

void queue_journal_over(struct queue_journal *journal, const struct queue_job *job)
{
    queue_note_over(&journal->notes, job);
}

void queue_journal_cancelled(struct queue_journal *journal, const struct queue_job *job)
{
    queue_note_cancelled(&journal->notes, job);
}

void queue_journal_set_over(struct queue_journal *journal)
{
    queue_note_set_over(&journal->notes);
}

static int write_anew(struct queue_journal *journal, int fd)
{
    queue_note_all(&journal->notes, journal->queue);
    if (journal->notes.failed) {
        errno = ENOMEM;
        return -1;
    }
    return file_write_at(fd, journal->notes.bytes, journal->notes.size, 0) < 0 || fdatasync(fd) < 0 ? -1 : 0;
}

/* Writes the journal to a file with the temporary name and then renames that file. If writing fails, the old file stays
 * unchanged. */
static int replace(struct queue_journal *journal, struct error *error)
{
    unlink(journal->temporary);
    const int fd = open(journal->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    journal->is_stale = true;
    if (fd < 0)
        return fail(journal, "cannot create", error);
    file_lock(fd); /* the lock is free, because no other process knows the new file yet */
    if (write_anew(journal, fd) < 0 || rename(journal->temporary, journal->path) < 0) {
        fail(journal, "cannot write", error);
        unlink(journal->temporary);
        close(fd);
        journal->is_stale = true;
        return -1;
    }
    if (journal->fd >= 0)
        close(journal->fd);
    journal->fd = fd;
    journal->size = journal->least = journal->notes.size;
    queue_notes_fini(&journal->notes);
    journal->is_stale = false;
    if (file_sync_name(journal->path) < 0) {
        journal->is_stale = true;
        return fail(journal, "cannot write", error);
    }
    journal->is_unsynced = false;
    return 0;
}

static bool has_grown(const struct queue_journal *journal)
{
    return journal->size > QUEUE_JOURNAL_LEAST && journal->size > 2 * journal->least;
}

bool queue_journal_is_due(const struct queue_journal *journal)
{
    return journal->notes.size > 0 || journal->notes.failed || journal->is_stale;
}

int queue_journal_commit(struct queue_journal *journal, bool sync, struct error *error)
{
    struct queue_notes *notes = &journal->notes;
    if (journal->is_stale || notes->failed || has_grown(journal))
        return replace(journal, error);
    if (notes->size > 0) {
        if (file_write_at(journal->fd, notes->bytes, notes->size, journal->size) < 0) {
            journal->is_stale = true;
            return fail(journal, "cannot write", error);
        }
        journal->size += notes->size;
        notes->size = 0;
        journal->is_unsynced = true;
    }
    if (sync && journal->is_unsynced && fdatasync(journal->fd) < 0) {
        journal->is_stale = true;
        return fail(journal, "cannot write", error);
    }
    journal->is_unsynced &= !sync;
    return 0;
}

static int read_file(struct queue_journal *journal, struct queue_damage *damage, struct error *error)
{
    struct stat status;
    journal->fd = file_open_locked(journal->path, O_RDWR | O_NOFOLLOW);
    if (journal->fd < 0 && errno == ENOENT)
        return 0;
    if (journal->fd < 0 && errno == EINVAL)
        return error_set(error, "%.200s: is not a regular file", journal->path);
    if (journal->fd < 0 && errno == EWOULDBLOCK)
        return error_set(error, "%.200s: another set is writing it", journal->path);
    if (journal->fd < 0)
        return fail(journal, "cannot open", error);
    if (fstat(journal->fd, &status) < 0)
        return fail(journal, "cannot read", error);
    const size_t size = (size_t)status.st_size;
    unsigned char *bytes = malloc(size + 1);
    int result = bytes != NULL ? file_read_at(journal->fd, bytes, size, 0) : -1;
    struct error reason;
    if (result != 0)
        fail(journal, "cannot read", error);
    else if (queue_replay(journal->queue, bytes, size, damage, &reason) < 0)
        result = error_set(error, "%.200s: %.200s", journal->path, reason.text);
    free(bytes);
    return result != 0 ? -1 : 0;
}

static int keep_aside(const struct queue_journal *journal, char aside[PATH_MAX], struct error *error)
{
    int result = -1;
    errno = EEXIST;
    for (unsigned i = 1; result < 0 && errno == EEXIST; i++) {
        if (snprintf(aside, PATH_MAX, "%s" QUEUE_JOURNAL_DAMAGED "%u", journal->path, i) >= PATH_MAX)
            return error_set(error, "%.200s: is damaged, and its path is too long to keep it beside", journal->path);
        result = link(journal->path, aside);
    }
    if (result < 0) /* the file system may not support links */
        result = rename(journal->path, aside);
    return result < 0 ? fail(journal, "is damaged, and cannot be kept aside", error) : 0;
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static int tell_damage(struct queue_journal *journal, const struct queue_damage *damage, struct error *error)
{
    char aside[PATH_MAX], cancelled[100] = "";
    size_t jobs = 0;
    if (keep_aside(journal, aside, error) < 0)
        return -1;
    for (const struct queue_job *job = journal->queue->first; job != NULL; job = job->next)
        jobs++;
    if (damage->cancelled > 0)
        snprintf(cancelled, sizeof cancelled, ", of which %" PRIu64 " that %s after a lost one %s cancelled",
                 damage->cancelled, damage->cancelled == 1 ? "is" : "are", damage->cancelled == 1 ? "is" : "are");
    error_set(&journal->warning,
              "%.200s: damaged at byte %" PRIu64 ": %" PRIu64 " record%s or more %s lost; %zu job%s %s known%s; the "
              "damaged file is kept as %.200s",
              journal->path, damage->at, damage->records, plural(damage->records), damage->records == 1 ? "is" : "are",
              jobs, plural(jobs), jobs == 1 ? "is" : "are", cancelled, aside);
    return 0;
}

static int refuse_earlier(const struct queue_journal *journal, size_t jobs, struct error *error)
{
    if (jobs > 0)
        return error_set(error, "%.200s: has %zu job%s not over; --resume goes on with %s, --forget drops %s",
                         journal->path, jobs, jobs > 1 ? "s that are" : " that is", jobs > 1 ? "them" : "it",
                         jobs > 1 ? "them" : "it");
    return error_set(error,
                     "%.200s: is damaged, and may have had jobs that are not over; --resume goes on with those that "
                     "are whole, --forget drops them, and both keep the damaged file",
                     journal->path);
}

static int take_earlier(struct queue_journal *journal, enum queue_earlier earlier, int64_t now_s, struct error *error)
{
    struct queue *queue = journal->queue;
    struct queue_damage damage = {0};
    if (read_file(journal, &damage, error) < 0)
        return -1;
    const size_t jobs = queue->waiting + queue->running;
    if (earlier == QUEUE_REFUSED && (jobs > 0 || queue_is_damaged(&damage)))
        return refuse_earlier(journal, jobs, error);
    if (queue_is_damaged(&damage) && tell_damage(journal, &damage, error) < 0)
        return -1;
    if (damage.is_unended && !queue_is_damaged(&damage))
        error_set(&journal->warning,
                  "%.200s: the set that wrote it was killed, or the file was cut: what it has is known", journal->path);
    if (earlier == QUEUE_TAKEN_OVER || earlier == QUEUE_OF_LOST_SET) {
        queue_restart(queue, earlier == QUEUE_OF_LOST_SET, now_s);
        return 0;
    }
    const unsigned at_once = queue->at_once;
    const uint32_t newest = queue->newest;
    queue_fini(queue);
    queue_init(queue, at_once);
    /* jobs may have left files that are named by their numbers, so these numbers are not used again */
    queue->newest = newest;
    return 0;
}

struct queue_journal *queue_journal_open(const char *path, enum queue_earlier earlier, struct queue *queue,
                                         int64_t now_s, struct error *error)
{
    struct queue_journal *journal = calloc(1, sizeof *journal);
    if (journal == NULL) {
        error_set(error, "%.200s: out of memory", path);
        return NULL;
    }
    *journal = (struct queue_journal){.queue = queue, .fd = -1, .path = strdup(path)};
    int result = 0;
    if (journal->path == NULL || asprintf(&journal->temporary, "%s.tmp", path) < 0)
        result = error_set(error, "%.200s: out of memory", path);
    if (result == 0)
        result = take_earlier(journal, earlier, now_s, error);
    if (result == 0)
        result = replace(journal, error);
    if (result == 0)
        return journal;
    queue_journal_close(journal);
    return NULL;
}

const char *queue_journal_warning(const struct queue_journal *journal)
{
    return journal->warning.text;
}

void queue_journal_close(struct queue_journal *journal)
{
    if (journal == NULL)
        return;
    if (journal->fd >= 0)
        close(journal->fd);
    queue_notes_fini(&journal->notes);
    free(journal->path);
    free(journal->temporary);
    free(journal);
}
