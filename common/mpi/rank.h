/* SPDX-License-Identifier: MIT */
/* A rank of a run, for the files of the runtime and of DCA. */
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

/* What becomes of a rank that was lost. */
enum comeback {
    COMEBACK_NONE,    /* it stays lost */
    COMEBACK_AWAITED, /* ask again */
    COMEBACK_DONE,    /* it has met this rank, and is to be watched */
};

struct node_name {
    unsigned first_rank;
    char name[PLACE_NAME_MAX];
};

struct runtime {
    const struct runtime_ops *ops;
    unsigned first_rank;  /* run-wide number of this launch's first rank: above 0 only in a pod */
    unsigned rank, ranks; /* run-wide: this rank, and the end of the launch's ranks */
    enum role role;
    carrier_comm world, node; /* node: after runtime_node(); neither without MPI */
    struct lanes *lanes;      /* of a launch without MPI; owned; NULL: MPI */
    struct hello *hellos; /* [ranks]; owned; in a pod only those from first_rank on, and the supermaster's, are known */
    struct node_name *nodes; /* [node_count] on rank 0, in the order of ranks; owned; may be NULL */
    unsigned node_count;
    char *words; /* the job, `words_bytes` in all; owned */
    size_t words_bytes;
    char **word; /* [count + 1]; owned */
    struct topology topology;
    bool grouped, prepared;
    bool exchanges; /* boundary data with other workers */
    bool over;      /* all ranks have finished */
    bool degraded;  /* a rank was lost: do not wait for all any more */
    bool has_end;   /* END was sent or received: stopped ranks of this node are now continued, see rouse.c */
    uint64_t rouse_due_ns;
    struct peers peers; /* after runtime_drive() has begun */
    struct doorbell doorbell;
    struct watch watch;
    struct guard guard;
    struct heartbeat heartbeat;
    struct ulfm ulfm;
    struct streams *streams;              /* to other launches; borrowed; may be NULL */
    const struct stream_welcome *welcome; /* of a pod's master, until ranks are renumbered; borrowed */
    struct event_base *base;              /* owned; may be NULL */
    struct net *net;                      /* the link's while machines are driven, else NULL; borrowed */
    const struct link *link;              /* the link's while machines are driven, else NULL; borrowed */
    bool (*link_needs)(const struct link *link, unsigned rank); /* of link.c while machines are driven, else NULL */
    /* Does the next step for a lost worker to return as another process. NULL: none returns. */
    enum comeback (*take_back)(struct runtime *runtime, unsigned rank);
    bool cores_are_free;
    bool is_blind;           /* a pid does not mean the same process for all ranks of the node */
    bool can_run_heartbeats; /* each worker can send heartbeats while it computes */
    unsigned cores;
    unsigned node_cores;   /* that the ranks of this node may use */
    bool sleeps_precisely; /* the timer slack is set */
};

/* MPI's number of a rank of this launch. */
static inline int runtime_mpi_rank(const struct runtime *runtime, unsigned rank)
{
    return (int)(rank - runtime->first_rank);
}

/* True if the rank belongs to this launch; others are reached by streams. */
static inline bool runtime_has_rank(const struct runtime *runtime, unsigned rank)
{
    return rank >= runtime->first_rank && rank < runtime->ranks;
}

/* Ends all ranks of this launch. May return with MPI. */
void runtime_abort(const struct runtime *runtime, int status);

/* Ends this process as failed; other ranks do not wait for it. */
_Noreturn void runtime_exit_alone(struct runtime *runtime);

/* The role of a rank of any launch. */
enum role runtime_role_of(const struct runtime *runtime, unsigned rank);

/* In ops_mpi.c: collective preparation. */
int runtime_prepare(struct runtime *runtime, struct error *error);

/* The ranks of this node as a communicator; the first call is collective. */
carrier_comm runtime_node(struct runtime *runtime);

/* Returns when all ranks have called it (they sleep meanwhile), or a peer has ended: the run is then degraded. */
void runtime_wait_for_all(struct runtime *runtime);

/* In alone.c: losses among workers without a supermaster (--dca). */

/* True if all ranks are on this node and can watch each other's processes; after runtime_prepare(). */
bool runtime_sees_all(const struct runtime *runtime);

/* Starts a thread that detects losses, on rank 0 of any other rank, on other ranks of rank 0; `lost` then ends the
 * process. Requires runtime_sees_all(). -1: out of memory, files or threads. */
int runtime_guard_alone(struct runtime *runtime, void (*lost)(void *context, unsigned rank), void *context);

/* True for exactly one rank of the node, which then prints why the run ends. */
bool runtime_claim_report(struct runtime *runtime);
