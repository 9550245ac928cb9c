/* SPDX-License-Identifier: MIT */
/* The file of the queue's journal: what is submitted, begins and ends is told to it, and is on disk once it is
 * committed: one write for all. See queue_format.h for what is in it.
 *
 * It is begun under a temporary name and takes its place by renaming, and is appended to after that. Where it has grown
 * to more than twice what it was, above QUEUE_JOURNAL_LEAST, it is written anew in the same way, with the jobs that the
 * queue has; so it is where a write has failed, which loses nothing thereby. A writer holds a lock on it.
 *
 * A file that is damaged is kept beside it, as NAME.damaged-1 and so on, before it is written anew with the jobs that
 * are whole. */
#pragma once

#include "common/util/error.h"
#include "supermaster/queue.h"

#include <stdbool.h>
#include <stdint.h>

/* Bytes up to which it is never written anew. */
#define QUEUE_JOURNAL_LEAST (1u << 20)

/* What stands between the name of the file and a number in that of a damaged one. */
#define QUEUE_JOURNAL_DAMAGED ".damaged-"

struct queue_journal;

/* What becomes of jobs of an earlier set that are not over. */
enum queue_earlier {
    QUEUE_REFUSED,    /* the file is not opened */
    QUEUE_TAKEN_OVER, /* the queue gets all jobs of the file, of which those that ran wait to go on */
    QUEUE_FORGOTTEN,
};

/* Opens the file, for a queue that has no jobs; the queue is borrowed. NULL with one line: also for a file that another
 * set writes, or that is refused because it has jobs that are not over, or is damaged. */
struct queue_journal *queue_journal_open(const char *path, enum queue_earlier earlier, struct queue *queue,
                                         int64_t now_s, struct error *error);
void queue_journal_close(struct queue_journal *journal);

/* One line that says what is lost, or may be, of the file that was there; "": nothing is. */
const char *queue_journal_warning(const struct queue_journal *journal);

/* Notes that the set has ended by itself: what follows is not read. */
void queue_journal_set_over(struct queue_journal *journal);

/* Note what the queue has just been told of a job: that it is there, has other items, has begun, is over, or is to be
 * cancelled. Jobs that are cancelled thereby are noted with it. */
void queue_journal_items(struct queue_journal *journal, const struct queue_job *job);
void queue_journal_submitted(struct queue_journal *journal, const struct queue_job *job);
void queue_journal_begun(struct queue_journal *journal, const struct queue_job *job);
void queue_journal_over(struct queue_journal *journal, const struct queue_job *job);
void queue_journal_cancelled(struct queue_journal *journal, const struct queue_job *job);

/* True where something is noted that is not in the file. */
bool queue_journal_is_due(const struct queue_journal *journal);

/* Has all that was noted in the file, and with `sync` on disk. -1 with one line: it will be tried again with the next
 * call. */
int queue_journal_commit(struct queue_journal *journal, bool sync, struct error *error);
