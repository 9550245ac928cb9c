/* SPDX-License-Identifier: MIT */
/* The queue of a set: the submitted jobs and the order in which they begin. Pure: times are arguments, and
 * queue_journal.h does the I/O.
 *     waiting --begun--> running --over--> done | failed | cancelled
 *        |                  |
 *        |                  +--over, because the set stopped it--> waiting
 *        +--cancelled, or a job of its `after` has failed or was cancelled--> cancelled
 *
 * The next job is the one with the highest priority among the jobs that may begin. If several jobs have this priority,
 * the next job is the one with the lowest number. A job may begin after all jobs of its `after` are done. If one of
 * these fails or is cancelled, the waiting job is cancelled, too. Only the latest ended jobs are remembered, which
 * bounds the memory.
 *
 * A job that must run alone begins when no other job runs. Until it is over, no other job begins. If such a job is the
 * next job but has to wait, no later job may begin, because otherwise it might never get its turn.
 *
 * Clients add items to an open job while it waits and runs, until the job is complete. Until it is complete, an open
 * job does not count against the limit of running jobs: it may have nothing to do, and its items may come from another
 * job. A job that must run alone waits for open jobs, too. */
#pragma once

#include "common/config/submission.h"
#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUEUE_AT_ONCE   8
#define QUEUE_ENDED_MAX 1000
#define QUEUE_LIVE_MAX  1000000
#define QUEUE_OPEN_MAX  64
/* A job that was running in this many lost sets runs alone from then on. After one more loss the job is given up. */
#define QUEUE_LOSSES_ALONE 2
#define QUEUE_ITEMS_MAX    UINT64_C(1000000000000)

enum queue_state { QUEUE_WAITING, QUEUE_RUNNING, QUEUE_DONE, QUEUE_FAILED, QUEUE_CANCELLED };

enum queue_text { QUEUE_TECHNIQUE, QUEUE_OUTPUT, QUEUE_REASON, QUEUE_TEXTS };

struct queue_figures {
    /* Numbers of iterations. `resumed`: the part of `done` that was done before the job was resumed. */
    uint64_t done, total, resumed, failed;
    double elapsed_s;
    const char *texts[QUEUE_TEXTS]; /* owned; NULL: the text is unknown */
};

struct queue_items {
    uint64_t count;
    uint64_t bytes;
    bool is_complete;
};

struct queue_job {
    uint32_t id;
    enum queue_state state;
    bool is_cancelled;
    bool has_run;
    /* number of sets that were lost while the job was running; counts only losses after which the set restarted at
     * once */
    unsigned losses;
    /* the job must run alone; not in the journal, because it follows from the job's command line */
    bool is_alone;
    int status; /* exit status; -1: the job is not over */
    /* the job of `after` that was not done, and so caused the cancellation of this job; 0: none */
    uint32_t cancelled_by;
    int64_t submitted_s, began_s, ended_s; /* in seconds since 1970; 0: this has not happened yet */
    struct queue_figures figures;
    struct queue_items items;
    struct submission submission; /* owned; its environment is released after the end of the job */
    struct queue_job *previous, *next;

    bool is_in_heap;
    size_t awaited;
    /* [dependent_count] numbers of the jobs that have this one in `after`; may contain repetitions; owned */
    uint32_t *dependents;
    size_t dependent_count, dependent_room;
    struct queue_job *next_of_bucket;
    struct queue_job *next_ended;
    struct queue_job *previous_open, *next_open;
};

enum queue_mode {
    QUEUE_OPEN,
    QUEUE_CLOSED,
    QUEUE_STOPPED, /* the set neither accepts nor begins jobs; waiting jobs are left to the next set */
};

struct queue_totals {
    uint64_t done, failed, cancelled;
};

struct queue_ready;

