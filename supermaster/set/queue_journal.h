/* SPDX-License-Identifier: MIT */
/* The file of the queue's journal: submissions, beginnings and ends are noted, and written together by a commit. See
 * queue_format.h for its contents.
 *
 * The file is created under a temporary name and renamed; later commits append to it. When it has doubled in size,
 * above QUEUE_JOURNAL_LEAST, it is rewritten in the same way with the present jobs; also after a failed write, which
 * loses nothing. The writer holds a lock on it.
 *
 * A damaged file is kept as NAME.damaged-1 and so on before it is rewritten with the intact jobs. */
#pragma once

#include "common/util/error.h"
#include "supermaster/queue.h"

#include <stdbool.h>
#include <stdint.h>

/* The file is not rewritten up to this size. */
#define QUEUE_JOURNAL_LEAST (1u << 20)

/* A damaged file's name is the journal's name, this, and a number. */
#define QUEUE_JOURNAL_DAMAGED ".damaged-"

struct queue_journal;

/* What happens to jobs of an earlier set that are not over. */
enum queue_earlier {
    QUEUE_REFUSED,    /* opening the file fails */
    QUEUE_TAKEN_OVER, /* the queue gets all jobs of the file; jobs that were running wait */
    QUEUE_FORGOTTEN,
    QUEUE_OF_LOST_SET, /* like QUEUE_TAKEN_OVER, and each job that was running counts the loss of the set */
};

/* Opens the file for an empty queue, which is borrowed. Fails also if another set writes the file, if the file is
 * damaged, or if it has unfinished jobs and `earlier` is QUEUE_REFUSED. */
struct queue_journal *queue_journal_open(const char *path, enum queue_earlier earlier, struct queue *queue,
                                         int64_t now_s, struct error *error);
void queue_journal_close(struct queue_journal *journal);

/* Returns a line about damage of an earlier file and the jobs that it may have lost, or "". */
const char *queue_journal_warning(const struct queue_journal *journal);

void queue_journal_set_over(struct queue_journal *journal);

/* These record what the queue was told about a job: submitted, given items, begun, over, or to be cancelled. Jobs
 * cancelled as a consequence are included. */
void queue_journal_items(struct queue_journal *journal, const struct queue_job *job);
void queue_journal_submitted(struct queue_journal *journal, const struct queue_job *job);
void queue_journal_begun(struct queue_journal *journal, const struct queue_job *job);
void queue_journal_over(struct queue_journal *journal, const struct queue_job *job);
void queue_journal_cancelled(struct queue_journal *journal, const struct queue_job *job);

bool queue_journal_is_due(const struct queue_journal *journal);

/* Writes all notes to the file; `sync`: and to the disk. After a failure the next call tries again. */
int queue_journal_commit(struct queue_journal *journal, bool sync, struct error *error);
