/* SPDX-License-Identifier: MIT */
/* Collective messages at the start and the end, along a tree.
 *
 * Ranks are counted from the tree's root. The number of a rank's parent is the rank's own number without its highest
 * bit. So messages always use the same pairs of ranks, one less than there are ranks. MPI makes a connection for each
 * pair on different nodes, and MPI's own collectives use about log2(ranks) pairs per rank. If ranks are distributed
 * round robin over a number of nodes that is a power of two, most parents are on the same node as their children. If h
 * is the highest bit of v, the subtree of rank v has the ranks v, v + 2h, v + 4h, and so on. So a rank knows how many
 * bytes its children send.
 *
 * In a launch without MPI the tree is flat: all ranks exchange messages with the first, the root.
 *
 * A waiting rank sleeps again and again, each time for an eighth of the time that it has waited so far. MPI's own
 * collectives would poll: hundreds of polling ranks on few cores slow down ranks that are still starting. */
#include "common/mpi/tree.h"

#include "common/mpi/lanes.h"
#include "common/mpi/ops.h"
#include "common/mpi/rank.h"
#include "proto/message.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define TAG_START 4

#define NAP_MIN_NS 20000u
#define NAP_MAX_NS 20000000u
#define PATIENCE   8
/* A rank has at most one child for each bit of its number. */
#define CHILDREN_MAX 32

struct tree {
    struct runtime *runtime;
    unsigned ranks;
    /* `root`: number of the root in MPI; `own`: number of this rank if ranks are counted from the root */
    unsigned root, own;
    unsigned span; /* the subtree of this rank has the ranks own, own + span, own + 2 span, and so on */
    tree_lost *has_lost;
};

static struct tree tree_of(struct runtime *runtime, unsigned root)
{
    const unsigned ranks = runtime->ranks - runtime->first_rank, rank = runtime->rank - runtime->first_rank;
    struct tree tree = {.runtime = runtime, .ranks = ranks, .root = root, .own = (rank + ranks - root) % ranks};
    assert(root < ranks);
    for (tree.span = 1; tree.span <= tree.own; tree.span *= 2)
        ;
    return tree;
}

static int rank_of(const struct tree *tree, unsigned place)
{
    return (int)((place + tree->root) % tree->ranks);
}

static unsigned parent_of(const struct tree *tree)
{
    return tree->own - tree->span / 2;
}

static unsigned subtree(const struct tree *tree, unsigned place, unsigned span)
{
    return (tree->ranks - 1 - place) / span + 1;
}

static void nap_since(struct runtime *runtime, uint64_t began_ns)
{
    const uint64_t nap_ns = (runtime->ops->now() - began_ns) / PATIENCE;
    runtime->ops->nap(runtime, nap_ns < NAP_MIN_NS ? NAP_MIN_NS : nap_ns > NAP_MAX_NS ? NAP_MAX_NS : nap_ns);
}

/* Waits until all requests are complete, then returns true. Returns false if a rank was lost before that; only in this
 * case does MPI return an error. */
static bool wait_for(struct runtime *runtime, tree_lost *has_lost, int count, carrier_request *requests)
{
    const uint64_t began_ns = runtime->ops->now();
    for (int next = 0; next < count;) {
        bool is_over;
        if (carrier->test(&requests[next], &is_over, NULL) != CARRIER_DONE)
            return false;
        if (is_over) {
            next++;
            continue;
        }
        if (has_lost != NULL && has_lost(runtime))
            return false;
        nap_since(runtime, began_ns);
    }
    return true;
}

static bool take_from_children(const struct tree *tree, unsigned char *room, size_t bytes)
{
    carrier_request requests[CHILDREN_MAX];
    int count = 0;
    for (unsigned span = tree->span; span < tree->ranks && tree->own + span < tree->ranks; span *= 2) {
        unsigned child = tree->own + span;
        size_t size = subtree(tree, child, 2 * span) * bytes;
        requests[count++] = carrier->irecv(tree->runtime->world, rank_of(tree, child), TAG_START, room, size);
        room += size;
    }
    assert(count <= CHILDREN_MAX);
    return wait_for(tree->runtime, tree->has_lost, count, requests);
}

static bool give_to_children(const struct tree *tree, const void *data, size_t bytes)
{
    carrier_request requests[CHILDREN_MAX];
    int count = 0;
    for (unsigned span = tree->span; span < tree->ranks && tree->own + span < tree->ranks; span *= 2)
        requests[count++] =
            carrier->isend(tree->runtime->world, rank_of(tree, tree->own + span), TAG_START, data, bytes);
    return wait_for(tree->runtime, tree->has_lost, count, requests);
}

static bool give_to_parent(const struct tree *tree, const void *data, size_t bytes)
{
    carrier_request request = 0;
    if (tree->own > 0)
        request = carrier->isend(tree->runtime->world, rank_of(tree, parent_of(tree)), TAG_START, data, bytes);
    return wait_for(tree->runtime, tree->has_lost, 1, &request);
}

