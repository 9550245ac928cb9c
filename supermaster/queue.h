/* SPDX-License-Identifier: MIT */
/* The queue of a set: the jobs that were submitted, and which of them begins next. Pure: times come in, and what is to
 * be kept on disk is written by others (queue_journal.h).
 *
 *     waiting --begun--> running --over--> done | failed | cancelled
 *        |                  |
 *        |                  +--over, where the set has stopped it--> waiting
 *        +--cancelled, or a job that it is after is not done--> cancelled
 *
 * Of the jobs that may begin the one with the highest priority is next, of those the one with the lowest number. A job
 * may begin once all that it is `after` are done; where one of them fails or is cancelled, it is cancelled. A job that
 * is known to run alone begins when no other runs, and none begins before it is over; while it is the next none begins
 * that is behind it, so that it does come to its turn. The latest jobs that are over are remembered, so that memory
 * does not grow with the jobs that a set has had.
 *
 * A job that is open is given items while it waits and runs, until it is said to be complete. Until then it takes no
 * place among those that run at once, as it may have nothing to do, and what it is given may come from one of them. A
 * job that runs alone waits for those that are open, too. */
#pragma once

#include "common/config/submission.h"
#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Jobs that run at once, unless told. */
#define QUEUE_AT_ONCE 8
/* Jobs that are over and are remembered, unless told. */
#define QUEUE_ENDED_MAX 1000
/* Jobs that are not over. */
#define QUEUE_LIVE_MAX 1000000
/* Jobs that are open. */
#define QUEUE_OPEN_MAX 64
/* Items of a job. */
#define QUEUE_ITEMS_MAX UINT64_C(1000000000000)

enum queue_state { QUEUE_WAITING, QUEUE_RUNNING, QUEUE_DONE, QUEUE_FAILED, QUEUE_CANCELLED };

/* What is known of a job in words: the technique that it was computed with, where its results went, why it failed. */
enum queue_text { QUEUE_TECHNIQUE, QUEUE_OUTPUT, QUEUE_REASON, QUEUE_TEXTS };

/* How far a job came. */
struct queue_figures {
    uint64_t done, total, resumed, failed; /* iterations; resumed: those of `done` that an earlier run had done */
    double elapsed_s;
    const char *texts[QUEUE_TEXTS]; /* owned; NULL: not known */
};

/* The items that an open job was given. */
struct queue_items {
    uint64_t count; /* rows of its list, or iterations */
    uint64_t bytes; /* of the list; 0: it has none */
    bool is_complete;
};

struct queue_job {
    uint32_t id; /* 1, 2, .. as they are submitted */
    enum queue_state state;
    bool is_cancelled; /* asked to end while it runs */
    bool has_run;      /* began before, and was interrupted: goes on from its own journal */
    bool is_alone;     /* known to run beside no other; not in the journal, as its words say so each time it begins */
    int status;        /* exit status once it is over, else -1 */
    uint32_t
        cancelled_by; /* the job that it is after, and that is not done: it was cancelled as of that; 0: it was not */
    int64_t submitted_s, began_s, ended_s; /* seconds since 1970; 0: not yet */
    struct queue_figures figures;          /* once it is over; 0 where it has not run */
    struct queue_items items;              /* of an open job */
    struct submission submission;          /* owned; without its environment once it is over */
    struct queue_job *previous, *next;     /* by number */

    /* the queue's alone */
    bool is_in_heap;      /* it has an entry in `ready` */
    size_t awaited;       /* entries of `after` that are not over */
    uint32_t *dependents; /* [dependent_count] jobs that are after it, as often as they say so; owned */
    size_t dependent_count, dependent_room;
    struct queue_job *next_of_bucket;
    struct queue_job *next_ended; /* that was over next */
    struct queue_job *previous_open, *next_open;
};

/* What a set takes and begins. */
enum queue_mode {
    QUEUE_OPEN,
    QUEUE_CLOSED,  /* takes no job any more, and is over with the last one */
    QUEUE_STOPPED, /* begins none either: those that wait are for the next set */
};

/* Jobs that were over since the queue began, or began anew, those that are forgotten included. */
struct queue_totals {
    uint64_t done, failed, cancelled;
};

struct queue_ready;

