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

/* The functions from which events are composed. They have no side effects. The caller owns the returned objects. */
struct events_source {
    void *context;
    json_t *(*session)(void *context);
    size_t (*running)(void *context, uint64_t ids[METRICS_JOBS_MAX]);
    /* Describes a job. The command line and the dependencies are left out, because they may be long. Returns NULL if
     * there is no such job or memory runs out. */
    json_t *(*job)(void *context, uint64_t id);
};

/* `share` is borrowed. As long as there are no subscribers, no timer runs. */
struct events *events_new(struct door_share *share, const struct events_source *source);

/* Answers the request with events until events_end(). If there are too many subscribers, returns false without an
 * answer. */
bool events_subscribe(struct events *events, struct evhttp_request *request);

/* Sends the final state to all subscribers. Calls `on_sent` for each subscriber after the subscriber has read that
 * state or has disconnected. Some of these calls may come before this function returns. Returns the number of calls,
 * including those still to come. */
unsigned events_end(struct events *events, void (*on_sent)(struct evhttp_request *request, void *context),
                    void *context);

/* Must be called before the doors are freed, because the doors end the connections. `events` may be NULL. */
void events_free(struct events *events);
