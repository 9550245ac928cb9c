/* SPDX-License-Identifier: MIT */
/* An entrance of the control socket: a listener with evhttp and limits for clients. One door is the user's socket,
 * another the TCP port of --http; docs/CONTROL.md lists the limits. */
#pragma once

#include "common/config/address.h"
#include "common/control/bearer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;
struct event_base;
struct evhttp_request;

struct door_share {
    struct event_base *base;
    uint64_t began_ns;
    bool is_whole;
};

void door_set_timer(struct event *timer, long us);

/* If clients have used up their share of this turn, interrupts the event loop and returns true; other events then wait
 * for the next turn. */
bool door_rest(struct door_share *share);

/* A client is disconnected if an answer is pending and the client reads nothing for this time. */
#define DOOR_STUCK_S 10

enum door_kind {
    DOOR_OWN,
    DOOR_TCP,
};

struct door;

/* Serves at the socket `fd`, which the door owns even on failure; `share` is borrowed. */
struct door *door_new(enum door_kind kind, int fd, struct door_share *share,
                      void (*on_request)(struct evhttp_request *request, void *context), void *context);

/* Replaces the listening socket; the door owns `fd` in any case. If memory runs out, keeps the old socket and returns
 * false. */
bool door_move(struct door *door, int fd);

/* Checks whether the client may send this request. Returns 0 if so; otherwise the HTTP status 401 or 403, and a
 * text. */
int door_refusal(struct evhttp_request *request, const struct address *address, const struct bearer *bearer,
                 const char **text);

struct door_stay {
    size_t untaken; /* number of bytes of its answer that the client had not read at the last check; initially 0 */
    unsigned idle_ms;
};

/* Keeps the client connected, without reading further requests. Ends with door_end(), or with door_let_go() if
 * door_takes() has returned false. */
void door_let_stay(struct evhttp_request *request);

/* Checks a client that was passed to door_let_stay(); must be called every `turn_ms`. Returns false if the client has
 * disconnected, or if an answer is pending and the client has read nothing for DOOR_STUCK_S. If this process was
 * stopped and the check is late, only one turn is counted against the client. */
bool door_takes(struct door_stay *stay, struct evhttp_request *request, unsigned turn_ms);

/* Sends pending data, for at most DOOR_STUCK_S. After that the client may send further requests. */
void door_end(struct evhttp_request *request);

void door_let_go(struct evhttp_request *request);

/* Accepts all clients that are waiting to connect. `is_whole` of the share must have been set, so that accepting has no
 * limit. NULL is allowed. */
void door_admit_all(struct door *door);

void door_free(struct door *door);

void door_raise_limit(void);
