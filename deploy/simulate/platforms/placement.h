/* SPDX-License-Identifier: MIT */
/* Placement of the ranks of a simulated run: each rank on its own core, a worker with several threads on as many cores
 * of one node.
 *
 * Rank 0 is the supermaster, followed by masters and workers. Cores are filled node by node: the supermaster, then each
 * master followed by its share of the workers, so that masters are close to their first workers. If the platform has
 * more nodes than needed, evenly spread ones are used, so that fast and slow nodes and all sites are represented. */
#pragma once

#include "common/util/error.h"
#include "deploy/simulate/platforms/platform.h"

struct placement {
    unsigned ranks, masters, workers;
    unsigned threads;        /* cores per worker */
    unsigned nodes;          /* used nodes */
    unsigned *node_of;       /* [ranks] index among the used nodes; owned */
    unsigned *platform_node; /* [nodes] number in the platform; owned */
    double *speed;           /* [nodes] of a core; owned */
};

/* Fails if the platform has fewer cores than needed. */
int placement_init(struct placement *placement, const struct platform *platform, unsigned masters, unsigned workers,
                   unsigned threads, struct error *error);
void placement_fini(struct placement *placement);