struct queue {
    enum queue_mode mode;
    unsigned at_once; /* jobs that run at once, at most */
    size_t ended_max; /* jobs that are over and are remembered */
    /* Called with the number of each job that is forgotten, for whoever keeps more of it; NULL: nobody does. */
    void (*on_forget)(void *context, uint32_t id);
    void *context;   /* of it; borrowed */
    uint32_t newest; /* number of the latest job */
    size_t waiting, running, ended;
    struct queue_totals totals;
    size_t open, running_open;      /* jobs that are open, and those of them that run */
    const struct queue_job *alone;  /* the job that runs alone; NULL: none does */
    struct queue_job *first, *last; /* by number; owned */
    struct queue_job *first_ended, *last_ended;
    struct queue_job *first_open; /* of those that are open, in no order */
    struct queue_job **buckets;   /* [bucket_count], a power of 2, by number; owned */
    size_t bucket_count;
    struct queue_ready *ready; /* [ready_count] a heap of jobs that may begin, and of some that could; owned */
    size_t ready_count, ready_room;
};

void queue_init(struct queue *queue, unsigned at_once);
void queue_fini(struct queue *queue);

/* Takes a job, with all that the submission has. It may be over at once, where one of those that it is after is not
 * done. NULL with one line where the set takes none, there are too many, or `after` names a job that is not there: the
 * submission is still the caller's. */
struct queue_job *queue_submit(struct queue *queue, struct submission *submission, int64_t now_s, struct error *error);

/* The job of this number; NULL: there is none, or it is no longer remembered. */
struct queue_job *queue_find(const struct queue *queue, uint32_t id);

/* The job that is to begin now; NULL: none. It stays so until queue_begun(), queue_cancel() or queue_keep_alone(). */
struct queue_job *queue_next(struct queue *queue);

/* The job that is to begin now turns out to run alone: queue_next() says whether it begins now all the same. */
void queue_keep_alone(struct queue_job *job);

void queue_begun(struct queue *queue, struct queue_job *job, int64_t now_s);

/* The job, which was about to run or has lost a rank that it needs, waits to begin again; `has_run` as in queue_job. */
void queue_put_back(struct queue *queue, struct queue_job *job, bool has_run);

/* The job, which runs, has ended with this exit status. Returns whether it is over: one that a stopped set has drained,
 * and nobody has cancelled, waits for the next set. `job` may be forgotten with the next submission or end. */
bool queue_over(struct queue *queue, struct queue_job *job, int status, int64_t now_s);

/* Notes how far a job came that is about to be over. */
void queue_keep_figures(struct queue_job *job, const struct queue_figures *figures);

/* Notes a text of it, which is copied; an empty one, and one for which there is no memory, is not known. */
void queue_keep_text(struct queue_job *job, enum queue_text which, const char *text);

/* Cancels a job that waits; one that runs is noted as cancelled, and the caller ends it. Those that are over stay as
 * they are. */
void queue_cancel(struct queue *queue, struct queue_job *job, int64_t now_s);

/* True for a job that may be given items: it is not over, will not be cancelled, and is not complete. */
bool queue_is_open(const struct queue_job *job);

/* The job, which was submitted as an open one and is not over, has these items now. */
void queue_set_items(struct queue *queue, struct queue_job *job, const struct queue_items *items);

/* True where so many jobs are open that no other open one is taken. */
bool queue_is_full_of_open(const struct queue *queue);

/* Takes no job any more, or begins none either. A set that has stopped is not closed again. */
void queue_close(struct queue *queue);
void queue_stop(struct queue *queue);

/* True where the set is to end: closed and all jobs are over, or stopped and none runs. */
bool queue_is_over(const struct queue *queue);

/* True where there are so many jobs that none is taken. */
bool queue_is_full(const struct queue *queue);

/* True where no job waits or runs. */
bool queue_is_idle(const struct queue *queue);

/* --- for the journal --- */

/* Takes a job with the number that it had, above all others; jobs of `after` that are not there are done. NULL when
 * memory is out: the submission is still the caller's. */
struct queue_job *queue_restore(struct queue *queue, uint32_t id, struct submission *submission, int64_t submitted_s);

/* The job, which waits or runs, is over, as it was then. */
void queue_restore_end(struct queue *queue, struct queue_job *job, int status, uint32_t cancelled_by, int64_t ended_s);

/* The supermaster that had the queue has ended: jobs that ran wait, to go on, or are cancelled where that was asked, or
 * where they were attached to a client of that supermaster. */
void queue_restart(struct queue *queue, int64_t now_s);

/* Stops the program where an invariant does not hold. */
void queue_check(const struct queue *queue);
