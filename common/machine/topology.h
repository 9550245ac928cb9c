/* SPDX-License-Identifier: MIT */
/* Assignment of workers to masters: the line-up of a launch, checked, and its workers dealt out to its masters. */
#pragma once

#include "common/util/error.h"
#include "proto/message.h"

#include <stdbool.h>

/* Stands for a rank where there is none. */
#define NO_RANK UINT32_MAX

/* Ranks are those of the launch. Workers and masters are also numbered among themselves, from 0 in rank order; the
 * workers of one master follow one another in `served`. */
struct topology {
    unsigned ranks;       /* all have numbers below */
    unsigned supermaster; /* rank */
    unsigned masters, workers, nodes;
    unsigned launched; /* masters of the launch; those behind them have joined, and their workers know nobody else */
    unsigned *master_rank; /* [masters] */
    unsigned *worker_rank; /* [workers] */
    unsigned *worker_node; /* [workers] numbers of nodes, from 0 in the order of their first ranks */
    unsigned *node_rank;   /* [nodes] the rank by which a node is known, see topology_append() */
    unsigned *master_of;   /* [workers] index of the worker's master; 0 in the central topology */
    unsigned *served;      /* [workers] worker indices, sorted by master */
    unsigned *served_rank; /* [workers] ranks of `served`, beside one another for who goes through a master's workers */
    unsigned *served_first; /* [masters + 1] where the workers of a master begin in `served` */
};

/* Checks the hellos (one per rank, in rank order): versions, roles, counts. Returns an enum exit_status: DONE when the
 * line-up can run, USAGE with one line in `error` when it cannot, or the status that a rank's hello asks for, with an
 * empty line (that rank has said why). HELLO_STATUS_HELP is returned as it is. */
int topology_check(const struct hello *hellos, unsigned ranks, struct error *error);

/* How workers are grouped. */
enum topology_grouping {
    TOPOLOGY_EVENLY = 0,
    TOPOLOGY_BY_NODE = 1, /* a worker goes to a master of its own node where there is one, evenly */
    TOPOLOGY_MASTERS_COMPUTE =
        2, /* whoever serves workers, the masters or the supermaster alone, is one of them, too */
};

/* Builds the topology of hellos that topology_check() has accepted; `grouping` is a set of enum topology_grouping.
 * Workers for whom that names no master are dealt out so that the masters' counts differ as little as they can. -1
 * when memory is out. */
int topology_init(struct topology *topology, const struct hello *hellos, unsigned ranks, unsigned grouping);
void topology_fini(struct topology *topology);

/* Copies a topology. -1 when memory is out. */
int topology_copy(struct topology *copy, const struct topology *topology);

/* Appends a pod: a master, `first_rank`, which lies behind all ranks that are there, and its workers, `count` ranks on
 * the node that is known by `node_rank`: the first rank that the launch has there, or else that the first pod there
 * had, which may have left since, or may never have been in this topology. No rank and no index of a worker, master or
 * node that was there changes. Not in the central topology. -1 when memory is out: nothing but the room has changed. */
int topology_append(struct topology *topology, unsigned first_rank, unsigned count, unsigned node_rank);

/* Builds the topology as the ranks of a pod know it: the supermaster, rank 0, and themselves. -1 when memory is out. */
int topology_init_pod(struct topology *topology, unsigned first_rank, unsigned count);

/* Worker indices of master `m`: topology->served[first] .. served[first + count - 1]. */
static inline unsigned topology_first(const struct topology *topology, unsigned m)
{
    return topology->served_first[m];
}

static inline unsigned topology_count(const struct topology *topology, unsigned m)
{
    return topology->served_first[m + 1] - topology->served_first[m];
}

/* Writes the ranks of the workers of master `m`, sorted, to `ranks`, which has room for topology_count() of them. */
void topology_served_ranks(const struct topology *topology, unsigned m, unsigned *ranks);

/* True where the supermaster serves all workers itself. Without a worker it is not so: all that come have a master. */
static inline bool topology_is_central(const struct topology *topology)
{
    return topology->masters == 0 && topology->workers > 0;
}

/* True if worker `w` has joined in a pod: it goes where its master goes. */
static inline bool topology_is_in_pod(const struct topology *topology, unsigned w)
{
    return topology->masters > topology->launched && topology->master_of[w] >= topology->launched;
}

/* True where the rank serves workers and is one of them. */
bool topology_does_both(const struct topology *topology, unsigned rank);

/* True for the ranks of a pod. */
bool topology_has_joined(const struct topology *topology, unsigned rank);

/* Index among the masters or workers of a rank; the count of them where the rank is none. */
unsigned topology_master(const struct topology *topology, unsigned rank);
unsigned topology_worker(const struct topology *topology, unsigned rank);
