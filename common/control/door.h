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

/* Returns true if clients have used up their share of this turn. If they have, also interrupts the event loop, so that
 * the other events of clients wait for the next turn. */
bool door_rest(struct door_share *share);

/* A client is disconnected if it reads nothing for this time although an answer is pending. */
#define DOOR_STUCK_S 10

enum door_kind {
    DOOR_OWN,
    DOOR_TCP,
};

struct door;

/* Serves at the socket `fd`; `share` is borrowed. The door owns `fd`, even if this function fails. */
struct door *door_new(enum door_kind kind, int fd, struct door_share *share,
                      void (*on_request)(struct evhttp_request *request, void *context), void *context);

/* Replaces the listening socket by `fd`, and always takes ownership of `fd`. If memory runs out, keeps the old socket
 * and returns false. */
bool door_move(struct door *door, int fd);

/* Checks whether the client may send this request. Returns 0 if it may. Otherwise returns the HTTP status 401 or 403,
 * and sets `*text`. */
int door_refusal(struct evhttp_request *request, const struct address *address, const struct bearer *bearer,
                 const char **text);

struct door_stay {
    size_t untaken; /* number of bytes of the answer that the client had not read at the last check; initially 0 */
    unsigned idle_ms;
};

/* Keeps the client connected without reading its further requests. Later the caller must call door_end(), or
 * door_let_go() if door_takes() has returned false. */
void door_let_stay(struct evhttp_request *request);

/* Checks a client that was passed to door_let_stay(). Must be called every `turn_ms`. Returns false if the client has
 * disconnected. Also returns false if an answer is pending and the client has read nothing for DOOR_STUCK_S. If this
 * process was suspended, the check is late, but the client is charged for only one turn. */
bool door_takes(struct door_stay *stay, struct evhttp_request *request, unsigned turn_ms);

/* Sends the rest of the answer, for at most DOOR_STUCK_S. After that the client may send further requests. */
void door_end(struct evhttp_request *request);

void door_let_go(struct evhttp_request *request);

/* Accepts all clients that are waiting to connect. `share->is_whole` must be set; otherwise the share of a turn limits
 * how many clients are accepted. `door` may be NULL. */
void door_admit_all(struct door *door);

void door_free(struct door *door);

void door_raise_limit(void);
