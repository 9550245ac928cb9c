/* SPDX-License-Identifier: MIT */
/* --dca node, simulated: the workers of a node draw from a queue in its memory, one after the other, each in QUEUE_NS;
 * whichever finds it empty fetches the node's next big chunk from the counters in rank 0's window, and the others look
 * again when it is there. A delayed assignment passes under a lock of the node. */
#include "common/dca/core_queue.h"
#include "deploy/simulate/dca/run.h"

#include <stdlib.h>
#include <string.h>

/* A draw from the queue of a node with two ranks (tests/bench/RESULTS.md, the benchmark dca); 15 with one. */
#define QUEUE_NS 27

#define NOBODY UINT32_MAX

struct simulated_queue {
    struct dca_queue queue;
    struct dca_view view;
    bool viewed;
    double free_ns;       /* when the queue is free */
    unsigned first, last; /* ends of the line of workers that wait for a big chunk; NOBODY */
    unsigned workers;
};

static int queues_open(struct dca_run *run, struct error *error)
{
    const struct simulation *simulation = run->simulation;
    const size_t size = simulation->placement.nodes * sizeof(struct simulated_queue);
    struct simulated_queue *nodes = aligned_alloc(_Alignof(struct simulated_queue), size);
    struct error inner;
    run->queues = nodes;
    if (nodes == NULL)
        return error_set(error, "out of memory for %u nodes", simulation->placement.nodes);
    memset(nodes, 0, size);
    for (unsigned w = 0; w < simulation->workers; w++)
        nodes[simulation->placement.node_of[w]].workers++;
    for (unsigned n = 0; n < simulation->placement.nodes; n++) {
        nodes[n].first = nodes[n].last = NOBODY;
        if (dca_view_init(&nodes[n].view, &simulation->dca_options.node_technique, nodes[n].workers, &inner) < 0)
            return error_set(error, "--node-technique: accepted is a technique with a closed form (%s)", inner.text);
        nodes[n].viewed = true;
    }
    return dca_window_open(run, error);
}

static void queues_close(struct dca_run *run)
{
    struct simulated_queue *nodes = run->queues;
    for (unsigned n = 0; nodes != NULL && n < run->simulation->placement.nodes; n++)
        if (nodes[n].viewed)
            dca_view_fini(&nodes[n].view);
    free(nodes);
}

static struct simulated_queue *queues_of(const struct dca_run *run, unsigned w)
{
    return &run->queues[run->simulation->placement.node_of[w]];
}

void queues_await(struct dca_run *run, unsigned w)
{
    struct simulated_queue *node = queues_of(run, w);
    run->workers[w].behind = NOBODY;
    if (node->first == NOBODY)
        node->first = w;
    else
        run->workers[node->last].behind = w;
    node->last = w;
}

/* A big chunk, or that there is none, is there for all: whoever has fetched it looks first. */
void queues_publish(struct dca_run *run, unsigned w, const struct range *big, double at_ns)
{
    struct simulated_queue *node = queues_of(run, w);
    if (big->count > 0) {
        run->refills++;
        dca_queue_refill(&node->queue, big);
    } else {
        dca_queue_end(&node->queue);
    }
    node->free_ns = at_ns > node->free_ns ? at_ns : node->free_ns;
    dca_schedule(run, at_ns, w, DRAWING_BEGINS);
    for (unsigned waiting = node->first; waiting != NOBODY; waiting = run->workers[waiting].behind)
        dca_schedule(run, at_ns, waiting, DRAWING_BEGINS);
    node->first = node->last = NOBODY;
}

void queues_draw(struct dca_run *run, unsigned w, double at_ns)
{
    struct simulated_queue *node = queues_of(run, w);
    struct dca_event event = {.type = DCA_EVENT_DREW};
    struct error error;
    event.drawn.result = dca_queue_draw(&node->queue, &node->view, &event.drawn.range, &error);
    if (event.drawn.result == DCA_WAIT) {
        dca_give(run, w, &event, at_ns);
        return;
    }
    node->free_ns = (at_ns > node->free_ns ? at_ns : node->free_ns) + QUEUE_NS;
    if (event.drawn.result == DCA_REFILL)
        dca_queue_take_rest(&node->queue, &event.drawn.range);
    else if (event.drawn.result == DCA_DRAWN)
        node->free_ns += dca_on_core_ns(run, w, node->free_ns, run->assignment_ns);
    dca_give(run, w, &event, node->free_ns);
}

const struct dca_model dca_queues = {
    .topology = REPORT_DCA_NODE,
    .open = queues_open,
    .close = queues_close,
    .leave = dca_window_leave,
    .arrive = dca_window_arrive,
};
