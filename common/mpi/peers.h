/* SPDX-License-Identifier: MIT */
/* What a rank knows about the state of the others: see peers.c. Independent of MPI. */
#pragma once

#include <stdbool.h>

/* Sorted by how much is still exchanged with the peer. */
enum peer_state {
    PEER_UNWATCHED,
    PEER_WATCHED,   /* the peer is alive; a detector reports its end */
    PEER_DISMISSED, /* like WATCHED, but an END has dismissed the peer; from this state on, nothing is sent to a peer */
    PEER_GONE,
    PEER_DIED,
    PEER_LEFT,
    PEER_CLOSED,  /* the peer has ended; its last messages and data are still accepted */
    PEER_EMPTIED, /* like CLOSED, but data are no longer accepted, because some were cancelled */
    /* This rank's machine has declared the peer lost, and is still to be told of the loss. From this state on nothing
     * is accepted from a peer. */
    PEER_FENCED,
    PEER_LOST,
};
#define PEER_STATES (PEER_LOST + 1)

enum peer_event {
    PEER_WATCH,
    PEER_DISMISS, /* an END has arrived, which also ends the other workers */
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
    unsigned char *state; /* [ranks] enum peer_state; owned; NULL: no peer is watched */
    unsigned ranks;
    unsigned ended;
    unsigned fenced;
};

int peers_init(struct peers *peers, unsigned ranks);
int peers_grow(struct peers *peers, unsigned ranks);
void peers_fini(struct peers *peers);

/* An illegal move ends the process. Returns true if the state changed. */
bool peers_move(struct peers *peers, unsigned rank, enum peer_event event);

/* Makes the peer CLOSED, so it is returned only once. `*in_order`: it left in order. */
bool peers_take_ended(struct peers *peers, unsigned *rank, bool *in_order);

/* Makes the peer LOST, so it is returned only once. */
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
