/* SPDX-License-Identifier: MIT */
/* A request of the page that is passed on to the control socket, and its answer that is passed back. */
#pragma once

#include "common/util/error.h"

#include <stdbool.h>

struct event_base;
struct evhttp_request;

/* The connections to the control socket that go on. */
struct relay_list {
    struct event_base *base; /* borrowed */
    const char *path;        /* of the socket; borrowed */
    struct relay *first;     /* owned */
    unsigned count;
};

/* The end of an attempt to pass a request on. */
enum relay_end {
    RELAY_BEGUN,
    RELAY_GONE, /* nobody listens any more */
    RELAY_BUSY, /* it cannot be connected to now, or memory or descriptors are out */
};

/* Asks the control socket for `uri`, which control_route_read() has taken, and answers the request with what it says.
 * With an answer that goes on, of `is_stream`, the client stays for as long as it does. Unless it is begun, the request
 * is still the caller's to answer. */
enum relay_end relay_begin(struct relay_list *list, struct evhttp_request *request, const char *uri, bool is_stream);

/* To be called every `turn_ms`: ends what is passed on to a client that takes nothing of it. */
void relay_look(struct relay_list *list, unsigned turn_ms);

/* Ends all; before the door of the clients is freed. */
void relay_end_all(struct relay_list *list);
