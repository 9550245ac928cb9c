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
    unsigned first_rank;  /* number of this launch's first rank among all launches; above 0 only in a pod */
    unsigned rank, ranks; /* also counted among all launches; the launch has the ranks [first_rank, ranks) */
    enum role role;
    carrier_comm world, node; /* `node` is valid after runtime_node() */
    struct lanes *lanes;      /* carry the messages of a launch without MPI; owned; NULL: the launch uses MPI */
    struct hello *hellos; /* [ranks]; owned; a pod only has those of the supermaster and of ranks from first_rank on */
    struct node_name *nodes; /* [node_count] on rank 0, sorted by rank; owned; may be NULL */
    unsigned node_count;
    char *words; /* the words of the job, each with a NUL, `words_bytes` in all; owned */
    size_t words_bytes;
    char **word; /* [count + 1] pointers into `words`, then NULL; owned */
    struct topology topology;
    bool grouped, prepared;
    bool exchanges;
    bool over;
    bool degraded;
    bool has_end; /* END was sent or received; from now on stopped ranks of this node are continued: see rouse.c */
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
    /* NULL unless machines are driven, like `net` and `link`. */
    bool (*link_needs)(const struct link *link, unsigned rank);
    /* Does the next step by which another process takes the place of a lost worker. NULL: no worker returns. */
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

/* Ends all ranks of this launch. May return with MPI. */
void runtime_abort(const struct runtime *runtime, int status);

_Noreturn void runtime_exit_alone(struct runtime *runtime);

enum role runtime_role_of(const struct runtime *runtime, unsigned rank);

int runtime_prepare(struct runtime *runtime, struct error *error);

/* The first call is collective. */
carrier_comm runtime_node(struct runtime *runtime);

/* Returns after all ranks have called it, or after a peer has ended: the run is then degraded. */
void runtime_wait_for_all(struct runtime *runtime);

/* Are all ranks on this node, able to watch each other's processes? Valid after runtime_prepare(). */
bool runtime_sees_all(const struct runtime *runtime);

/* Starts a thread that detects the loss of a rank: rank 0 watches all others, and the others watch rank 0. `lost` must
 * end the process. Requires runtime_sees_all(). -1: out of memory, files or threads. */
int runtime_guard_alone(struct runtime *runtime, void (*lost)(void *context, unsigned rank), void *context);

/* Returns true for exactly one rank of the node. */
bool runtime_claim_report(struct runtime *runtime);
