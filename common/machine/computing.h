/* SPDX-License-Identifier: MIT */
/* A rank that serves and computes: the machine of a supermaster or master combined with that of a worker that it serves
 * (--masters-compute). The runtime sees one machine; the worker has the server's rank.
 *
 * Messages between the two go through an internal queue, as bytes, and are handled in order in the same step, so they
 * take no time and no MPI. Events of the executor and the core belong to the worker, all others to the server. Between
 * two steps the queue is empty, unless a CUT or GROW must be answered first.
 *
 * The worker is lost with its server, because they are one process; but if the server drops its own worker, because of
 * its results, the rank continues without one. Pure, like both machines; memory grows to what a step needs. Without a
 * sink, actions are copied with everything they borrow, because either machine may step several times. */
#pragma once

#include "common/machine/machine.h"

struct computing_copy;

struct computing {
    struct machine server, worker; /* borrowed */
    unsigned rank;
    struct actions of_server, of_worker;
    struct action_sink server_sink, worker_sink;
    struct actions *out;
    unsigned char *mail;
    size_t first, end, room;
    unsigned char *copied; /* [copied_room] copies of what the actions of a step borrow; owned */
    size_t copied_bytes, copied_room;
    struct computing_copy *copies; /* list of the copies that did not fit into `copied`; owned */
    const struct message *handled; /* the worker's message that the server is handling; NULL: none */
    bool has_begun;
    bool has_left;
    bool is_dropped;    /* the server dropped the worker, and still has to get the EVENT_RANK_LOST for it */
    bool awaits_answer; /* a machine waits for the result of a CUT or GROW */
};

/* `server` is the machine that serves `worker`, under the rank's own number. `has_sink`: actions go to a sink. Ordinary
 * steps do not allocate. -1: out of memory, nothing is owned. */
int computing_init(struct computing *computing, const struct machine *server, const struct machine *worker,
                   unsigned rank, bool has_sink);
void computing_fini(struct computing *computing);

/* Returns the combined machine, which traces what the server assigns. */
struct machine computing_machine(struct computing *computing);

void computing_check(const struct computing *computing);