static bool take_from_parent(const struct tree *tree, void *data, size_t room)
{
    carrier_request request = 0;
    if (tree->own > 0)
        request = carrier->irecv(tree->runtime->world, rank_of(tree, parent_of(tree)), TAG_START, data, room);
    return wait_for(tree->runtime, tree->has_lost, 1, &request);
}

static void put_in_lane(struct runtime *runtime, unsigned to, const void *data, size_t bytes)
{
    const uint64_t began_ns = runtime->ops->now();
    for (size_t done = 0; done < bytes;) {
        done += lanes_put_data(runtime->lanes, to, (const unsigned char *)data + done, bytes - done);
        if (done < bytes)
            nap_since(runtime, began_ns);
    }
}

static void take_from_lane(struct runtime *runtime, unsigned from, void *data, size_t bytes)
{
    const uint64_t began_ns = runtime->ops->now();
    for (size_t done = 0; done < bytes;) {
        done += lanes_take_data(runtime->lanes, from, (unsigned char *)data + done, bytes - done);
        if (done < bytes)
            nap_since(runtime, began_ns);
    }
}

static void gather_by_lanes(struct runtime *runtime, const void *own, size_t bytes, unsigned char *all)
{
    if (lanes_rank(runtime->lanes) > 0) {
        put_in_lane(runtime, 0, own, bytes);
        return;
    }
    memcpy(all, own, bytes);
    for (unsigned i = 1; i < lanes_ranks(runtime->lanes); i++)
        take_from_lane(runtime, i, all + i * bytes, bytes);
}

static void put_in_all_lanes(struct runtime *runtime, const void *data, size_t bytes)
{
    for (unsigned i = 1; i < lanes_ranks(runtime->lanes); i++)
        put_in_lane(runtime, i, data, bytes);
}

static bool wait_by_lanes(struct runtime *runtime, tree_lost *has_lost)
{
    const uint64_t began_ns = runtime->ops->now();
    lanes_pass(runtime->lanes);
    while (!lanes_have_all_passed(runtime->lanes)) {
        if (has_lost != NULL && has_lost(runtime))
            return false;
        nap_since(runtime, began_ns);
    }
    return true;
}

int tree_gather(struct runtime *runtime, const void *own, size_t bytes, void *all)
{
    if (runtime->lanes != NULL) {
        gather_by_lanes(runtime, own, bytes, all);
        return 0;
    }
    const struct tree tree = tree_of(runtime, 0);
    unsigned char *room = malloc(subtree(&tree, tree.own, tree.span) * bytes);
    if (room == NULL)
        return -1;
    memcpy(room, own, bytes);
    take_from_children(&tree, room + bytes, bytes);
    if (tree.own > 0)
        give_to_parent(&tree, room, subtree(&tree, tree.own, tree.span) * bytes);
    else
        memcpy(all, room, tree.ranks * bytes);
    free(room);
    return 0;
}

void tree_share(struct runtime *runtime, unsigned root, void *data, size_t bytes)
{
    if (runtime->lanes != NULL) {
        assert(root == 0);
        if (lanes_rank(runtime->lanes) > 0)
            take_from_lane(runtime, 0, data, bytes);
        else
            put_in_all_lanes(runtime, data, bytes);
        return;
    }
    const struct tree tree = tree_of(runtime, root);
    take_from_parent(&tree, data, bytes);
    give_to_children(&tree, data, bytes);
}

int tree_tell_node(struct runtime *runtime, const void *data, size_t bytes)
{
    if (runtime->lanes != NULL) {
        put_in_all_lanes(runtime, data, bytes);
        return 0;
    }
    carrier_request *requests = malloc(runtime->ranks * sizeof *requests);
    int count = 0;
    if (requests == NULL)
        return -1;
    for (unsigned i = runtime->rank + 1; i < runtime->ranks; i++)
        if (runtime->hellos[i].node == runtime->rank)
            requests[count++] = carrier->isend(runtime->world, runtime_mpi_rank(runtime, i), TAG_START, data, bytes);
    wait_for(runtime, NULL, count, requests);
    free(requests);
    return 0;
}

void tree_hear_node(struct runtime *runtime, unsigned first, void *data, size_t bytes)
{
    if (runtime->lanes != NULL) {
        take_from_lane(runtime, 0, data, bytes);
        return;
    }
    carrier_request request = carrier->irecv(runtime->world, runtime_mpi_rank(runtime, first), TAG_START, data, bytes);
    wait_for(runtime, NULL, 1, &request);
}

bool tree_wait(struct runtime *runtime, tree_lost *has_lost)
{
    if (runtime->lanes != NULL)
        return wait_by_lanes(runtime, has_lost);
    struct tree tree = tree_of(runtime, 0);
    tree.has_lost = has_lost;
    return take_from_children(&tree, NULL, 0) && give_to_parent(&tree, NULL, 0) && take_from_parent(&tree, NULL, 0) &&
           give_to_children(&tree, NULL, 0);
}
