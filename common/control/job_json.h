/* SPDX-License-Identifier: MIT */
/* A job and its session as the control socket tells of them: see docs/CONTROL.md. */
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
    CONTROL_WAITING,  /* no iteration has been assigned yet */
    CONTROL_RUNNING,  /* also while the output is finished */
    CONTROL_DRAINING, /* nothing begins any more */
    CONTROL_DONE,
    CONTROL_FAILED,
    CONTROL_CANCELLED, /* over after a drain, whoever asked for it */
};

/* What a job has cost its supermaster so far; for metrics alone. */
struct control_counts {
    uint64_t free;     /* iterations that nobody has been given, or that are to be given to somebody else */
    uint64_t chunks;   /* that were cut */
    uint64_t refills;  /* messages with chunks for a master's pool */
    uint64_t recalls;  /* that brought work which had not begun */
    uint64_t reissued; /* chunks of lost workers that others were given */
    uint64_t messages_sent, bytes_sent; /* by the supermaster */
};

/* All of it is borrowed. */
struct control_job {
    uint64_t id;
    const char *name; /* NULL: none */
    const char *kernel;
    char *const *command; /* [words] words of the job's command line, without the program */
    int words;
    const char *folder; /* working directory */
    enum control_state state;
    struct progress progress;
    struct pace_band band;
    uint64_t failed;              /* iterations that are given up */
    struct control_counts counts; /* of a job that runs, or of a run */
    const char *technique;
    const char *topology;
    const char *output;    /* empty: none */
    const char *waits_for; /* of a job of a set; NULL or empty: it does not wait */
    const char *reason;    /* why it failed, of a job of a set; NULL or empty: it has not, or nobody knows */
    int status;            /* exit status, once the job is over; below 0: it is not */
    /* of a job of a set */
    int priority;
    unsigned weight;
    bool is_open;          /* items may be added to it */
    const uint32_t *after; /* [after_count] jobs that are to be done before */
    size_t after_count;
    uint64_t cancelled_by;          /* the job of `after` for which it was cancelled; 0: none */
    time_t submitted, began, ended; /* 0: not yet */
};

/* The jobs of a session: those that are there, and those that were over since it began. */
struct metrics_counts {
    uint64_t waiting, running, done, failed, cancelled;
};

struct control_session {
    const char *kind;    /* "run" or "set" */
    const char *name;    /* "run-1234", or that of the set */
    const char *version; /* version of HDSS */
    time_t started;
    time_t ended;                 /* 0: it goes on; for metrics alone, as the status */
    int status;                   /* exit status of the supermaster; below 0: it goes on */
    const char *http;             /* the URL at a port; empty: there is none */
    const char *token_file;       /* with the token for it; empty */
    const char *pods_file;        /* by which pods join; empty: none may */
    unsigned masters, workers;    /* ranks at the start, and of the pods that are there */
    struct metrics_counts counts; /* jobs by their states */
};

/* A launch that has joined a set. */
struct pod_figures {
    unsigned rank; /* of its master */
    unsigned workers, cores;
    const char *node; /* borrowed */
    bool leaves;      /* gets no further job, and leaves when those that it has are over */
};

json_t *control_pod_json(const struct pod_figures *pod);

const char *control_state_name(enum control_state state);

/* The state of a job that has ended with this exit status. */
enum control_state control_state_at_end(int status);

/* References of the caller's; NULL when memory is out. */
json_t *control_job_json(const struct control_job *job);
json_t *control_rank_json(const struct rank_figures *rank);
json_t *control_failure_json(const struct failure_figures *failure);
json_t *control_session_json(const struct control_session *session);
