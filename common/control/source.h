/* SPDX-License-Identifier: MIT */
/* The interface of a run or set to its control socket and metrics file. */
#pragma once

#include "common/config/address.h"
#include "common/config/submission.h"
#include "common/control/items_json.h"
#include "common/control/job_json.h"
#include "common/control/metrics_text.h"
#include "common/control/route.h"
#include "common/control/socket.h"
#include "common/util/error.h"

#define CONTROL_ONLY_JOB 1

enum refusal {
    REFUSAL_NONE,
    REFUSAL_WRONG,
    REFUSAL_ABSENT,
    REFUSAL_CONFLICT, /* the present state of the job or set does not allow the request */
    REFUSAL_BROKEN,   /* the set cannot write its files */
    REFUSAL_FULL,     /* no room at present */
};

/* Answers queries and receives requests. A run has only job 1, and none of the members after `set`. */
struct control_source {
    void *context;
    /* Fills in the job with number job->id, or sets that to 0. For a run, the caller sets `status` and final state. */
    void (*tell)(void *context, struct control_job *job);
    void (*drain)(void *context);
    /* Describes rank number `place` of the job. False if there is none, or the job does not run. */
    bool (*rank)(void *context, uint64_t job, uint64_t place, struct rank_figures *rank);
    /* Describes failed iteration number `place` and following ones of the same reason. False if there is none. */
    bool (*failure)(void *context, uint64_t job, uint64_t place, struct failure_figures *failure);

    const struct address *http; /* TCP address to serve at as well; NULL: none */
    struct error *error;        /* receives the reason if there is no socket or port */

    const char *set; /* name of the set and its socket; NULL: a run */
    /* Returns the number of the first job after `id`; 0: none. */
    uint64_t (*next)(void *context, uint64_t id);
    /* Cancels the job; `finishes`: after its running iterations. */
    void (*cancel)(void *context, uint64_t id, bool finishes);
    /* Accepts a job and takes over its submission, or refuses with an error; the caller then keeps the submission. */
    enum refusal (*submit)(void *context, struct submission *submission, uint64_t *id, struct error *error);
    /* Adds items to an open job; returns its number of items and whether it is closed, or refuses with one line. A
     * total in `items` becomes the iterations that were added. */
    enum refusal (*add)(void *context, uint64_t id, struct items *items, uint64_t *count, bool *is_complete,
                        struct error *error);
    /* Writes all accepted jobs and items to disk. On failure the items are discarded. */
    int (*commit)(void *context, struct error *error);
    /* Opens the output of the job so far, for the caller to close. -1: none. */
    int (*output)(void *context, uint64_t id, enum control_stream stream);
    /* Makes the set accept no more jobs, and end after the last one. */
    void (*close)(void *context);
    /* Counts the jobs and lists the running ones, at most METRICS_JOBS_MAX. Returns how many it lists. */
    size_t (*count)(void *context, struct metrics_counts *counts, uint64_t *running);
    /* Describes pod number `place`. False if there is none. NULL: pods cannot join. */
    bool (*pod)(void *context, uint64_t place, struct pod_figures *pod);
    /* Tells the pod whose master has this rank to leave; `finishes`: after running iterations. False if unknown. */
    bool (*leave)(void *context, uint64_t rank, bool finishes);
    unsigned masters, workers;
    const char *pods_file; /* ticket for pods; NULL: none */
};

/* Returns a session that starts now. Its name is that of the set, or run-PID without a set; it is written to `name`,
 * which the session borrows. No TCP port is set. */
struct control_session control_source_session(const struct control_source *source, const char *version,
                                              char name[CONTROL_NAME_MAX]);

void control_session_end(struct control_session *session, int status);

/* Fills in the job. False if there is no such job. */
bool control_source_tell(const struct control_source *source, const struct control_session *session, uint64_t id,
                         struct control_job *job);

size_t control_source_count(const struct control_source *source, const struct control_session *session,
                            struct metrics_counts *counts, uint64_t running[METRICS_JOBS_MAX]);

/* Counts initial ranks plus those of present pods. */
void control_source_count_ranks(const struct control_source *source, unsigned *masters, unsigned *workers);

/* Returns the current metrics as text, which the caller frees. */
char *control_source_metrics(const struct control_source *source, const struct control_session *session,
                             enum metrics_format format);
