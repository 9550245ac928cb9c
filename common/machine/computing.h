/* SPDX-License-Identifier: MIT */
/* A rank that serves and computes: the machine of a supermaster or master, and that of a worker which it serves itself,
 * in one (--masters-compute). To a runtime it is one machine; the worker has the rank of the server.
 *
 * What the two send each other goes by a queue here, as bytes, and is handled in the step in which it is sent, in its
 * order; so it takes no time and no MPI. The events of the executor and of the core are the worker's, all others the
 * server's. Between two steps the queue is empty, but where a CUT or GROW is to be answered before any other event.
 *
 * The worker is lost with its server, as they are one process; but where the server drops its own worker, for what it
 * has computed, the rank goes on without one. Pure, as the two machines are; memory grows to what a step needs. Where
 * no sink takes the actions at once they are copied with what they borrow, as either machine may step several times. */
#pragma once

#include "common/machine/machine.h"

struct computing_copy;

struct computing {
    struct machine server, worker; /* borrowed: the two themselves */
    unsigned rank;                 /* of both */
    struct actions of_server, of_worker;
    struct action_sink server_sink, worker_sink;
    struct actions *out; /* of the step that is running */
    unsigned char *mail; /* entries from `first` to `end`; owned */
    size_t first, end, room;
    unsigned char *copied; /* what the actions of the step borrow, up to `copied_room` bytes; owned */
    size_t copied_bytes, copied_room;
    struct computing_copy *copies; /* what had no room there; owned */
    const struct message *handled; /* message of the worker that the server handles; NULL: none */
    bool has_begun;                /* the worker */
    bool has_left;                 /* the worker has left, or was dropped */
    bool is_dropped;               /* the server is still to be told */
    bool awaits_answer;            /* of a CUT or GROW */
};

/* `server` serves the rank as a worker, and `worker` has it as its master. `has_sink`: actions go to one at once. No
 * ordinary step allocates. -1 when memory is out, and nothing is owned. */
int computing_init(struct computing *computing, const struct machine *server, const struct machine *worker,
                   unsigned rank, bool has_sink);
void computing_fini(struct computing *computing);

/* The two as one. It traces what the server assigns. */
struct machine computing_machine(struct computing *computing);

/* Stops the program where the invariants of the queue, or of either machine, do not hold. */
void computing_check(const struct computing *computing);
