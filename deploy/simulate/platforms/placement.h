/* SPDX-License-Identifier: MIT */
/* Placement of the ranks of a simulated run: each rank has a core of its own, and a worker with several threads has as
 * many cores of one node.
 *
 * Rank 0 is the supermaster, followed by masters and workers. Cores are filled node by node: the supermaster, then
 * each master followed by its share of the workers, so that masters are on the same node as their first workers. If
 * the platform has more nodes than needed, evenly spread ones are used, so that fast and slow nodes and all sites
 * are represented. */
#pragma once

#include "common/util/error.h"
#include "deploy/simulate/platforms/platform.h"

struct placement {
    unsigned ranks, masters, workers;
    unsigned threads;
    unsigned nodes;
    unsigned *node_of; /* [ranks] index among the nodes in use */
    unsigned *platform_node;
    double *speed;
};

int placement_init(struct placement *placement, const struct platform *platform, unsigned masters, unsigned workers,
                   unsigned threads, struct error *error);
void placement_fini(struct placement *placement);
