/* SPDX-License-Identifier: MIT */
/* A rank that both serves and computes (--masters-compute): the machine of a supermaster or master, combined with the
 * machine of a worker that it serves. The runtime sees one machine. The worker has the rank of the server.
 *
 * The two machines exchange messages, as bytes, through an internal queue. A step delivers all messages of the queue in
 * order before it ends. The only exception: if the runtime must first answer a CUT or GROW, the rest of the queue waits
 * for that answer. Events of the executor and the core go to the worker, all others to the server.
 *
 * If the worker sends something invalid, the server drops it, and the rank continues without a worker. If there is no
 * sink, actions are stored together with copies of all data that they borrow, because each machine may make several
 * steps. */
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
    unsigned char *copied; /* [copied_room] copies of the data that the actions of a step borrow; owned */
    size_t copied_bytes, copied_room;
    struct computing_copy *copies; /* copies that did not fit into `copied`; owned */
    const struct message *handled;
    bool has_begun;
    bool has_left;
    bool is_dropped; /* the server has dropped the worker, but has not received EVENT_RANK_LOST for it yet */
    bool awaits_answer;
};

/* `server` serves `worker`, which has the same rank. `has_sink`: actions go to a sink; ordinary steps then allocate no
 * memory. If memory runs out, returns -1, and nothing is owned. */
int computing_init(struct computing *computing, const struct machine *server, const struct machine *worker,
                   unsigned rank, bool has_sink);
void computing_fini(struct computing *computing);

struct machine computing_machine(struct computing *computing);

void computing_check(const struct computing *computing);
