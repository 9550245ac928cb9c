/* SPDX-License-Identifier: MIT */
/* The ranks on their cores: see placement.h. */
#include "deploy/simulate/platforms/placement.h"

#include <stdlib.h>

/* The i-th of `used` nodes that are spread evenly over the platform's. */
static unsigned placement_spread(const struct platform *platform, unsigned i, unsigned used)
{
    return (unsigned)((uint64_t)i * platform->nodes / used);
}

static uint64_t placement_cores_of(const struct platform *platform, unsigned used)
{
    uint64_t cores = 0;
    for (unsigned i = 0; i < used; i++)
        cores += platform_node(platform, placement_spread(platform, i, used))->cores;
    return cores;
}

/* Number of nodes that hold the ranks; the platform has cores enough. */
static unsigned nodes_for(const struct platform *platform, unsigned ranks)
{
    uint64_t largest = 1;
    for (unsigned g = 0; g < platform->groups; g++)
        largest = platform->group[g].cores > largest ? platform->group[g].cores : largest;
    uint64_t used = (ranks + largest - 1) / largest, cores;
    while (used < platform->nodes && (cores = placement_cores_of(platform, (unsigned)used)) < ranks)
        used += (ranks - cores + largest - 1) / largest;
    return used < platform->nodes ? (unsigned)used : platform->nodes;
}

/* Goes from core to core. */
struct cursor {
    struct placement *placement;
    const struct platform *platform;
    unsigned node, core;
};

static void placement_put(struct cursor *cursor, unsigned rank)
{
    const struct placement *placement = cursor->placement;
    while (cursor->core == platform_node(cursor->platform, placement->platform_node[cursor->node])->cores) {
        cursor->node++;
        cursor->core = 0;
    }
    cursor->core++;
    placement->node_of[rank] = cursor->node;
}

static void placement_put_all(struct placement *placement, const struct platform *platform)
{
    struct cursor cursor = {.placement = placement, .platform = platform};
    uint64_t masters = placement->masters, workers = placement->workers, w = 0;
    placement_put(&cursor, 0);
    for (uint64_t m = 0; m < masters; m++) {
        placement_put(&cursor, 1 + (unsigned)m);
        for (uint64_t end = (m + 1) * workers / masters; w < end; w++)
            placement_put(&cursor, 1 + (unsigned)(masters + w));
    }
    for (; w < workers; w++)
        placement_put(&cursor, 1 + (unsigned)(masters + w));
}

int placement_init(struct placement *placement, const struct platform *platform, unsigned masters, unsigned workers,
                   struct error *error)
{
    unsigned ranks = 1 + masters + workers;
    *placement = (struct placement){.ranks = ranks, .masters = masters, .workers = workers};
    if (platform->cores < ranks)
        return error_set(error,
                         "the platform has %llu cores (%u node%s), fewer than the %u ranks; accepted: up to %llu "
                         "masters and workers together, or a larger platform (NAME:nodes=N)",
                         (unsigned long long)platform->cores, platform->nodes, platform->nodes == 1 ? "" : "s", ranks,
                         (unsigned long long)platform->cores - 1);
    placement->nodes = nodes_for(platform, ranks);
    placement->node_of = calloc(ranks, sizeof *placement->node_of);
    placement->platform_node = calloc(placement->nodes, sizeof *placement->platform_node);
    placement->speed = calloc(placement->nodes, sizeof *placement->speed);
    if (placement->node_of == NULL || placement->platform_node == NULL || placement->speed == NULL) {
        placement_fini(placement);
        return error_set(error, "out of memory for %u ranks", ranks);
    }
    for (unsigned i = 0; i < placement->nodes; i++) {
        placement->platform_node[i] = placement_spread(platform, i, placement->nodes);
        placement->speed[i] = platform_node(platform, placement->platform_node[i])->speed;
    }
    placement_put_all(placement, platform);
    return 0;
}

void placement_fini(struct placement *placement)
{
    free(placement->node_of);
    free(placement->platform_node);
    free(placement->speed);
    *placement = (struct placement){.ranks = 0};
}
