/* SPDX-License-Identifier: MIT */
/* Server-sent events of the control socket: the session and the jobs that run, told again to each subscriber as they
 * change. docs/CONTROL.md has what an event says. */
#pragma once

#include "common/control/door.h"
#include "common/control/metrics_text.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct evhttp_request;
struct events;

/* Where an event is made from: functions that only read, and return references of the caller's. */
struct events_source {
    void *context;
    json_t *(*session)(void *context);
    /* Lists the numbers of the jobs that run. Returns how many these are. */
    size_t (*running)(void *context, uint64_t ids[METRICS_JOBS_MAX]);
    /* The job without its command line and the jobs that it waits for, which may be long. NULL where it is not there
     * any more, or memory is out. */
    json_t *(*job)(void *context, uint64_t id);
};

/* No timer runs before the first subscriber comes. `share` is borrowed. NULL when memory is out. */
struct events *events_new(struct door_share *share, const struct events_source *source);

/* Begins to answer the request with events, until events_end() or until its client has gone. False where there are too
 * many subscribers: the request is still the caller's to answer. */
bool events_subscribe(struct events *events, struct evhttp_request *request);

/* Tells all subscribers the last state, and that it is the last one. `on_sent` is called for each of them, at once or
 * later, when it has taken it or has gone. Returns for how many that is to be awaited. */
unsigned events_end(struct events *events, void (*on_sent)(struct evhttp_request *request, void *context),
                    void *context);

/* Before the doors are freed, which end the connections. NULL is fine. */
void events_free(struct events *events);
