/* SPDX-License-Identifier: MIT */
/* A way in for clients of the control socket: somebody who listens, evhttp behind it, and how many are let in. The
 * socket of the user is one, a port that --http asks for another; both have the limits of docs/CONTROL.md. */
#pragma once

#include "common/config/address.h"
#include "common/control/bearer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;
struct event_base;
struct evhttp_request;

/* The time that clients get, of whatever door: a part of each turn. */
struct door_share {
    struct event_base *base; /* borrowed */
    uint64_t began_ns;
    bool is_whole; /* the run is over: clients get all of the time */
};

/* Has the timer expire after so many microseconds, once. */
void door_set_timer(struct event *timer, long us);

/* Breaks the loop off where clients have had their share of this turn; what is ready then stays so. True where it has.
 */
bool door_rest(struct door_share *share);

/* Seconds after which a client that takes nothing of a long answer is let go. */
#define DOOR_STUCK_S 10

enum door_kind {
    DOOR_OWN, /* a Unix socket: clients are this user's or root's, or are not listened to */
    DOOR_TCP, /* a port: anybody can connect, and few may send at a time */
};

struct door;

/* Serves at the socket, which listens and is the door's from then on, also where this fails. `share` is borrowed. NULL
 * when memory is out. */
struct door *door_new(enum door_kind kind, int fd, struct door_share *share,
                      void (*on_request)(struct evhttp_request *request, void *context), void *context);

/* Serves at this socket from then on, in the place of the one before. It is the door's, also where this fails: then the
 * door serves at the one before. False when memory is out. */
bool door_move(struct door *door, int fd);

/* The status of the answer, 401 or 403 with one line, to a request that has come by the port at this address and does
 * not name this machine where nobody else can connect, or does not show the token. 0 where it may ask. */
int door_refusal(struct evhttp_request *request, const struct address *address, const struct bearer *bearer,
                 const char **text);

/* A client that stays, as the last look has found it. Zeros: it was not looked at yet. */
struct door_stay {
    size_t untaken;   /* bytes of its answer */
    unsigned idle_ms; /* for which it has taken none of these */
};

/* Lets the client of the request, whose answer is sent in pieces, stay connected until door_end(), or door_let_go()
 * where door_takes() says that it is stuck. What it sends meanwhile is not taken. */
void door_let_stay(struct evhttp_request *request);

/* Looks at a client that stays, which is to be done every `turn_ms`. False where it has gone, or some of the answer is
 * there and it has taken nothing for DOOR_STUCK_S. A look that comes late counts as any other: where the server itself
 * stood still its clients were not stuck. */
bool door_takes(struct door_stay *stay, struct evhttp_request *request, unsigned turn_ms);

/* Ends the answer of a client that stays. What is there goes out, unless it takes nothing for DOOR_STUCK_S; then it may
 * ask again, as any other. */
void door_end(struct evhttp_request *request);

/* Ends the connection at once, and frees the request. */
void door_let_go(struct evhttp_request *request);

/* Accepts whoever has connected, without a pause, where the share is whole. NULL is fine. */
void door_admit_all(struct door *door);

/* Ends all connections. NULL is fine. */
void door_free(struct door *door);

/* Has clients find descriptors that the run does not need. */
void door_raise_limit(void);
