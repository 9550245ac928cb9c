/* SPDX-License-Identifier: MIT */
/* The file of the queue's journal: see queue_journal.h. Invariant: the first `size` bytes of the file and the noted
 * bytes behind them say what the queue has, unless `is_stale`: then only the queue itself does. */
#include "supermaster/set/queue_journal.h"

#include "common/control/submission_json.h"
#include "common/os/files.h"
#include "supermaster/set/queue_format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct queue_journal {
    struct queue *queue;    /* borrowed */
    char *path, *temporary; /* owned */
    int fd;
    uint64_t size, least; /* bytes of the file; and those that it had when it was written anew */
    uint32_t crc;         /* for the next record */
    unsigned char *noted; /* [noted_bytes] records that are not in the file; owned */
    size_t noted_bytes, noted_room;
    bool is_unsynced; /* something in the file may not be on disk */
    bool is_stale;    /* memory was out for a record, or a write has failed: it is to be written anew */
};

static int fail(const struct queue_journal *journal, const char *what, struct error *error)
{
    return error_set(error, "%.200s: %s: %s", journal->path, what, strerror(errno));
}

/* --- notes --- */

static int make_room(struct queue_journal *journal, size_t size)
{
    size_t room = journal->noted_room > 0 ? journal->noted_room : 4096;
    while (room < journal->noted_bytes + size)
        room *= 2;
    unsigned char *bytes = room > journal->noted_room ? realloc(journal->noted, room) : journal->noted;
    if (bytes == NULL)
        return -1;
    journal->noted = bytes;
    journal->noted_room = room;
    return 0;
}

static void note(struct queue_journal *journal, const struct queue_record *record)
{
    const size_t size = queue_record_size(record->text_bytes);
    if (journal->is_stale)
        return;
    if (make_room(journal, size) < 0) {
        journal->is_stale = true;
        return;
    }
    journal->crc = queue_record_put(record, journal->crc, journal->noted + journal->noted_bytes);
    journal->noted_bytes += size;
}

void queue_journal_submitted(struct queue_journal *journal, const struct queue_job *job)
{
    json_t *object = submission_json(&job->submission);
    char *text = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;
    const size_t bytes = text != NULL ? strlen(text) : 0;
    json_decref(object);
    if (text != NULL && bytes <= QUEUE_TEXT_MAX)
        note(journal, &(struct queue_record){.kind = QUEUE_SUBMITTED,
                                             .job = job->id,
                                             .time_s = job->submitted_s,
                                             .text = text,
                                             .text_bytes = (uint32_t)bytes});
    else
        journal->is_stale = true;
    free(text);
}

void queue_journal_begun(struct queue_journal *journal, const struct queue_job *job)
{
    note(journal, &(struct queue_record){.kind = QUEUE_BEGUN, .job = job->id, .time_s = job->began_s});
}

void queue_journal_over(struct queue_journal *journal, const struct queue_job *job)
{
    note(journal, &(struct queue_record){.kind = QUEUE_OVER,
                                         .job = job->id,
                                         .time_s = job->ended_s,
                                         .status = (uint32_t)job->status & 0xff,
                                         .cancelled_by = job->cancelled_by});
}

void queue_journal_cancelled(struct queue_journal *journal, const struct queue_job *job)
{
    note(journal, &(struct queue_record){.kind = QUEUE_ASKED_TO_END, .job = job->id, .time_s = job->ended_s});
}

/* All that is to be known of a job. */
static void note_whole(struct queue_journal *journal, const struct queue_job *job)
{
    queue_journal_submitted(journal, job);
    if (job->state > QUEUE_RUNNING) {
        queue_journal_over(journal, job);
        return;
    }
    if (job->state == QUEUE_RUNNING || job->has_run)
        queue_journal_begun(journal, job);
    if (job->is_cancelled)
        queue_journal_cancelled(journal, job);
}

/* --- the file --- */

static void drop_notes(struct queue_journal *journal)
{
    free(journal->noted);
    journal->noted = NULL;
    journal->noted_bytes = journal->noted_room = 0;
}

