/* SPDX-License-Identifier: MIT */
/* The paths of the control socket: see docs/CONTROL.md. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>

#define CONTROL_WAIT_MAX_S 30

/* Limit for the entries of one list, and for the jobs that are examined for one list. */
#define CONTROL_LIST_MAX 10000

enum control_place {
    CONTROL_SESSION,
    CONTROL_JOBS,
    CONTROL_JOB,
    CONTROL_OUTPUT,
    CONTROL_ITEMS,
    CONTROL_RANKS,
    CONTROL_FAILURES,
    CONTROL_PODS,
    CONTROL_POD,
    CONTROL_END,
    CONTROL_METRICS,
    CONTROL_EVENTS,
};

enum control_stream { CONTROL_OUT, CONTROL_ERR };

enum control_wanted { CONTROL_EVERY, CONTROL_THAT_WAIT, CONTROL_THAT_RUN, CONTROL_THAT_ARE_OVER };

struct control_route {
    enum control_place place;
    uint64_t job;
    uint64_t pod;
    unsigned wait_s;
    bool finishes;
    /* Where the answer starts: for CONTROL_JOBS at this job number, for CONTROL_RANKS and CONTROL_FAILURES at this
     * index, for CONTROL_OUTPUT at this byte offset. The default is 0. */
    uint64_t from;
    uint64_t limit; /* largest number of entries; 0: the default */
    enum control_wanted wanted;
    enum control_stream stream;
};

/* Parses the path and query of a request. Returns 0, or the HTTP status 400 or 404 with an error. */
int control_route_read(struct control_route *route, const char *uri, struct error *error);
