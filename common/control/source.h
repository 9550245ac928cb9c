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
    REFUSAL_CONFLICT,
    REFUSAL_BROKEN,
    REFUSAL_FULL,
};

/* Answers queries and receives requests. A run has only job 1, and none of the functions after `set`. */
struct control_source {
    void *context;
    /* Fills in the job with number job->id, or sets job->id to 0. For a run, the caller sets `status` and final
     * state. */
    void (*tell)(void *context, struct control_job *job);
    void (*drain)(void *context);
    /* Describes rank number `place` of the job. Returns false if there is none, or the job does not run. */
    bool (*rank)(void *context, uint64_t job, uint64_t place, struct rank_figures *rank);
    /* Describes failed iteration number `place` and following ones of the same reason. Returns false if there is
     * none. */
    bool (*failure)(void *context, uint64_t job, uint64_t place, struct failure_figures *failure);

    const struct address *http;
    struct error *error;

    const char *set;
    /* Returns the number of the first job after `id`; 0: none. */
    uint64_t (*next)(void *context, uint64_t id);
    /* `finishes`: after the running iterations of the job. */
    void (*cancel)(void *context, uint64_t id, bool finishes);
    /* Accepts a job and takes over its submission, or refuses with an error; the caller then keeps the submission. */
    enum refusal (*submit)(void *context, struct submission *submission, uint64_t *id, struct error *error);
    /* Adds items to an open job; returns its number of items and whether it is closed, or refuses with one line. If
     * `items` has a total, that is replaced by the number of iterations added. */
    enum refusal (*add)(void *context, uint64_t id, struct items *items, uint64_t *count, bool *is_complete,
                        struct error *error);
    /* Writes all accepted jobs and items to disk. On failure the items are discarded. */
    int (*commit)(void *context, struct error *error);
    /* Opens the output of the job so far; the caller closes it. -1: there is none. */
    int (*output)(void *context, uint64_t id, enum control_stream stream);
    void (*close)(void *context);
    /* Lists at most METRICS_JOBS_MAX running jobs, and returns how many. */
    size_t (*count)(void *context, struct metrics_counts *counts, uint64_t *running);
    /* Describes pod number `place`. Returns false if there is none. NULL: pods cannot join. */
    bool (*pod)(void *context, uint64_t place, struct pod_figures *pod);
    /* Tells the pod whose master has this rank to leave; `finishes`: after running iterations. Returns false if there
     * is no such pod. */
    bool (*leave)(void *context, uint64_t rank, bool finishes);
    unsigned masters, workers;
    const char *pods_file;
};

/* Returns a session that starts now. It has the name of the set, or run-PID without a set; the name is written to
 * `name`, which the session borrows. No TCP port is set. */
struct control_session control_source_session(const struct control_source *source, const char *version,
                                              char name[CONTROL_NAME_MAX]);

void control_session_end(struct control_session *session, int status);

/* Returns false if there is no such job. */
bool control_source_tell(const struct control_source *source, const struct control_session *session, uint64_t id,
                         struct control_job *job);

size_t control_source_count(const struct control_source *source, const struct control_session *session,
                            struct metrics_counts *counts, uint64_t running[METRICS_JOBS_MAX]);

void control_source_count_ranks(const struct control_source *source, unsigned *masters, unsigned *workers);

/* The caller frees the text. */
char *control_source_metrics(const struct control_source *source, const struct control_session *session,
                             enum metrics_format format);
