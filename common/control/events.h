/* SPDX-License-Identifier: MIT */
/* Server-sent events of the control socket: the session and its running jobs, sent to each subscriber whenever they
 * change. docs/CONTROL.md describes the events. */
#pragma once

#include "common/control/door.h"
#include "common/control/metrics_text.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct evhttp_request;
struct events;

/* Source of events: functions without side effects. The caller owns the returned objects. */
struct events_source {
    void *context;
    json_t *(*session)(void *context);
    size_t (*running)(void *context, uint64_t ids[METRICS_JOBS_MAX]);
    /* Without command line and dependencies, which may be long. NULL if the job is gone or memory runs out. */
    json_t *(*job)(void *context, uint64_t id);
};

/* No timer runs without subscribers. `share` is borrowed. */
struct events *events_new(struct door_share *share, const struct events_source *source);

/* Answers the request with events until events_end(). If there are too many subscribers, does not answer it and returns
 * false. */
bool events_subscribe(struct events *events, struct evhttp_request *request);

/* Sends the final state to all subscribers. `on_sent` is called for each of them after it has read it or has left,
 * possibly before this function returns. Returns the number of calls to expect. */
unsigned events_end(struct events *events, void (*on_sent)(struct evhttp_request *request, void *context),
                    void *context);

/* Must be called before the doors, which end the connections, are freed. NULL is allowed. */
void events_free(struct events *events);
