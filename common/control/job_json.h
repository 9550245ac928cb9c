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
    CONTROL_WAITING,  /* no iteration is assigned yet */
    CONTROL_RUNNING,  /* includes finishing the output */
    CONTROL_DRAINING, /* nothing new begins */
    CONTROL_DONE,
    CONTROL_FAILED,
    CONTROL_CANCELLED, /* ended after a drain of any origin */
};

struct control_counts {
    uint64_t free;
    uint64_t chunks;
    uint64_t refills;
    uint64_t recalls;  /* how many RECALLs returned work */
    uint64_t reissued; /* how many chunks of lost workers were assigned again */
    uint64_t messages_sent, bytes_sent;
};

/* All pointers are borrowed. */
struct control_job {
    uint64_t id;
    const char *name;
    const char *kernel;
    char *const *command; /* [words] command line without the program */
    int words;
    const char *folder;
    enum control_state state;
    struct progress progress;
    struct pace_band band;
    uint64_t failed;
    struct control_counts counts; /* only for metrics; set if the job runs, and always for the job of a run */
    const char *technique;
    const char *topology;
    const char *output;
    const char *waits_for; /* what a job of a set waits for; NULL or empty: it does not wait */
    const char *reason;    /* why a job of a set failed; NULL or empty if that is unknown or it has not failed */
    int status;            /* exit status of the job; negative if it is not over */
    /* The members from here on are only for jobs of a set. */
    int priority;
    unsigned weight;
    bool is_open;
    const uint32_t *after; /* [after_count] jobs to wait for */
    size_t after_count;
    uint64_t cancelled_by;          /* job in `after` that caused the cancellation; 0: none */
    time_t submitted, began, ended; /* 0: not yet */
};

/* Number of jobs that wait and run now, and of jobs that have ended in this session. */
struct metrics_counts {
    uint64_t waiting, running, done, failed, cancelled;
};

struct control_session {
    const char *kind;
    const char *name;
    const char *version;
    time_t started;
    time_t ended;              /* 0: still running; for metrics */
    int status;                /* exit status of the supermaster; negative: still running */
    const char *http;          /* URL at the TCP port; empty: none */
    const char *token_file;    /* file with the token for that URL; empty: none */
    const char *pods_file;     /* ticket for pods; empty: pods cannot join */
    unsigned masters, workers; /* numbers of initial ranks and of ranks of present pods */
    struct metrics_counts counts;
};

/* A launch that has joined a set. `rank` is that of its master. */
struct pod_figures {
    unsigned rank;
    unsigned workers, cores;
    const char *node;
    bool leaves; /* the pod gets no further jobs and leaves after its present ones */
};

json_t *control_pod_json(const struct pod_figures *pod);

const char *control_state_name(enum control_state state);

enum control_state control_state_at_end(int status);

/* The caller owns the results. NULL if memory runs out. */
json_t *control_job_json(const struct control_job *job);
json_t *control_rank_json(const struct rank_figures *rank);
json_t *control_failure_json(const struct failure_figures *failure);
json_t *control_session_json(const struct control_session *session);
