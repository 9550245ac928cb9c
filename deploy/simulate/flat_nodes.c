/* SPDX-License-Identifier: MIT */
/* --dca node, simulated: the workers of a node draw from a queue in its memory, one after the other, each in QUEUE_NS;
 * whichever finds it empty fetches the node's next big chunk from the counters in rank 0's window, and the others look
 * again when it is there. A delayed assignment passes under a lock of the node. */
#include "common/dca/core_queue.h"
#include "deploy/simulate/flat_run.h"

#include <stdlib.h>
#include <string.h>

/* A draw from the queue of a node with two ranks (tests/bench/RESULTS.md, the benchmark dca); 15 with one. */
#define QUEUE_NS 27

#define NOBODY UINT32_MAX

struct simulated_node {
    struct flat_queue queue;
    struct flat_view view;
    bool viewed;
    double free_ns;       /* when the queue is free */
    unsigned first, last; /* of those who wait for a big chunk; NOBODY */
    unsigned workers;
};

static int open_nodes(struct flat_run *run, struct error *error)
{
    const struct simulation *simulation = run->simulation;
    const size_t size = simulation->placement.nodes * sizeof(struct simulated_node);
    struct simulated_node *nodes = aligned_alloc(_Alignof(struct simulated_node), size);
    struct error inner;
    run->own = nodes;
    if (nodes == NULL)
        return error_set(error, "out of memory for %u nodes", simulation->placement.nodes);
    memset(nodes, 0, size);
    for (unsigned w = 0; w < simulation->workers; w++)
        nodes[simulation->placement.node_of[w]].workers++;
    for (unsigned n = 0; n < simulation->placement.nodes; n++) {
        nodes[n].first = nodes[n].last = NOBODY;
        if (flat_view_init(&nodes[n].view, &simulation->drawing.node_technique, nodes[n].workers, &inner) < 0)
            return error_set(error, "--node-technique: accepted is a technique with a closed form (%s)", inner.text);
        nodes[n].viewed = true;
    }
    return flat_window_open(run, error);
}

static void close_nodes(struct flat_run *run)
{
    struct simulated_node *nodes = run->own;
    for (unsigned n = 0; nodes != NULL && n < run->simulation->placement.nodes; n++)
        if (nodes[n].viewed)
            flat_view_fini(&nodes[n].view);
    free(nodes);
}

static struct simulated_node *node_of(const struct flat_run *run, unsigned w)
{
    return (struct simulated_node *)run->own + run->simulation->placement.node_of[w];
}

static void wait_behind(struct flat_run *run, struct simulated_node *node, unsigned w)
{
    run->hands[w].behind = NOBODY;
    if (node->first == NOBODY)
        node->first = w;
    else
        run->hands[node->last].behind = w;
    node->last = w;
}

/* A big chunk, or that there is none, is there for all: whoever has fetched it looks first. */
static void go_on(struct flat_run *run, struct simulated_node *node, unsigned w, double at_ns)
{
    node->free_ns = at_ns > node->free_ns ? at_ns : node->free_ns;
    flat_push(run, at_ns, w, FLAT_BEGINS);
    for (unsigned waiting = node->first; waiting != NOBODY; waiting = run->hands[waiting].behind)
        flat_push(run, at_ns, waiting, FLAT_BEGINS);
    node->first = node->last = NOBODY;
}

static void refill(struct flat_run *run, unsigned w, const struct range *big, double at_ns)
{
    struct simulated_node *node = node_of(run, w);
    if (big != NULL) {
        run->refills++;
        flat_queue_refill(&node->queue, big);
    } else {
        flat_queue_end(&node->queue);
    }
    go_on(run, node, w, at_ns);
}

static void fetch(struct flat_run *run, unsigned w, double at_ns)
{
    struct range rest;
    if (flat_queue_take_rest(&node_of(run, w)->queue, &rest))
        refill(run, w, &rest, at_ns);
    else
        flat_begin_access(run, w, at_ns);
}

static void draw(struct flat_run *run, unsigned w, double at_ns)
{
    struct simulated_node *node = node_of(run, w);
    struct range chunk;
    struct error error;
    enum flat_drawn result = flat_queue_draw(&node->queue, &node->view, &chunk, &error);
    if (result == FLAT_WAIT) {
        wait_behind(run, node, w);
        return;
    }
    node->free_ns = (at_ns > node->free_ns ? at_ns : node->free_ns) + QUEUE_NS;
    switch (result) {
    case FLAT_REFILL: fetch(run, w, node->free_ns); break;
    case FLAT_DRAWN:
        node->free_ns += flat_on_core(run, w, run->assignment_ns);
        flat_compute(run, w, &chunk, node->free_ns + flat_on_core(run, w, run->calculation_ns));
        break;
    default: flat_compute(run, w, NULL, node->free_ns);
    }
}

const struct flat_transport flat_by_nodes = {
    .topology = REPORT_DCA_NODE,
    .open = open_nodes,
    .close = close_nodes,
    .begin = draw,
    .ask = flat_window_ask,
    .arrive = flat_window_arrive,
    .drawn = refill,
};
