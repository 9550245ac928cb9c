/* SPDX-License-Identifier: MIT */
/* Placement of ranks: see placement.h. */
#include "deploy/simulate/platforms/placement.h"

#include <stdlib.h>

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

static unsigned nodes_for(const struct platform *platform, uint64_t ranks)
{
    uint64_t largest = 1;
    for (unsigned g = 0; g < platform->groups; g++)
        largest = platform->group[g].cores > largest ? platform->group[g].cores : largest;
    uint64_t used = (ranks + largest - 1) / largest, cores;
    while (used < platform->nodes && (cores = placement_cores_of(platform, (unsigned)used)) < ranks)
        used += (ranks - cores + largest - 1) / largest;
    return used < platform->nodes ? (unsigned)used : platform->nodes;
}

struct cursor {
    const struct platform *platform;
    unsigned *node_of;
    unsigned used;
    unsigned node, core;
};

static bool placement_put(struct cursor *cursor, unsigned rank, unsigned cores)
{
    while (cursor->node < cursor->used) {
        const unsigned node = placement_spread(cursor->platform, cursor->node, cursor->used);
        if (cursor->core + cores <= platform_node(cursor->platform, node)->cores) {
            cursor->core += cores;
            if (cursor->node_of != NULL)
                cursor->node_of[rank] = cursor->node;
            return true;
        }
        cursor->node++;
        cursor->core = 0;
    }
    return false;
}

static bool placement_put_all(const struct placement *placement, struct cursor *cursor)
{
    const uint64_t masters = placement->masters, workers = placement->workers;
    uint64_t w = 0;
    bool has_room = placement_put(cursor, 0, 1);
    for (uint64_t m = 0; m < masters && has_room; m++) {
        has_room = placement_put(cursor, 1 + (unsigned)m, 1);
        for (uint64_t end = (m + 1) * workers / masters; w < end && has_room; w++)
            has_room = placement_put(cursor, 1 + (unsigned)(masters + w), placement->threads);
    }
    for (; w < workers && has_room; w++)
        has_room = placement_put(cursor, 1 + (unsigned)(masters + w), placement->threads);
    return has_room;
}

/* Finds how many nodes are needed. The number of cores alone may suggest too few nodes: some cores of a node stay
 * unused if they are not enough for a worker with several threads. */
static bool placement_find_nodes(struct placement *placement, const struct platform *platform, uint64_t cores)
{
    for (unsigned used = nodes_for(platform, cores); used <= platform->nodes; used++) {
        struct cursor cursor = {.platform = platform, .used = used};
        placement->nodes = used;
        if (placement->threads == 1 || placement_put_all(placement, &cursor))
            return true;
    }
    return false;
}

static int placement_refuse(const struct placement *placement, const struct platform *platform, uint64_t cores,
                            struct error *error)
{
    const unsigned long long has = platform->cores;
    const char *s = platform->nodes == 1 ? "" : "s";
    if (placement->threads > 1)
        return error_set(
            error,
            "the platform has %llu cores (%u node%s), and %u workers of %u threads, each on one node, with "
            "%u other rank%s do not fit; accepted: fewer of them, or a larger platform (NAME:nodes=N,cores=C)",
            has, platform->nodes, s, placement->workers, placement->threads, 1 + placement->masters,
            placement->masters == 0 ? "" : "s");
    return error_set(error,
                     "the platform has %llu cores (%u node%s), fewer than the %llu ranks; accepted: up to %llu "
                     "masters and workers together, or a larger platform (NAME:nodes=N)",
                     has, platform->nodes, s, (unsigned long long)cores, has - 1);
}

int placement_init(struct placement *placement, const struct platform *platform, unsigned masters, unsigned workers,
                   unsigned threads, struct error *error)
{
    const unsigned ranks = 1 + masters + workers;
    const uint64_t cores = 1 + masters + (uint64_t)workers * threads;
    *placement = (struct placement){.ranks = ranks, .masters = masters, .workers = workers, .threads = threads};
    if (platform->cores < cores || !placement_find_nodes(placement, platform, cores))
        return placement_refuse(placement, platform, cores, error);
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
    struct cursor cursor = {.platform = platform, .node_of = placement->node_of, .used = placement->nodes};
    placement_put_all(placement, &cursor);
    return 0;
}

void placement_fini(struct placement *placement)
{
    free(placement->node_of);
    free(placement->platform_node);
    free(placement->speed);
    *placement = (struct placement){.ranks = 0};
}
