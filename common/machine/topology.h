/* SPDX-License-Identifier: MIT */
/* The ranks of a launch with their roles and nodes, and which master serves which worker. */
#pragma once

#include "common/util/error.h"
#include "proto/message.h"

#include <stdbool.h>

#define NO_RANK UINT32_MAX

/* Each array has one element for each master, for each worker, or for each node. Masters and workers are counted from 0
 * in the order of their ranks. The workers of a master are adjacent in `served`. */
struct topology {
    unsigned ranks;
    unsigned supermaster;
    unsigned masters, workers, nodes;
    /* number of masters that were launched with the supermaster; masters after these have joined with workers of their
     * own */
    unsigned launched;
    unsigned *master_rank;
    unsigned *worker_rank;
    /* the node number of each worker; nodes are counted from 0 in the order of their first ranks */
    unsigned *worker_node;
    unsigned *node_rank; /* rank that identifies a node: see topology_append() */
    unsigned *master_of;
    unsigned *served; /* indices of the workers, sorted by master; `served_rank` has the ranks of these workers */
    unsigned *served_rank;
    unsigned *served_first; /* [masters + 1] index in `served` of each master's first worker */
};

/* Checks versions, roles and counts in the hellos, of which there is one per rank, in order. If a rank has reported a
 * status in its hello, returns that status without an error, because that rank has printed the reason. Otherwise
 * returns EXIT_STATUS_DONE, or EXIT_STATUS_USAGE with an error. HELLO_STATUS_HELP is returned unchanged. */
int topology_check(const struct hello *hellos, unsigned ranks, struct error *error);

enum topology_grouping {
    TOPOLOGY_EVENLY = 0,
    TOPOLOGY_BY_NODE = 1,
    TOPOLOGY_MASTERS_COMPUTE = 2,
};

/* Builds the topology from hellos that topology_check() has accepted. `grouping`: a set of enum topology_grouping.
 * Workers that the grouping does not assign are divided evenly among the masters. */
int topology_init(struct topology *topology, const struct hello *hellos, unsigned ranks, unsigned grouping);
void topology_fini(struct topology *topology);

int topology_check_workers(const struct topology *topology, bool listens, struct error *error);

int topology_copy(struct topology *copy, const struct topology *topology);

/* Appends a pod: a master with rank `first_rank` and its workers, `count` ranks in all. `first_rank` must be above all
 * present ranks, and the topology must not be central. `node_rank` identifies the pod's node. It is the first rank of
 * the launch on that node. If the launch has none there, it is the first rank of the first pod there. That pod may have
 * left, or may never have been in this topology. Existing ranks and indices do not change. Returns -1 if memory runs
 * out; the topology is then unchanged except for its capacity. */
int topology_append(struct topology *topology, unsigned first_rank, unsigned count, unsigned node_rank);

int topology_init_pod(struct topology *topology, unsigned first_rank, unsigned count);

static inline unsigned topology_first(const struct topology *topology, unsigned m)
{
    return topology->served_first[m];
}

static inline unsigned topology_count(const struct topology *topology, unsigned m)
{
    return topology->served_first[m + 1] - topology->served_first[m];
}

/* Lists the ranks that master m serves, in ascending order. `ranks` has room for topology_count() ranks. */
void topology_served_ranks(const struct topology *topology, unsigned m, unsigned *ranks);

/* True if the supermaster serves all workers itself. False if there are no workers yet: workers that join later have
 * masters of their own. */
static inline bool topology_is_central(const struct topology *topology)
{
    return topology->masters == 0 && topology->workers > 0;
}

static inline bool topology_is_in_pod(const struct topology *topology, unsigned w)
{
    return topology->masters > topology->launched && topology->master_of[w] >= topology->launched;
}

bool topology_does_both(const struct topology *topology, unsigned rank);

bool topology_has_joined(const struct topology *topology, unsigned rank);

/* These two functions return the index of a rank among the masters, or among the workers. For any other rank they
 * return the number of masters or workers. */
unsigned topology_master(const struct topology *topology, unsigned rank);
unsigned topology_worker(const struct topology *topology, unsigned rank);

unsigned topology_beside(const struct topology *topology, unsigned w);
