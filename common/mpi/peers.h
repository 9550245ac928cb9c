/* SPDX-License-Identifier: MIT */
/* What a rank knows about the state of the others: see peers.c. Independent of MPI. */
#pragma once

#include <stdbool.h>

/* In the order of what is still exchanged with the peer. */
enum peer_state {
    PEER_UNWATCHED, /* alive; its end does not concern this rank */
    PEER_WATCHED,   /* alive; a detector reports its end */
    /* From here on nothing is sent to it. */
    PEER_DISMISSED, /* watched; dismissed by an END */
    PEER_GONE,      /* unwatched; has left or was dismissed */
    PEER_DIED,      /* ended or silent; to be closed */
    PEER_LEFT,      /* ended in order; to be closed */
    PEER_CLOSED,    /* ended; its last messages and data are still accepted */
    PEER_EMPTIED,   /* ended in order; its last messages are accepted, its data are not: some were cancelled */
    /* From here on nothing is accepted from it. */
    PEER_FENCED, /* declared lost by this rank's machine, which has not been told of the loss yet */
    PEER_LOST,
};
#define PEER_STATES (PEER_LOST + 1)

enum peer_event {
    PEER_WATCH,   /* its end concerns this rank from now on */
    PEER_DISMISS, /* the END message for this rank has been forwarded */
    PEER_LEAVES,  /* detector: ended in order */
    PEER_DIES,    /* detector: ended or silent */
    PEER_CLOSE,   /* the loop handles its end */
    PEER_EMPTY,   /* the loop cancels data that it was to send */
    PEER_FENCE,   /* the machine declares it lost; its process may still exist */
    PEER_LOSE,    /* the machine is told of its loss */
    PEER_RETURN,  /* a lost rank is another process now, and as good as a new one */
};
#define PEER_EVENTS (PEER_RETURN + 1)

struct peers {
    unsigned char *state; /* [ranks] enum peer_state; owned; NULL: no peer is watched */
    unsigned ranks;
    unsigned ended;
    unsigned fenced;
};

int peers_init(struct peers *peers, unsigned ranks);
/* Extends the table to `ranks` in all. -1: out of memory, nothing changed. */
int peers_grow(struct peers *peers, unsigned ranks);
void peers_fini(struct peers *peers);

/* Changes a state; an illegal move is printed and ends the process. Returns whether the state changed. */
bool peers_move(struct peers *peers, unsigned rank, enum peer_event event);

/* Takes an ended peer, each once: it becomes CLOSED. `in_order`: it left. */
bool peers_take_ended(struct peers *peers, unsigned *rank, bool *in_order);

/* Takes a peer that this rank's machine declared lost, each once: it becomes LOST. */
bool peers_take_fenced(struct peers *peers, unsigned *rank);

/* True if the invariants hold: for assertions and tests. */
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

/* True if a detector must report the peer's end. */
static inline bool peers_is_watched(const struct peers *peers, unsigned rank)
{
    return peers->state[rank] == PEER_WATCHED || peers->state[rank] == PEER_DISMISSED;
}