struct queue {
    enum queue_mode mode;
    unsigned at_once;
    size_t ended_max;
    /* Called with the number of each ended job that the queue forgets; may be NULL. */
    void (*on_forget)(void *context, uint32_t id);
    void *context;
    uint32_t newest;
    size_t waiting, running, ended;
    struct queue_totals totals;
    size_t open, running_open;
    const struct queue_job *alone;
    struct queue_job *first, *last;
    struct queue_job *first_ended, *last_ended;
    struct queue_job *first_open;
    struct queue_job **buckets;
    size_t bucket_count;
    /* [ready_count] heap of jobs that may begin, with some stale entries (see queue.c); owned */
    struct queue_ready *ready;
    size_t ready_count, ready_room;
};

void queue_init(struct queue *queue, unsigned at_once);
void queue_fini(struct queue *queue);

/* Adds a job and takes ownership of the submission. If a job of its `after` has failed or was cancelled, the new job is
 * cancelled at once. Returns NULL if the set accepts no jobs, if there are too many jobs, or if `after` names an
 * unknown job. If it returns NULL, the caller keeps the submission. */
struct queue_job *queue_submit(struct queue *queue, struct submission *submission, int64_t now_s, struct error *error);

struct queue_job *queue_find(const struct queue *queue, uint32_t id);

/* Returns the job that should begin now, or NULL. Further calls return the same job until queue_begun(), queue_cancel()
 * or queue_keep_alone() is called for it. */
struct queue_job *queue_next(struct queue *queue);

enum queue_hold {
    QUEUE_IN_TURN,
    QUEUE_IS_STOPPED,
    QUEUE_OTHER_ALONE,
    QUEUE_MUST_ALONE,
    QUEUE_IS_FULL,
};

enum queue_hold queue_hold(struct queue *queue, const struct queue_job *job, uint32_t *other);

void queue_keep_alone(struct queue_job *job);

void queue_begun(struct queue *queue, struct queue_job *job, int64_t now_s);

/* Makes a job wait again. The job was about to run, or it has lost a rank that it needs. `has_run`: new value of the
 * member of that name. */
void queue_put_back(struct queue *queue, struct queue_job *job, bool has_run);

/* Ends a running job and returns true. There is one exception: if the set was stopped and has therefore drained the
 * job, and nobody had cancelled it, the job waits for the next set and the function returns false. The next submission
 * or end of a job may free `job`. */
bool queue_over(struct queue *queue, struct queue_job *job, int status, int64_t now_s);

void queue_keep_figures(struct queue_job *job, const struct queue_figures *figures);

void queue_keep_text(struct queue_job *job, enum queue_text which, const char *text);

/* Cancels a waiting job. A running job is only marked as cancelled, and the caller must end it. If the job has ended,
 * does nothing. */
void queue_cancel(struct queue *queue, struct queue_job *job, int64_t now_s);

bool queue_is_open(const struct queue_job *job);

void queue_set_items(struct queue *queue, struct queue_job *job, const struct queue_items *items);

bool queue_is_full_of_open(const struct queue *queue);

void queue_close(struct queue *queue);
void queue_stop(struct queue *queue);

bool queue_is_over(const struct queue *queue);

bool queue_is_full(const struct queue *queue);

bool queue_is_idle(const struct queue *queue);

/* Restores a job with its number, which must be above those of all other jobs. Unknown jobs of `after` count as done.
 * Returns NULL if memory runs out; the caller then keeps the submission. */
struct queue_job *queue_restore(struct queue *queue, uint32_t id, struct submission *submission, int64_t submitted_s);

void queue_restore_end(struct queue *queue, struct queue_job *job, int status, uint32_t cancelled_by, int64_t ended_s);

/* Prepares the queue for a new supermaster after the previous one has ended. Jobs that were running wait, and will
 * continue. Some jobs are cancelled: those that a client had asked to cancel, and those that were attached to a client
 * of the previous supermaster. `after_loss`: the previous supermaster was lost, so each job that was running counts a
 * loss. */
void queue_restart(struct queue *queue, bool after_loss, int64_t now_s);

void queue_check(const struct queue *queue);
