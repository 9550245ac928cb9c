/* SPDX-License-Identifier: MIT */
/* Placement of the ranks of a simulated run. Each rank has a core of its own. A worker with several threads has a core
 * for each thread, all on one node.
 *
 * Rank 0 is the supermaster; masters and workers follow. Cores are filled node by node: first the supermaster, then
 * each master and its share of the workers. So a master is on the same node as its first workers. If the platform has
 * more nodes than the ranks need, the used nodes are spread evenly over all nodes. Then fast and slow nodes of all
 * sites are among the used nodes. */
#pragma once

#include "common/util/error.h"
#include "deploy/simulate/platforms/platform.h"

struct placement {
    unsigned ranks, masters, workers;
    unsigned threads;
    unsigned nodes;
    unsigned *node_of;
    unsigned *platform_node;
    double *speed;
};

int placement_init(struct placement *placement, const struct platform *platform, unsigned masters, unsigned workers,
                   unsigned threads, struct error *error);
void placement_fini(struct placement *placement);
