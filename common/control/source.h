/* SPDX-License-Identifier: MIT */
/* The side of a run or of a set that its control socket, and its metrics file, ask. */
#pragma once

#include "common/config/address.h"
#include "common/config/submission.h"
#include "common/control/items_json.h"
#include "common/control/job_json.h"
#include "common/control/metrics_text.h"
#include "common/control/route.h"
#include "common/control/socket.h"
#include "common/util/error.h"

/* The number of the job of a run. */
#define CONTROL_ONLY_JOB 1

/* Why a set refuses a request. */
enum refusal {
    REFUSAL_NONE,
    REFUSAL_WRONG,    /* the request is wrong, in any state of the set */
    REFUSAL_ABSENT,   /* there is no such job */
    REFUSAL_CONFLICT, /* the job or the set is in another state */
    REFUSAL_BROKEN,   /* the set cannot write its files */
    REFUSAL_FULL,     /* it has no room for more now */
};

/* The source of the answers, and the receiver of what is asked for. A run has one job, of the number 1, and of what
 * follows `set` nothing. */
struct control_source {
    void *context;
    /* Tells what is known at this moment of the job whose number is in `job`, which is 0 afterwards where there is
     * none. Of a run's job `status` and the state at its end are filled in by the caller. */
    void (*tell)(void *context, struct control_job *job);
    /* Asks the run or the set to drain, as after SIGTERM. */
    void (*drain)(void *context);
    /* Tells of the rank of a job at that place, from 0. False where there is none, or the job does not run. */
    bool (*rank)(void *context, uint64_t job, uint64_t place, struct rank_figures *rank);
    /* Tells of the iteration of a job that was given up at that place, from 0, and of those behind it with the same
     * reason. False where there is none. */
    bool (*failure)(void *context, uint64_t job, uint64_t place, struct failure_figures *failure);

    const struct address *http; /* where it is served at a port, too; NULL: nowhere */
    struct error *error;        /* where it is said why there is no socket, or no such port */

    const char *set; /* the name of the set and of its socket; NULL: a run */
    /* The number of the first job behind this one; 0: there is none. */
    uint64_t (*next)(void *context, uint64_t id);
    /* Asks the job to end; `finishes`: with what runs of it. */
    void (*cancel)(void *context, uint64_t id, bool finishes);
    /* Takes a job, with all that the submission has: its number; or one line, and the submission is still the
     * caller's. */
    enum refusal (*submit)(void *context, struct submission *submission, uint64_t *id, struct error *error);
    /* Adds items to an open job: the items that it has now, and whether these are all; or one line, and nothing is
     * added. */
    enum refusal (*add)(void *context, uint64_t id, const struct items *items, uint64_t *count, bool *is_complete,
                        struct error *error);
    /* Has all jobs that were taken, and all that was added to jobs, on disk. -1 with one line: what was added is not
     * any more. */
    int (*commit)(void *context, struct error *error);
    /* Opens what the job has written so far, for the caller to close. -1: nothing. */
    int (*output)(void *context, uint64_t id, enum control_stream stream);
    /* Asks the set to take no further job, and to end with the last one. */
    void (*close)(void *context);
    /* Counts the jobs, and says the numbers of those that run, METRICS_JOBS_MAX at most. Returns how many these are. */
    size_t (*count)(void *context, struct metrics_counts *counts, uint64_t *running);
    /* Tells of the pod at that place, from 0. False where there is none; NULL: none can join. */
    bool (*pod)(void *context, uint64_t place, struct pod_figures *pod);
    /* Asks the pod whose master has that rank to leave; `finishes`: with what runs. False where it is not there. */
    bool (*leave)(void *context, uint64_t rank, bool finishes);
    unsigned masters, workers; /* ranks at the start */
    const char *pods_file;     /* by which pods join; NULL: none may */
};

/* The session as it begins in this moment: of the set of that name, or run-PID. `name` has room for it and is borrowed;
 * nothing is served at a port yet. */
struct control_session control_source_session(const struct control_source *source, const char *version,
                                              char name[CONTROL_NAME_MAX]);

/* Notes that the session is over, with the exit status of its supermaster. */
void control_session_end(struct control_session *session, int status);

/* Has the source tell of a job. False where there is none of this number. */
bool control_source_tell(const struct control_source *source, const struct control_session *session, uint64_t id,
                         struct control_job *job);

/* Counts the jobs by their states, and lists the numbers of those that run, METRICS_JOBS_MAX at most. Returns how many
 * these are. */
size_t control_source_count(const struct control_source *source, const struct control_session *session,
                            struct metrics_counts *counts, uint64_t running[METRICS_JOBS_MAX]);

/* Counts the ranks that there were at the start, and those of the pods that are there now. */
void control_source_count_ranks(const struct control_source *source, unsigned *masters, unsigned *workers);

/* The metrics of the session at this moment, as text; the caller frees it. NULL when memory is out. */
char *control_source_metrics(const struct control_source *source, const struct control_session *session,
                             enum metrics_format format);
