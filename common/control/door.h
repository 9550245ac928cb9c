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

/* Have clients used up their share of this turn? If so, interrupts the event loop; remaining events wait. */
bool door_rest(struct door_share *share);

/* A client that reads nothing of a long answer for this time is disconnected. */
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

/* Returns 0, or 401 or 403 with a text. */
int door_refusal(struct evhttp_request *request, const struct address *address, const struct bearer *bearer,
                 const char **text);

struct door_stay {
    size_t untaken; /* how many bytes of its answer the client has not read; initially 0 */
    unsigned idle_ms;
};

/* Keeps the client connected, without reading its input, until door_end(), or door_let_go() after door_takes()
 * fails. */
void door_let_stay(struct evhttp_request *request);

/* Checks a client of door_let_stay(); must be called every `turn_ms`. Returns false if the client is gone, or if it has
 * read nothing of a pending answer for DOOR_STUCK_S. A late check counts as one turn, because clients were not stuck
 * while the server itself was stopped. */
bool door_takes(struct door_stay *stay, struct evhttp_request *request, unsigned turn_ms);

/* Pending data are sent, within DOOR_STUCK_S; then the client may send further requests. */
void door_end(struct evhttp_request *request);

void door_let_go(struct evhttp_request *request);

/* Accepts all pending clients at once; called after `is_whole` was set. NULL is allowed. */
void door_admit_all(struct door *door);

void door_free(struct door *door);

void door_raise_limit(void);
