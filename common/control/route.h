/* SPDX-License-Identifier: MIT */
/* The paths of the control socket: see docs/CONTROL.md. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Limit of `wait`, in seconds. */
#define CONTROL_WAIT_MAX_S 30

/* Limit of entries in one list, and of entries examined for it. */
#define CONTROL_LIST_MAX 10000

enum control_place {
    CONTROL_SESSION,  /* /v1 */
    CONTROL_JOBS,     /* /v1/jobs */
    CONTROL_JOB,      /* /v1/jobs/ID */
    CONTROL_OUTPUT,   /* /v1/jobs/ID/output */
    CONTROL_ITEMS,    /* /v1/jobs/ID/items */
    CONTROL_RANKS,    /* /v1/jobs/ID/ranks */
    CONTROL_FAILURES, /* /v1/jobs/ID/failures */
    CONTROL_PODS,     /* /v1/pods */
    CONTROL_POD,      /* /v1/pods/RANK */
    CONTROL_END,      /* /v1/end */
    CONTROL_METRICS,  /* /metrics */
    CONTROL_EVENTS,   /* /v1/events */
};

enum control_stream { CONTROL_OUT, CONTROL_ERR };

enum control_wanted { CONTROL_EVERY, CONTROL_THAT_WAIT, CONTROL_THAT_RUN, CONTROL_THAT_ARE_OVER };

struct control_route {
    enum control_place place;
    uint64_t job;    /* ID, for CONTROL_JOB and its parts */
    uint64_t pod;    /* rank of its master, for CONTROL_POD */
    unsigned wait_s; /* wait for a change, for CONTROL_JOB and CONTROL_FAILURES; 0: no */
    bool finishes;   /* finish what runs when a job is cancelled or a pod leaves */
    /* start: ID for CONTROL_JOBS, index for CONTROL_RANKS and CONTROL_FAILURES, byte for CONTROL_OUTPUT; default 0 */
    uint64_t from;
    uint64_t limit;             /* of a list; 0: default */
    enum control_wanted wanted; /* CONTROL_JOBS */
    enum control_stream stream; /* CONTROL_OUTPUT */
};

/* Parses path and query of a request. Returns 0, or the status 400 or 404 with one line. */
int control_route_read(struct control_route *route, const char *uri, struct error *error);
