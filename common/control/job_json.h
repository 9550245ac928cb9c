/* SPDX-License-Identifier: MIT */
/* Jobs and sessions as the control socket presents them: see docs/CONTROL.md. */
#pragma once

#include "common/metrics/failure.h"
#include "common/metrics/pace.h"
#include "common/metrics/progress.h"
#include "common/metrics/rank.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum control_state {
    CONTROL_WAITING,
    CONTROL_RUNNING,
    CONTROL_DRAINING,
    CONTROL_DONE,
    CONTROL_FAILED,
    CONTROL_CANCELLED, /* the job has ended after a drain, whatever caused the drain */
};

struct control_counts {
    uint64_t free;
    uint64_t chunks;
    uint64_t refills;
    uint64_t recalls;
    uint64_t reissued;
    uint64_t messages_sent, bytes_sent;
};

/* All pointers are borrowed. */
struct control_job {
    uint64_t id;
    const char *name;
    const char *kernel;
    char *const *command; /* [words] command line without the name of the program */
    int words;
    const char *folder;
    enum control_state state;
    struct progress progress;
    struct pace_band band;
    uint64_t failed;
    /* used only for metrics; set while the job runs, and for the job of a run also after its end */
    struct control_counts counts;
    const char *technique;
    const char *topology;
    const char *output;
    const char *waits_for;
    const char *reason;
    int status; /* exit status of the job; negative: the job is not over */
    /* The members from here on are only for jobs of a set. */
    int priority;
    unsigned weight;
    bool is_open;
    const uint32_t *after;
    size_t after_count;
    /* number of the job in `after` whose failure cancelled this job; 0: there is none */
    uint64_t cancelled_by;
    time_t submitted, began, ended; /* times of three events; 0: the event has not happened yet */
};

struct metrics_counts {
    uint64_t waiting, running, done, failed, cancelled;
};

struct control_session {
    const char *kind;
    const char *name;
    const char *version;
    time_t started;
    time_t ended; /* 0: the session has not ended */
    int status;   /* exit status of the supermaster; negative: the session has not ended */
    const char *http;
    const char *token_file;
    const char *pods_file;
    unsigned masters, workers;
    struct metrics_counts counts;
};

struct pod_figures {
    unsigned rank;
    unsigned workers, cores;
    const char *node;
    bool leaves;
};

json_t *control_pod_json(const struct pod_figures *pod);

const char *control_state_name(enum control_state state);

enum control_state control_state_at_end(int status);

/* Each function returns an object that the caller owns. NULL if memory runs out. */
json_t *control_job_json(const struct control_job *job);
json_t *control_rank_json(const struct rank_figures *rank);
json_t *control_failure_json(const struct failure_figures *failure);
json_t *control_session_json(const struct control_session *session);
