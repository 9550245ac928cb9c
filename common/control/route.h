/* SPDX-License-Identifier: MIT */
/* The paths of the control socket: see docs/CONTROL.md. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

/* The longest time that a request may wait for a change, in seconds. */
#define CONTROL_WAIT_MAX_S 30

/* The most that one list has, and looks at. */
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

/* The jobs that are listed. */
enum control_wanted { CONTROL_EVERY, CONTROL_THAT_WAIT, CONTROL_THAT_RUN, CONTROL_THAT_ARE_OVER };

struct control_route {
    enum control_place place;
    uint64_t job;    /* of CONTROL_JOB and its parts: its ID */
    uint64_t pod;    /* of CONTROL_POD: the rank of its master */
    unsigned wait_s; /* of CONTROL_JOB and CONTROL_FAILURES: how long to wait for a change; 0: not at all */
    bool finishes;   /* of CONTROL_JOB that is cancelled, and CONTROL_POD that is to leave: with what runs */
    /* of CONTROL_JOBS: the first ID, of CONTROL_RANKS and CONTROL_FAILURES: the first place, of CONTROL_OUTPUT: the
     * first byte; 0 unless asked */
    uint64_t from;
    uint64_t limit;             /* of CONTROL_JOBS and CONTROL_RANKS: the most that are listed; 0 unless asked */
    enum control_wanted wanted; /* of CONTROL_JOBS */
    enum control_stream stream; /* of CONTROL_OUTPUT */
};

/* Reads the path and the query of a request. 0; or the status of the answer, 400 or 404, with one line. */
int control_route_read(struct control_route *route, const char *uri, struct error *error);
