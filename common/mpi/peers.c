/* SPDX-License-Identifier: MIT */
/* The state of the other ranks, as one rank sees it.
 *
 * Detectors report that a peer has ended: the system (watch.c), missing or final heartbeats (heartbeat.c), the MPI
 * library (ulfm.c), or the list of failures in a simulation. Messages change the state of a peer too: an END dismisses
 * workers, and a peer that sends something invalid may be declared lost. Each of these is an event here. The state
 * alone decides what is sent to a peer, what is accepted from it, and what the machine is told. So if two detectors
 * report the same end, it counts once. A peer never returns to an earlier state. A peer that was declared lost stays
 * lost, unless another process takes its place.
 *
 * Invariants: `ended` is the number of peers in the states DIED and LEFT; `fenced` is the number in the state FENCED.
 * Each peer becomes CLOSED or LOST at most once. */
#include "common/mpi/peers.h"

#include "common/os/say.h"
#include "common/util/grow.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const state_names[PEER_STATES] = {
    "unwatched", "watched", "dismissed", "gone", "died", "left", "closed", "emptied", "fenced", "lost",
};

static const char *const event_names[PEER_EVENTS] = {
    "is to be watched", "is sent away", "leaves", "dies", "is closed", "is emptied", "is fenced", "is lost", "returns",
};

enum { UNWATCHED, WATCHED, DISMISSED, GONE, DIED, LEFT, CLOSED, EMPTIED, FENCED, LOST, ILLEGAL };
static_assert((int)LOST == PEER_LOST && (int)LEFT == PEER_LEFT, "the table names the states in their order");

/* The next state for each event and state. If an end is reported a second time, nothing changes. The death of an
 * unwatched peer is ignored: if this rank watches the peer later, the detector reports the death again. */
/* clang-format off */
static const unsigned char moves[PEER_EVENTS][PEER_STATES] = {
    /*                UNWATCHED  WATCHED    DISMISSED  GONE     DIED     LEFT     CLOSED   EMPTIED  FENCED   LOST */
    [PEER_WATCH]   = {WATCHED,   WATCHED,   DISMISSED, LEFT,    DIED,    LEFT,    CLOSED,  EMPTIED, FENCED,  LOST},
    [PEER_DISMISS] = {GONE,      DISMISSED, DISMISSED, GONE,    DIED,    LEFT,    CLOSED,  EMPTIED, FENCED,  LOST},
    [PEER_LEAVES]  = {GONE,      LEFT,      LEFT,      GONE,    LEFT,    LEFT,    CLOSED,  EMPTIED, FENCED,  LOST},
    [PEER_DIES]    = {UNWATCHED, DIED,      DIED,      GONE,    DIED,    LEFT,    CLOSED,  EMPTIED, FENCED,  LOST},
    [PEER_CLOSE]   = {ILLEGAL,   ILLEGAL,   ILLEGAL,   ILLEGAL, CLOSED,  CLOSED,  ILLEGAL, ILLEGAL, ILLEGAL, ILLEGAL},
    [PEER_EMPTY]   = {ILLEGAL,   ILLEGAL,   ILLEGAL,   ILLEGAL, ILLEGAL, ILLEGAL, EMPTIED, ILLEGAL, ILLEGAL, ILLEGAL},
    [PEER_FENCE]   = {FENCED,    FENCED,    FENCED,    FENCED,  FENCED,  FENCED,  FENCED,  FENCED,  ILLEGAL, ILLEGAL},
    [PEER_LOSE]    = {ILLEGAL,   ILLEGAL,   ILLEGAL,   ILLEGAL, ILLEGAL, ILLEGAL, LOST,    ILLEGAL, LOST,    ILLEGAL},
    [PEER_RETURN]  = {ILLEGAL,   ILLEGAL,   ILLEGAL,   ILLEGAL, ILLEGAL, ILLEGAL, ILLEGAL, ILLEGAL, ILLEGAL, UNWATCHED},
};
/* clang-format on */

int peers_init(struct peers *peers, unsigned ranks)
{
    assert(ranks > 0);
    *peers = (struct peers){.state = calloc(ranks, sizeof *peers->state), .ranks = ranks};
    return peers->state != NULL ? 0 : -1;
}

int peers_grow(struct peers *peers, unsigned ranks)
{
    if (grow_to(&peers->state, peers->ranks, ranks, sizeof *peers->state) < 0)
        return -1;
    peers->ranks = ranks;
    return 0;
}

void peers_fini(struct peers *peers)
{
    free(peers->state);
    *peers = (struct peers){0};
}

const char *peers_state_name(enum peer_state state)
{
    return state_names[state];
}

static bool is_to_be_closed(enum peer_state state)
{
    return state == PEER_LEFT || state == PEER_DIED;
}

bool peers_move(struct peers *peers, unsigned rank, enum peer_event event)
{
    assert(rank < peers->ranks);
    const enum peer_state from = peers_state(peers, rank);
    if (moves[event][from] == ILLEGAL) {
        say(stderr, "hdss: peer of rank %u, which is %s, %s: this is a defect of HDSS", rank, state_names[from],
            event_names[event]);
        abort();
    }
    const enum peer_state to = (enum peer_state)moves[event][from];
    assert(to >= from || event == PEER_RETURN);
    peers->state[rank] = (unsigned char)to;
    peers->ended += is_to_be_closed(to);
    peers->ended -= is_to_be_closed(from);
    peers->fenced += to == PEER_FENCED;
    peers->fenced -= from == PEER_FENCED;
    return to != from;
}

static unsigned find_peer(const struct peers *peers, enum peer_state one, enum peer_state other)
{
    unsigned rank = 0;
    while (rank < peers->ranks && peers->state[rank] != one && peers->state[rank] != other)
        rank++;
    assert(rank < peers->ranks);
    return rank;
}

bool peers_take_ended(struct peers *peers, unsigned *rank, bool *in_order)
{
    if (peers->ended == 0)
        return false;
    *rank = find_peer(peers, PEER_DIED, PEER_LEFT);
    *in_order = peers_state(peers, *rank) == PEER_LEFT;
    peers_move(peers, *rank, PEER_CLOSE);
    assert(peers_check(peers));
    return true;
}

bool peers_take_fenced(struct peers *peers, unsigned *rank)
{
    if (peers->fenced == 0)
        return false;
    *rank = find_peer(peers, PEER_FENCED, PEER_FENCED);
    peers_move(peers, *rank, PEER_LOSE);
    assert(peers_check(peers));
    return true;
}

bool peers_check(const struct peers *peers)
{
    unsigned ended = 0, fenced = 0;
    for (unsigned i = 0; i < peers->ranks; i++) {
        if (peers->state[i] >= PEER_STATES)
            return false;
        ended += is_to_be_closed(peers_state(peers, i));
        fenced += peers->state[i] == PEER_FENCED;
    }
    return ended == peers->ended && fenced == peers->fenced;
}
