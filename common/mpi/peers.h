/* SPDX-License-Identifier: MIT */
/* The table in which a rank keeps what it knows of the lives of the others: see peers.c. Nothing here knows of MPI. */
#pragma once

#include <stdbool.h>

/* States, in the order of what is still exchanged with the peer. */
enum peer_state {
    PEER_UNWATCHED, /* lives, and this rank need not know of its end */
    PEER_WATCHED,   /* lives, and a detector tells of its end */
    /* from here on nothing is sent to it */
    PEER_DISMISSED, /* watched; an END sends it away */
    PEER_GONE,      /* unwatched, and has left or been sent away */
    PEER_DIED,      /* has ended, or is silent; to be closed */
    PEER_LEFT,      /* has ended in order; to be closed */
    PEER_CLOSED,    /* has ended; what has come from it is still taken */
    /* from here on nothing is taken from it */
    PEER_FENCED, /* taken for lost by this rank's machine, which is to be told of the loss */
    PEER_LOST,
};
#define PEER_STATES (PEER_LOST + 1)

enum peer_event {
    PEER_WATCH,   /* the end of the peer concerns this rank from now on */
    PEER_DISMISS, /* an END to it has come by here */
    PEER_LEAVES,  /* a detector: it has ended in order */
    PEER_DIES,    /* a detector: it has ended, or is silent */
    PEER_CLOSE,   /* the loop deals with its end */
    PEER_FENCE,   /* the machine takes it for lost, though its process may be there */
    PEER_LOSE,    /* the machine is told of its loss */
};
#define PEER_EVENTS (PEER_LOSE + 1)

struct peers {
    unsigned char *state; /* [ranks] enum peer_state; owned; NULL: nobody is watched */
    unsigned ranks;
    unsigned ended;  /* peers that are LEFT or DIED */
    unsigned fenced; /* peers that are FENCED */
};

/* -1 when memory is out. */
int peers_init(struct peers *peers, unsigned ranks);
/* Ranks have come behind those that there are: `ranks` in all. -1 when memory is out: nothing has changed. */
int peers_grow(struct peers *peers, unsigned ranks);
void peers_fini(struct peers *peers);

/* Changes a state; there is no other way. A move that is not in the table is a defect: it is named, and ends the
 * process. Returns whether the state is another. */
bool peers_move(struct peers *peers, unsigned rank, enum peer_event event);

/* Takes a peer that has ended, each once: it is CLOSED then. `in_order`: the peer has left. */
bool peers_take_ended(struct peers *peers, unsigned *rank, bool *in_order);

/* A peer that this rank's machine took for lost, each once: it is LOST then. */
bool peers_take_fenced(struct peers *peers, unsigned *rank);

/* True where the invariants of the table hold: for assertions and tests. */
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

/* True where a detector is to tell of the peer's end. */
static inline bool peers_is_watched(const struct peers *peers, unsigned rank)
{
    return peers->state[rank] == PEER_WATCHED || peers->state[rank] == PEER_DISMISSED;
}
