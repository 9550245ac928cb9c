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

/* Functions that answer queries and receive requests. A run has only job 1, and no `set`. Of the functions after `set`,
 * a run may have only `pod` and `leave`. */
struct control_source {
    void *context;
    /* Describes the job with number job->id. If no job has this number, sets job->id to 0. For a run, leaves `status`
     * and the final state to the caller. */
    void (*tell)(void *context, struct control_job *job);
    void (*drain)(void *context);
    /* Describes rank number `place` of the job. Returns false if there is no such rank, or if the job is not
     * running. */
    bool (*rank)(void *context, uint64_t job, uint64_t place, struct rank_figures *rank);
    /* Describes failed iteration number `place`, together with the iterations after it that failed for the same reason.
     * Returns false if there is no such iteration. */
    bool (*failure)(void *context, uint64_t job, uint64_t place, struct failure_figures *failure);

    const struct address *http;
    struct error *error;

    const char *set;
    /* Returns the lowest job number above `id`; 0: there is none. */
    uint64_t (*next)(void *context, uint64_t id);
    /* Cancels a job. If `finishes` is set, iterations that are running are finished first. */
    void (*cancel)(void *context, uint64_t id, bool finishes);
    /* Accepts a job and takes ownership of `submission`. If the job is refused, returns the reason and sets `error`,
     * and the caller keeps `submission`. */
    enum refusal (*submit)(void *context, struct submission *submission, uint64_t *id, struct error *error);
    /* Adds items to an open job. Afterwards `*count` is the job's number of items, and `*is_complete` says whether the
     * job is complete. If the items are refused, returns the reason and sets `error`. If items->is_total is set,
     * items->iterations is a total, which the function replaces by the number of added iterations. */
    enum refusal (*add)(void *context, uint64_t id, struct items *items, uint64_t *count, bool *is_complete,
                        struct error *error);
    /* Writes all accepted jobs and items to disk. If writing fails, the items are removed from their jobs again. */
    int (*commit)(void *context, struct error *error);
    /* Opens the file that contains the job's output so far. Returns a descriptor, which the caller closes. Returns -1
     * if there is no output. */
    int (*output)(void *context, uint64_t id, enum control_stream stream);
    void (*close)(void *context);
    /* Counts the jobs, and lists the numbers of at most METRICS_JOBS_MAX running jobs in `running`. Returns the length
     * of that list. */
    size_t (*count)(void *context, struct metrics_counts *counts, uint64_t *running);
    /* Describes pod number `place`. Returns false if there is no such pod. If pods cannot join, the member `pod` is
     * NULL. */
    bool (*pod)(void *context, uint64_t place, struct pod_figures *pod);
    /* Tells the pod whose master has rank `rank` to leave. If `finishes` is set, the pod finishes its running
     * iterations first. Returns false if there is no such pod. */
    bool (*leave)(void *context, uint64_t rank, bool finishes);
    unsigned masters, workers;
    const char *pods_file;
};

/* Returns a session that starts now, without a TCP port. The session has the name of the set or, for a run, the name
 * run-PID. The name is written to `name`, which the session borrows. */
struct control_session control_source_session(const struct control_source *source, const char *version,
                                              char name[CONTROL_NAME_MAX]);

void control_session_end(struct control_session *session, int status);

/* Describes the job with number `id` in `job`. Returns false if there is none. */
bool control_source_tell(const struct control_source *source, const struct control_session *session, uint64_t id,
                         struct control_job *job);

size_t control_source_count(const struct control_source *source, const struct control_session *session,
                            struct metrics_counts *counts, uint64_t running[METRICS_JOBS_MAX]);

void control_source_count_ranks(const struct control_source *source, unsigned *masters, unsigned *workers);

/* Returns the metrics as text, which the caller frees. */
char *control_source_metrics(const struct control_source *source, const struct control_session *session,
                             enum metrics_format format);
