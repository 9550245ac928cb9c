/* SPDX-License-Identifier: MIT */
/* What a rank knows about the state of the others: see peers.c. Independent of MPI. */
#pragma once

#include <stdbool.h>

/* The states of a peer. In each state no more is exchanged with the peer than in the states before it. */
enum peer_state {
    PEER_UNWATCHED,
    PEER_WATCHED, /* the peer is alive, and a detector will report its end */
    /* like WATCHED, but an END has dismissed the peer. From this state on, nothing is sent to the peer. */
    PEER_DISMISSED,
    PEER_GONE,
    PEER_DIED,
    PEER_LEFT,
    PEER_CLOSED, /* the peer has ended; its last messages and data are still accepted */
    /* like CLOSED, but a receive of data from the peer was cancelled, so no more data messages are accepted from it */
    PEER_EMPTIED,
    /* This rank has declared the peer lost, and will tell its machines. From this state on, nothing is accepted from
     * the peer. */
    PEER_FENCED,
    PEER_LOST,
};
#define PEER_STATES (PEER_LOST + 1)

enum peer_event {
    PEER_WATCH,
    PEER_DISMISS, /* this rank has received an END, which dismisses the other workers too */
    PEER_LEAVES,
    PEER_DIES,
    PEER_CLOSE,
    PEER_EMPTY,
    PEER_FENCE,
    PEER_LOSE,
    PEER_RETURN,
};
#define PEER_EVENTS (PEER_RETURN + 1)

struct peers {
    unsigned char *state; /* [ranks] the state of each peer, an enum peer_state; owned; NULL before peers_init() */
    unsigned ranks;
    unsigned ended;
    unsigned fenced;
};

int peers_init(struct peers *peers, unsigned ranks);
int peers_grow(struct peers *peers, unsigned ranks);
void peers_fini(struct peers *peers);

/* Changes the state of a peer. Returns true if it changed. An event that is illegal in the present state ends the
 * process. */
bool peers_move(struct peers *peers, unsigned rank, enum peer_event event);

/* Takes a peer that has died or left, and makes it CLOSED, so that it is not taken again. Sets `*in_order` to whether
 * the peer has left in order. Returns false if there is no such peer. */
bool peers_take_ended(struct peers *peers, unsigned *rank, bool *in_order);

/* Takes a peer that was declared lost. Makes it LOST, so it is not taken again. Returns false if there is no such peer.
 */
bool peers_take_fenced(struct peers *peers, unsigned *rank);

bool peers_check(const struct peers *peers);

const char *peers_state_name(enum peer_state state);

static inline enum peer_state peers_state(const struct peers *peers, unsigned rank)
{
    return (enum peer_state)peers->state[rank];
}

static inline bool peers_can_send(const struct peers *peers, unsigned rank)
{
    return peers->state[rank] < PEER_DISMISSED;
}

static inline bool peers_can_receive(const struct peers *peers, unsigned rank)
{
    return peers->state[rank] < PEER_FENCED;
}

static inline bool peers_can_receive_data(const struct peers *peers, unsigned rank)
{
    return peers->state[rank] < PEER_EMPTIED;
}

static inline bool peers_is_watched(const struct peers *peers, unsigned rank)
{
    return peers->state[rank] == PEER_WATCHED || peers->state[rank] == PEER_DISMISSED;
}
