/* SPDX-License-Identifier: MIT */
/* The queue of a set: the submitted jobs and the order in which they begin. Pure: times are arguments, and
 * queue_journal.h does the I/O.
 *     waiting --begun--> running --over--> done | failed | cancelled
 *        |                  |
 *        |                  +--over, because the set stopped it--> waiting
 *        +--cancelled, or a job of its `after` is not done--> cancelled
 *
 * The next job is the one with the highest priority and then the lowest number among those that may begin. A job may
 * begin when all jobs of its `after` are done; if one of them fails or is cancelled, it is cancelled. A job known to
 * run alone begins when no other runs, and no other begins before it is over; while it is next, no later job begins, so
 * that it gets its turn. Only the latest ended jobs are remembered, which bounds the memory.
 *
 * An open job is given items while it waits and runs, until it is complete. Until then it does not count against the
 * limit of running jobs, because it may have nothing to do, and its items may come from one of the others. A job that
 * runs alone waits for open jobs too. */
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
/* A job that ran in this many lost sets runs alone, and is given up after another loss. */
#define QUEUE_LOSSES_ALONE 2
#define QUEUE_ITEMS_MAX    UINT64_C(1000000000000)

enum queue_state { QUEUE_WAITING, QUEUE_RUNNING, QUEUE_DONE, QUEUE_FAILED, QUEUE_CANCELLED };

enum queue_text { QUEUE_TECHNIQUE, QUEUE_OUTPUT, QUEUE_REASON, QUEUE_TEXTS };

struct queue_figures {
    uint64_t done, total, resumed,
        failed; /* numbers of iterations; `resumed` is the part of `done` that an earlier run had done */
    double elapsed_s;
    const char *texts[QUEUE_TEXTS]; /* owned; NULL: the text is not known */
};

struct queue_items {
    uint64_t count; /* number of rows in the job's list, or of iterations */
    uint64_t bytes; /* size of the list; 0: the job has no list */
    bool is_complete;
};

struct queue_job {
    uint32_t id; /* 1, 2, .. in the order of submission */
    enum queue_state state;
    bool is_cancelled;
    bool has_run;          /* the job was interrupted and continues from its own journal */
    unsigned losses;       /* how many sets were lost while the job ran, and were started again at once */
    bool is_alone;         /* the job must run alone; not journalled, because its command line tells it */
    int status;            /* exit status; -1: the job is not over */
    uint32_t cancelled_by; /* the job in `after` that was not done, which cancelled this one; 0: there is none */
    int64_t submitted_s, began_s, ended_s; /* seconds since 1970; 0: not yet */
    struct queue_figures figures;          /* set when the job is over; 0 if it has not run */
    struct queue_items items;
    struct submission submission; /* owned; the environment is released when the job is over */
    struct queue_job *previous, *next;

    bool is_in_heap;
    size_t awaited;
    uint32_t *dependents; /* [dependent_count] jobs with this one in `after`, perhaps repeated; owned */
    size_t dependent_count, dependent_room;
    struct queue_job *next_of_bucket;
    struct queue_job *next_ended;
    struct queue_job *previous_open, *next_open;
};

enum queue_mode {
    QUEUE_OPEN,
    QUEUE_CLOSED,  /* the set accepts no jobs, and ends after the last one */
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
    /* Called with the number of each job that is forgotten; may be NULL. */
    void (*on_forget)(void *context, uint32_t id);
    void *context;
    uint32_t newest;
    size_t waiting, running, ended;
    struct queue_totals totals;
    size_t open, running_open; /* number of open jobs, and how many of them run */
    const struct queue_job *alone;
    struct queue_job *first, *last; /* sorted by number; owned */
    struct queue_job *first_ended, *last_ended;
    struct queue_job *first_open;
    struct queue_job **buckets;
    size_t bucket_count;
    struct queue_ready *ready; /* [ready_count] heap of jobs that may begin, with some stale entries; owned */
    size_t ready_count, ready_room;
};

void queue_init(struct queue *queue, unsigned at_once);
void queue_fini(struct queue *queue);

/* Adds a job and takes over the submission. The job may end at once, if one of its `after` is not done. Returns NULL if
 * the set accepts none, there are too many, or `after` names an unknown job; the submission then remains the
 * caller's. */
struct queue_job *queue_submit(struct queue *queue, struct submission *submission, int64_t now_s, struct error *error);

struct queue_job *queue_find(const struct queue *queue, uint32_t id);

/* Returns the job to begin now, or NULL. It stays the next one until queue_begun(), queue_cancel() or
 * queue_keep_alone(). */
struct queue_job *queue_next(struct queue *queue);

/* Why a waiting job does not begin, although all jobs of its `after` are done. */
enum queue_hold {
    QUEUE_IN_TURN,     /* other jobs begin first */
    QUEUE_IS_STOPPED,  /* the set begins no more jobs and leaves this one to the next set */
    QUEUE_OTHER_ALONE, /* job `other`, which must run alone, is running or begins first */
    QUEUE_MUST_ALONE,  /* the job must run alone, and others are running */
    QUEUE_IS_FULL,     /* the limit of running jobs is reached */
};

/* Sets `other` for QUEUE_OTHER_ALONE. */
enum queue_hold queue_hold(struct queue *queue, const struct queue_job *job, uint32_t *other);

/* Marks the next job as one that runs alone. queue_next() then tells whether it still begins now. */
void queue_keep_alone(struct queue_job *job);

void queue_begun(struct queue *queue, struct queue_job *job, int64_t now_s);

/* Makes a job wait again that was about to run, or that has lost a rank that it needs; `has_run` as in queue_job. */
void queue_put_back(struct queue *queue, struct queue_job *job, bool has_run);

/* Ends a running job. Returns whether the job is over; it is not if a stopped set drained it and it was not cancelled,
 * because it then waits for the next set. The next submission or end may free `job`. */
bool queue_over(struct queue *queue, struct queue_job *job, int status, int64_t now_s);

void queue_keep_figures(struct queue_job *job, const struct queue_figures *figures);

/* Copies a text about the job. The text stays unknown if it is empty, or if memory runs out. */
void queue_keep_text(struct queue_job *job, enum queue_text which, const char *text);

/* Cancels a waiting job. Only marks a running job, which the caller must end. No effect on ended jobs. */
void queue_cancel(struct queue *queue, struct queue_job *job, int64_t now_s);

/* True if the job may be given items: it is live, not cancelled and not complete. */
bool queue_is_open(const struct queue_job *job);

void queue_set_items(struct queue *queue, struct queue_job *job, const struct queue_items *items);

bool queue_is_full_of_open(const struct queue *queue);

void queue_close(struct queue *queue);
void queue_stop(struct queue *queue);

bool queue_is_over(const struct queue *queue);

bool queue_is_full(const struct queue *queue);

bool queue_is_idle(const struct queue *queue);

/* Restores a job with its number, which is above all others. Unknown jobs of `after` count as done. NULL if memory runs
 * out; the submission then remains the caller's. */
struct queue_job *queue_restore(struct queue *queue, uint32_t id, struct submission *submission, int64_t submitted_s);

void queue_restore_end(struct queue *queue, struct queue_job *job, int status, uint32_t cancelled_by, int64_t ended_s);

/* Handles the end of the previous supermaster. Its running jobs wait and will continue; a job is cancelled if a client
 * had asked for that, or if the job was attached to a client of that supermaster. `after_loss`: the supermaster was
 * lost, so the loss is counted for each running job. */
void queue_restart(struct queue *queue, bool after_loss, int64_t now_s);

void queue_check(const struct queue *queue);
