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

#define QUEUE_JOURNAL_LEAST (1u << 20)

#define QUEUE_JOURNAL_DAMAGED ".damaged-"

struct queue_journal;

enum queue_earlier {
    QUEUE_REFUSED,
    QUEUE_TAKEN_OVER, /* the queue gets all jobs of the file; jobs that were running wait */
    QUEUE_FORGOTTEN,
    QUEUE_OF_LOST_SET, /* like QUEUE_TAKEN_OVER, and each job that was running counts the loss of the set */
};

/* Opens the file for an empty queue, which is borrowed. Fails if another set writes the file, or if it is not the
 * journal of a queue. With QUEUE_REFUSED also fails if the file is damaged or has jobs that are not over. */
struct queue_journal *queue_journal_open(const char *path, enum queue_earlier earlier, struct queue *queue,
                                         int64_t now_s, struct error *error);
void queue_journal_close(struct queue_journal *journal);

const char *queue_journal_warning(const struct queue_journal *journal);

void queue_journal_set_over(struct queue_journal *journal);

/* Record what the queue was told about a job. Jobs that are cancelled as a consequence need no record of their own. */
void queue_journal_items(struct queue_journal *journal, const struct queue_job *job);
void queue_journal_submitted(struct queue_journal *journal, const struct queue_job *job);
void queue_journal_begun(struct queue_journal *journal, const struct queue_job *job);
void queue_journal_over(struct queue_journal *journal, const struct queue_job *job);
void queue_journal_cancelled(struct queue_journal *journal, const struct queue_job *job);

bool queue_journal_is_due(const struct queue_journal *journal);

/* `sync`: not only to the file but to the disk. After a failure the next call tries again. */
int queue_journal_commit(struct queue_journal *journal, bool sync, struct error *error);