/* Makes the temporary file, with the head and the jobs that the queue has. -1 with errno. */
static int write_anew(struct queue_journal *journal, int fd)
{
    unsigned char head[QUEUE_HEAD_BYTES];
    drop_notes(journal);
    journal->is_stale = false;
    journal->crc = queue_head_put(journal->queue->newest, head);
    for (const struct queue_job *job = journal->queue->first; job != NULL; job = job->next)
        note_whole(journal, job);
    if (journal->is_stale) {
        errno = ENOMEM;
        return -1;
    }
    journal->size = sizeof head + journal->noted_bytes;
    return file_write_at(fd, head, sizeof head, 0) < 0 ||
                   file_write_at(fd, journal->noted, journal->noted_bytes, sizeof head) < 0 || fdatasync(fd) < 0
               ? -1
               : 0;
}

/* Writes the journal under the temporary name and gives it its own. On failure the old file, if any, is as it was. */
static int replace(struct queue_journal *journal, struct error *error)
{
    unlink(journal->temporary);
    const int fd = open(journal->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    journal->is_stale = true;
    if (fd < 0)
        return fail(journal, "cannot create", error);
    file_lock(fd); /* the new file is known to nobody else yet */
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
    journal->least = journal->size;
    drop_notes(journal);
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
    return journal->noted_bytes > 0 || journal->is_stale;
}

int queue_journal_commit(struct queue_journal *journal, bool sync, struct error *error)
{
    if (journal->is_stale || has_grown(journal))
        return replace(journal, error);
    if (journal->noted_bytes > 0) {
        if (file_write_at(journal->fd, journal->noted, journal->noted_bytes, journal->size) < 0) {
            journal->is_stale = true;
            return fail(journal, "cannot write", error);
        }
        journal->size += journal->noted_bytes;
        journal->noted_bytes = 0;
        journal->is_unsynced = true;
    }
    if (sync && journal->is_unsynced && fdatasync(journal->fd) < 0) {
        journal->is_stale = true;
        return fail(journal, "cannot write", error);
    }
    journal->is_unsynced &= !sync;
    return 0;
}

/* --- beginning and end --- */

/* Reads the file, if there is one, into the queue. -1 with one line. */
static int read_file(struct queue_journal *journal, struct error *error)
{
    struct stat status;
    journal->fd = open(journal->path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (journal->fd < 0)
        return errno == ENOENT ? 0 : fail(journal, "cannot open", error);
    if (fstat(journal->fd, &status) < 0)
        return fail(journal, "cannot read", error);
    if (!S_ISREG(status.st_mode))
        return error_set(error, "%.200s: is not a regular file", journal->path);
    if (!file_lock(journal->fd))
        return error_set(error, "%.200s: another set is writing it", journal->path);
    const size_t size = (size_t)status.st_size;
    unsigned char *bytes = malloc(size + 1);
    int result = bytes != NULL ? file_read_at(journal->fd, bytes, size, 0) : -1;
    struct error reason;
    if (result != 0)
        fail(journal, "cannot read", error);
    else if (queue_replay(journal->queue, bytes, size, &journal->crc, &reason) < 0)
        result = error_set(error, "%.200s: %.200s", journal->path, reason.text);
    free(bytes);
    return result != 0 ? -1 : 0;
}

/* Reads what an earlier set has left, and makes it the queue's, or refuses to forget it. */
static int take_earlier(struct queue_journal *journal, bool resume, int64_t now_s, struct error *error)
{
    struct queue *queue = journal->queue;
    if (read_file(journal, error) < 0)
        return -1;
    const size_t jobs = queue->waiting + queue->running;
    if (resume)
        queue_restart(queue, now_s);
    else if (jobs > 0)
        return error_set(error, "%.200s: has %zu job%s not over; --resume goes on with %s", journal->path, jobs,
                         jobs > 1 ? "s that are" : " that is", jobs > 1 ? "them" : "it");
    else {
        const unsigned at_once = queue->at_once;
        queue_fini(queue);
        queue_init(queue, at_once);
    }
    return 0;
}

struct queue_journal *queue_journal_open(const char *path, bool resume, struct queue *queue, int64_t now_s,
                                         struct error *error)
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
        result = take_earlier(journal, resume, now_s, error);
    if (result == 0)
        result = replace(journal, error);
    if (result == 0)
        return journal;
    queue_journal_close(journal);
    return NULL;
}

void queue_journal_close(struct queue_journal *journal)
{
    if (journal == NULL)
        return;
    if (journal->fd >= 0)
        close(journal->fd);
    drop_notes(journal);
    free(journal->path);
    free(journal->temporary);
    free(journal);
}
