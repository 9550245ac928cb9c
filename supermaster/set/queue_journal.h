/* SPDX-License-Identifier: MIT */
/* The file of the queue's journal. Submissions, beginnings and ends of jobs are noted in memory. A commit writes all
 * notes together. queue_format.h describes the contents.
 *
 * The file is created under a temporary name and then renamed. Later commits append to it. It is rewritten in the same
 * way, with the present jobs, after it has doubled in size and has more than QUEUE_JOURNAL_LEAST bytes. It is also
 * rewritten after a failed write, so nothing is lost. The process that writes the file holds a lock on it.
 *
 * A damaged file is kept as NAME.damaged-1, NAME.damaged-2 and so on. Then the file is rewritten with the intact
 * jobs. */
#pragma once

#include "common/util/error.h"
#include "supermaster/queue.h"

#include <stdbool.h>
#include <stdint.h>

#define QUEUE_JOURNAL_LEAST (1u << 20)

#define QUEUE_JOURNAL_DAMAGED ".damaged-"

struct queue_journal;

enum queue_earlier {
    QUEUE_REFUSED,
    QUEUE_TAKEN_OVER, /* the queue gets all jobs of the file; jobs that were running wait */
    QUEUE_FORGOTTEN,
    QUEUE_OF_LOST_SET, /* like QUEUE_TAKEN_OVER, but each job that was running also counts the loss of the set */
};

/* Opens the file for an empty queue, which is borrowed. Fails if another set is writing the file, or if the file is not
 * the journal of a queue. If `earlier` is QUEUE_REFUSED, also fails if the file is damaged, or has jobs that are not
 * over. */
struct queue_journal *queue_journal_open(const char *path, enum queue_earlier earlier, struct queue *queue,
                                         int64_t now_s, struct error *error);
void queue_journal_close(struct queue_journal *journal);

const char *queue_journal_warning(const struct queue_journal *journal);

void queue_journal_set_over(struct queue_journal *journal);

/* These functions note a change of a job. If the change also cancels other jobs, the cancelled jobs need no notes of
 * their own. */
void queue_journal_items(struct queue_journal *journal, const struct queue_job *job);
void queue_journal_submitted(struct queue_journal *journal, const struct queue_job *job);
void queue_journal_begun(struct queue_journal *journal, const struct queue_job *job);
void queue_journal_over(struct queue_journal *journal, const struct queue_job *job);
void queue_journal_cancelled(struct queue_journal *journal, const struct queue_job *job);

bool queue_journal_is_due(const struct queue_journal *journal);

/* Writes all notes to the file; `sync`: waits until they are on disk. If it fails, the next call tries again. */
int queue_journal_commit(struct queue_journal *journal, bool sync, struct error *error);
