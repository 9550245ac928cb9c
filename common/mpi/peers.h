/* SPDX-License-Identifier: MIT */
/* What a rank knows about the state of the others: see peers.c. Independent of MPI. */
#pragma once

#include <stdbool.h>

/* Sorted by how much is still exchanged with the peer. */
enum peer_state {
    PEER_UNWATCHED, /* the peer is alive; its end does not concern this rank */
    PEER_WATCHED,   /* the peer is alive; a detector reports its end */
    PEER_DISMISSED, /* like WATCHED, but an END has dismissed the peer. From here on nothing is sent to a peer. */
    PEER_GONE,      /* the peer has left or was dismissed, and is not watched */
    PEER_DIED,      /* the peer has ended or is silent, and must be closed */
    PEER_LEFT,      /* the peer has ended in order, and must be closed */
    PEER_CLOSED,    /* the peer has ended; its last messages and data are still accepted */
    PEER_EMPTIED,   /* like CLOSED, but data are no longer accepted, because some were cancelled */
    PEER_FENCED,    /* this rank's machine has declared the peer lost, and is still to be told of the loss. From here on
                       nothing is accepted from a peer. */
    PEER_LOST,
};
#define PEER_STATES (PEER_LOST + 1)

enum peer_event {
    PEER_WATCH,
    PEER_DISMISS, /* an END for this rank has been forwarded */
    PEER_LEAVES,
    PEER_DIES,
    PEER_CLOSE,
    PEER_EMPTY,  /* the loop cancels data that the peer was to send */
    PEER_FENCE,  /* the machine declares the peer lost; its process may still exist */
    PEER_LOSE,   /* the machine is told of the loss */
    PEER_RETURN, /* another process takes the place of a lost rank */
};
#define PEER_EVENTS (PEER_RETURN + 1)

struct peers {
    unsigned char *state; /* [ranks] enum peer_state; owned; NULL: no peer is watched */
    unsigned ranks;
    unsigned ended;
    unsigned fenced;
};

int peers_init(struct peers *peers, unsigned ranks);
int peers_grow(struct peers *peers, unsigned ranks);
void peers_fini(struct peers *peers);

/* Changes a state. An illegal move is printed and ends the process. Returns whether the state changed. */
bool peers_move(struct peers *peers, unsigned rank, enum peer_event event);

/* Returns an ended peer, each peer once, and makes it CLOSED. Sets `*in_order` to whether it left in order. */
bool peers_take_ended(struct peers *peers, unsigned *rank, bool *in_order);

/* Returns a peer that this rank's machine declared lost, each peer once, and makes it LOST. */
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
