/* SPDX-License-Identifier: MIT */
/* A rank of a run, as the files of the runtime and the DCA topologies know it. */
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

/* A node, by the first of its ranks. */
struct node_name {
    unsigned first_rank;
    char name[PLACE_NAME_MAX];
};

struct runtime {
    const struct runtime_ops *ops;
    unsigned first_rank;  /* the number in the run of this launch's first rank: above 0 in a pod alone */
    unsigned rank, ranks; /* the number of this rank, and behind that of the launch's last */
    enum role role;
    carrier_comm world, node; /* node: once runtime_node() has made it; neither in a launch without MPI */
    struct lanes *lanes;      /* of a launch without MPI; owned; NULL: MPI has started it */
    struct hello *hellos; /* [ranks], owned; of a pod only those from first_rank on, and the supermaster's, are known */
    struct node_name *nodes; /* [node_count] of rank 0, in the order of their ranks; owned; NULL: not known */
    unsigned node_count;
    char *words; /* the job, `words_bytes` of them, owned */
    size_t words_bytes;
    char **word; /* [count + 1], owned */
    struct topology topology;
    bool grouped, prepared;
    bool exchanges; /* exchanges boundary data with other workers */
    bool over;      /* all ranks are through */
    bool degraded;  /* a rank of the run was lost: from now on nobody waits for all */
    bool has_end; /* END has been sent or received: from now on stopped ranks of this node are let go on, see rouse.c */
    uint64_t rouse_due_ns;
    struct peers peers; /* once runtime_drive() has begun */
    struct doorbell doorbell;
    struct watch watch;
    struct guard guard;
    struct heartbeat heartbeat;
    struct ulfm ulfm;
    struct streams *streams;              /* to launches of their own; borrowed; NULL: there are none */
    const struct stream_welcome *welcome; /* a pod's master's, until the ranks have their numbers; borrowed */
    struct event_base *base;              /* owned; NULL: the rank's waiting makes its own */
    struct net *net;                      /* the link's; borrowed; NULL unless machines are driven */
    const struct link *link;              /* likewise */
    bool (*link_needs)(const struct link *link, unsigned rank); /* of link.c; NULL: no machine is driven */
    bool cores_are_free;
    bool is_blind;           /* a pid is not the same process to all ranks of the node */
    bool can_run_heartbeats; /* each worker could run them while it computes */
    unsigned cores;
    unsigned node_cores;   /* cores that the ranks of this node may run on */
    bool sleeps_precisely; /* the timer's slack is set */
};

/* The number that MPI has for a rank of this launch. */
static inline int runtime_mpi_rank(const struct runtime *runtime, unsigned rank)
{
    return (int)(rank - runtime->first_rank);
}

/* True where MPI reaches the rank: others are in launches of their own, at the other end of a stream. */
static inline bool runtime_has_rank(const struct runtime *runtime, unsigned rank)
{
    return rank >= runtime->first_rank && rank < runtime->ranks;
}

/* Ends all ranks of this launch. Over MPI this may return. */
void runtime_abort(const struct runtime *runtime, int status);

/* Ends this process, as failed, without the others: nobody is to wait for it. */
_Noreturn void runtime_exit_alone(struct runtime *runtime);

/* The role of a rank of any launch. */
enum role runtime_role_of(const struct runtime *runtime, unsigned rank);

/* ops_mpi.c: what all ranks do together before they run. */
int runtime_prepare(struct runtime *runtime, struct error *error);

/* The ranks of this node, as a communicator. The first call is collective. */
carrier_comm runtime_node(struct runtime *runtime);

/* Returns when all ranks have called it, asleep; or, as the run is degraded then, when a peer has ended. */
void runtime_wait_for_all(struct runtime *runtime);

/* alone.c: losses among workers alone (--dca). */

/* True where all ranks are on this node, and each can watch the processes of the others. After runtime_prepare(). */
bool runtime_sees_all(const struct runtime *runtime);

/* Has a thread find losses from now on: at rank 0 of any other rank, at any other rank of rank 0. It calls `lost`,
 * which ends the process. Where runtime_sees_all(). -1 when memory, files or threads are out. */
int runtime_guard_alone(struct runtime *runtime, void (*lost)(void *context, unsigned rank), void *context);

/* True for the one rank of the node that says why the run ends. */
bool runtime_claim_report(struct runtime *runtime);
