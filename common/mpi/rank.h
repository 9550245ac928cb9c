/* SPDX-License-Identifier: MIT */
/* What a rank knows of its run (struct runtime), for the files of the runtime and of DCA. */
#pragma once

#include "common/carrier/carrier.h"
#include "common/machine/topology.h"
#include "common/mpi/doorbell.h"
#include "common/mpi/guard.h"
#include "common/mpi/peers.h"
#include "common/mpi/place.h"
#include "common/mpi/pulse.h"
#include "common/mpi/ulfm.h"
#include "common/mpi/watch.h"
#include "common/util/error.h"
#include "proto/message.h"

#include <stdbool.h>

enum comeback {
    COMEBACK_NONE,
    COMEBACK_AWAITED,
    COMEBACK_DONE,
};

struct node_name {
    unsigned first_rank;
    char name[PLACE_NAME_MAX];
};

struct runtime {
    const struct runtime_ops *ops;
    /* number of this launch's first rank among the ranks of all launches of the set; above 0 only in a pod */
    unsigned first_rank;
    /* numbers among the ranks of all launches, like `first_rank`; this launch has the ranks [first_rank, ranks) */
    unsigned rank, ranks;
    enum role role;
    carrier_comm world, node; /* `node` is valid after runtime_node() */
    /* the lanes of a launch without MPI, which carry its messages; owned; NULL in a launch with MPI */
    struct lanes *lanes;
    /* [ranks] owned; in a pod only the hellos of the supermaster and of the pod's ranks are known */
    struct hello *hellos;
    struct node_name *nodes; /* [node_count] known on rank 0 only, sorted by first rank; owned; may be NULL */
    unsigned node_count;
    char *words; /* words of the job's command line, each with a NUL; together they have `words_bytes` bytes; owned */
    size_t words_bytes;
    char **word; /* [count + 1] pointers to the words in `words`, then NULL; owned */
    struct topology topology;
    bool grouped, prepared;
    bool exchanges;
    bool over;
    bool degraded;
    /* an END was sent or received; from then on this rank continues stopped ranks of its node: see rouse.c */
    bool has_end;
    uint64_t rouse_due_ns;
    struct peers peers; /* valid after watch_all() of struct runtime_ops */
    struct doorbell doorbell;
    struct watch watch;
    struct guard guard;
    struct heartbeat heartbeat;
    struct ulfm ulfm;
    struct streams *streams;
    const struct stream_welcome *welcome;
    struct event_base *base;
    struct net *net;
    const struct link *link;
    /* `net`, `link` and `link_needs` are NULL unless a link is open. `link_needs`: see link_needs() in link.c. */
    bool (*link_needs)(const struct link *link, unsigned rank);
    /* Does the next step of replacing a lost worker by another process. The pointer is NULL if no worker can be
     * replaced. */
    enum comeback (*take_back)(struct runtime *runtime, unsigned rank);
    bool cores_are_free;
    bool is_blind;
    bool can_run_heartbeats;
    unsigned cores;
    unsigned node_cores;
    bool sleeps_precisely;
};

static inline int runtime_mpi_rank(const struct runtime *runtime, unsigned rank)
{
    return (int)(rank - runtime->first_rank);
}

static inline bool runtime_has_rank(const struct runtime *runtime, unsigned rank)
{
    return rank >= runtime->first_rank && rank < runtime->ranks;
}

/* Ends all ranks of this launch. With MPI this function may return before this rank ends. */
void runtime_abort(const struct runtime *runtime, int status);

_Noreturn void runtime_exit_alone(struct runtime *runtime);

enum role runtime_role_of(const struct runtime *runtime, unsigned rank);

int runtime_prepare(struct runtime *runtime, struct error *error);

/* Returns the communicator of this node's ranks. The first call is collective. */
carrier_comm runtime_node(struct runtime *runtime);

/* Waits until all ranks have called this function. If a peer ends before that, stops waiting and marks the run as
 * degraded. */
void runtime_wait_for_all(struct runtime *runtime);

/* Are all ranks on this node, and can they watch each other's processes? The result is valid after runtime_prepare().
 */
bool runtime_sees_all(const struct runtime *runtime);

/* Starts a thread that detects lost ranks. In rank 0 it watches all others; in each other rank it watches rank 0.
 * `lost` must end the process. Requires runtime_sees_all(). Returns -1 if memory, files or threads run out. */
int runtime_guard_alone(struct runtime *runtime, void (*lost)(void *context, unsigned rank), void *context);

/* Returns true in exactly one rank of the node, which then prints that the supermaster was lost. */
bool runtime_claim_report(struct runtime *runtime);
