/* SPDX-License-Identifier: MIT */
/* The placement of the ranks of a simulated run: each on a core of its own, a worker of several threads on as many
 * cores of one node.
 *
 * Rank 0 is the supermaster, then come the masters, then the workers. The cores are taken node by node: the
 * supermaster, then each master and, behind it, its share of the workers, so that a master is beside its first ones. Of
 * a platform that has more nodes than are needed those are taken that are spread evenly over it: fast and slow nodes,
 * and sites, have their share in every run. */
#pragma once

#include "common/util/error.h"
#include "deploy/simulate/platforms/platform.h"

struct placement {
    unsigned ranks, masters, workers;
    unsigned threads;        /* cores of each worker */
    unsigned nodes;          /* nodes that the run uses */
    unsigned *node_of;       /* [ranks] node of each, from 0 among those that are used; owned */
    unsigned *platform_node; /* [nodes] number of the node in the platform; owned */
    double *speed;           /* [nodes] speed of its cores; owned */
};

/* -1 with one line where the platform has fewer cores than there are ranks, or memory is out. */
int placement_init(struct placement *placement, const struct platform *platform, unsigned masters, unsigned workers,
                   unsigned threads, struct error *error);
void placement_fini(struct placement *placement);
