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

/* Number of the job of a run. */
#define CONTROL_ONLY_JOB 1

enum refusal {
    REFUSAL_NONE,
    REFUSAL_WRONG,    /* invalid request */
    REFUSAL_ABSENT,   /* no such job */
    REFUSAL_CONFLICT, /* not in the present state of job or set */
    REFUSAL_BROKEN,   /* the set cannot write its files */
    REFUSAL_FULL,     /* no room at present */
};

/* Answers queries and receives requests. A run has only job 1, and none of the members after `set`. */
struct control_source {
    void *context;
    /* Fills in the job with number job->id, or sets that to 0. For a run, the caller sets `status` and final state. */
    void (*tell)(void *context, struct control_job *job);
    /* Drains the run or set, as after SIGTERM. */
    void (*drain)(void *context);
    /* Describes the rank with index `place` in the job. False if there is none, or the job does not run. */
    bool (*rank)(void *context, uint64_t job, uint64_t place, struct rank_figures *rank);
    /* Describes failed iteration `place` and following ones of the same reason. False if there is none. */
    bool (*failure)(void *context, uint64_t job, uint64_t place, struct failure_figures *failure);

    const struct address *http; /* TCP address to serve at as well; NULL: none */
    struct error *error;        /* receives the reason if there is no socket or port */

    const char *set; /* name of the set and its socket; NULL: a run */
    /* Number of the first job after `id`; 0: none. */
    uint64_t (*next)(void *context, uint64_t id);
    /* Cancels the job; `finishes`: after its running iterations. */
    void (*cancel)(void *context, uint64_t id, bool finishes);
    /* Accepts a job and takes over its submission, or refuses with one line; then the caller keeps the submission. */
    enum refusal (*submit)(void *context, struct submission *submission, uint64_t *id, struct error *error);
    /* Adds items to an open job; returns its number of items and whether it is closed, or refuses with one line. A
     * total in `items` becomes the iterations that were added. */
    enum refusal (*add)(void *context, uint64_t id, struct items *items, uint64_t *count, bool *is_complete,
                        struct error *error);
    /* Writes all accepted jobs and items to disk. On failure the items are discarded. */
    int (*commit)(void *context, struct error *error);
    /* Opens the output of the job so far; closed by the caller. -1: none. */
    int (*output)(void *context, uint64_t id, enum control_stream stream);
    /* Accept no more jobs, and end after the last one. */
    void (*close)(void *context);
    /* Counts the jobs and lists the running ones, at most METRICS_JOBS_MAX. Returns the number listed. */
    size_t (*count)(void *context, struct metrics_counts *counts, uint64_t *running);
    /* Describes the pod with index `place`. False if there is none. NULL: pods cannot join. */
    bool (*pod)(void *context, uint64_t place, struct pod_figures *pod);
    /* Tells the pod whose master has this rank to leave; `finishes`: after running iterations. False if unknown. */
    bool (*leave)(void *context, uint64_t rank, bool finishes);
    unsigned masters, workers; /* initial ranks */
    const char *pods_file;     /* ticket for pods; NULL: none */
};

/* The session of this set, or run-PID, starting now. `name` is filled in and borrowed; no TCP port is set. */
struct control_session control_source_session(const struct control_source *source, const char *version,
                                              char name[CONTROL_NAME_MAX]);

/* Records the end of the session with the supermaster's exit status. */
void control_session_end(struct control_session *session, int status);

/* False if there is no such job. */
bool control_source_tell(const struct control_source *source, const struct control_session *session, uint64_t id,
                         struct control_job *job);

/* Counts the jobs by state and lists the running ones, at most METRICS_JOBS_MAX. Returns the number listed. */
size_t control_source_count(const struct control_source *source, const struct control_session *session,
                            struct metrics_counts *counts, uint64_t running[METRICS_JOBS_MAX]);

/* Counts initial ranks plus those of present pods. */
void control_source_count_ranks(const struct control_source *source, unsigned *masters, unsigned *workers);

/* Current metrics as text; freed by the caller. */
char *control_source_metrics(const struct control_source *source, const struct control_session *session,
                             enum metrics_format format);
