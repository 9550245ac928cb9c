/* SPDX-License-Identifier: MIT */
/* --dca node, simulated: the workers of a node draw from a queue in shared memory, one after the other. Each draw takes
 * QUEUE_NS. The first worker that finds the queue empty fetches a big chunk for the node from the counters in rank 0's
 * window. The other workers draw again after the big chunk has arrived. An assignment with --inject-delay holds a lock
 * of the node.
 *
 * If a worker finds nothing left to draw and recall is on, another worker of the node gives up the rest of its chunk,
 * which refills the queue. This is the first worker that ends an iteration. queues_plan_giver() finds it in advance
 * when the queue is drained. So the other workers need no events to check whether they must give up iterations. */
#include "common/config/rank_options.h"
#include "common/dca/core_queue.h"
#include "deploy/simulate/dca/run.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How long a draw takes if two ranks of a node share the queue (tests/bench/RESULTS.md, benchmark dca). If one rank
 * uses the queue alone, a draw takes 15 ns. */
#define QUEUE_NS 27

#define NOBODY UINT32_MAX

struct simulated_queue {
    struct dca_queue queue;
    struct dca_view view;
    bool viewed;
    double free_ns;
    unsigned first, last;
    unsigned workers;
    const unsigned *members;
    unsigned giver;
    uint64_t giver_done;
};

static void queues_list_members(struct dca_run *run)
{
    const struct simulation *simulation = run->simulation;
    const unsigned *node_of = simulation->placement.node_of;
    unsigned *members = run->members;
    for (unsigned w = 0; w < simulation->workers; w++)
        run->queues[node_of[w]].workers++;
    for (unsigned n = 0; n < simulation->placement.nodes; n++) {
        run->queues[n].members = members;
        members += run->queues[n].workers;
        run->queues[n].workers = 0;
    }
    for (unsigned w = 0; w < simulation->workers; w++) {
        struct simulated_queue *node = &run->queues[node_of[w]];
        run->members[node->members - run->members + node->workers++] = w;
    }
}

static int queues_open(struct dca_run *run, struct error *error)
{
    const struct simulation *simulation = run->simulation;
    const size_t size = simulation->placement.nodes * sizeof(struct simulated_queue);
    struct simulated_queue *nodes = aligned_alloc(_Alignof(struct simulated_queue), size);
    struct error inner;
    run->queues = nodes;
    run->members = calloc(simulation->workers, sizeof *run->members);
    if (nodes == NULL || run->members == NULL)
        return error_set(error, "out of memory for %u nodes", simulation->placement.nodes);
    memset(nodes, 0, size);
    queues_list_members(run);
    for (unsigned n = 0; n < simulation->placement.nodes; n++) {
        nodes[n].first = nodes[n].last = nodes[n].giver = NOBODY;
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
    free(run->members);
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

static double queues_done_ns(const struct dca_run *run, unsigned w, uint64_t done)
{
    const struct drawing_worker *worker = &run->workers[w];
    return worker->began_ns +
           dca_compute_ns(run, w, worker->began_ns, worker->call_ns, worker->machine.chunk.first, done);
}

static uint64_t queues_find_boundary(const struct dca_run *run, unsigned w, double at_ns)
{
    uint64_t over = 0, not_over = run->workers[w].machine.chunk.count;
    while (not_over - over > 1) {
        uint64_t middle = over + (not_over - over) / 2;
        *(queues_done_ns(run, w, middle) < at_ns ? &over : &not_over) = middle;
    }
    return not_over;
}

static void queues_plan_giver(struct dca_run *run, struct simulated_queue *node, double at_ns)
{
    double best_ns = INFINITY;
    if (node->giver != NOBODY || !dca_queue_is_wanted(&node->queue) || !dca_queue_is_drained(&node->queue))
        return;
    for (unsigned i = 0; i < node->workers; i++) {
        const unsigned w = node->members[i];
        const struct dca_machine *machine = &run->workers[w].machine;
        if (machine->state != DCA_COMPUTING || machine->chunk.count < 2)
            continue;
        uint64_t done = queues_find_boundary(run, w, at_ns);
        double done_ns = queues_done_ns(run, w, done);
        if (done == machine->chunk.count || done_ns >= best_ns)
            continue;
        best_ns = done_ns;
        node->giver = w;
        node->giver_done = done;
    }
    if (node->giver != NOBODY)
        dca_schedule(run, best_ns > at_ns ? best_ns : at_ns, node->giver, DRAWING_GIVES);
}

void queues_starve(struct dca_run *run, unsigned w, double at_ns)
{
    struct simulated_queue *node = queues_of(run, w);
    queues_await(run, w);
    queues_plan_giver(run, node, at_ns);
}

/* Wakes all workers that wait for the queue. The list is cleared before the first worker is woken. With SimGrid, a
 * woken worker may run, and wait again, before the next worker is woken. */
static void queues_wake(struct dca_run *run, struct simulated_queue *node, double at_ns)
{
    unsigned waiting = node->first;
    node->first = node->last = NOBODY;
    while (waiting != NOBODY) {
        const unsigned w = waiting;
        waiting = run->workers[w].behind;
        if (run->workers[w].machine.state == DCA_STARVING)
            dca_queue_wake(&node->queue);
        dca_schedule(run, at_ns, w, DRAWING_BEGINS);
    }
}

static void queues_give(struct dca_run *run, unsigned w, double at_ns)
{
    struct simulated_queue *node = queues_of(run, w);
    struct drawing_worker *worker = &run->workers[w];
    struct dca_machine *machine = &worker->machine;
    struct dca_event event = {.type = DCA_EVENT_WANTED};
    dca_machine_step(machine, &event);
    event = (struct dca_event){.type = DCA_EVENT_CLAIMED, .claimed = dca_queue_claim(&node->queue)};
    const bool cuts = dca_machine_step(machine, &event).type == DCA_ACTION_CUT;
    struct range cut = {machine->chunk.first + node->giver_done, machine->chunk.count - node->giver_done};
    node->giver = NOBODY;
    if (cuts) {
        dca_machine_step(machine, &(struct dca_event){.type = DCA_EVENT_CUT, .cut = cut});
        assert(dca_machine_check(machine) == NULL);
        worker->compute_ns = queues_done_ns(run, w, machine->chunk.count) - worker->began_ns;
    }
    const double ends_ns = worker->began_ns + worker->compute_ns;
    dca_schedule(run, ends_ns > at_ns ? ends_ns : at_ns, w, DRAWING_FINISHES);
    if (!cuts)
        return;
    run->recalls++;
    run->recalled += cut.count;
    dca_queue_give(&node->queue, &cut);
    node->free_ns = at_ns > node->free_ns ? at_ns : node->free_ns;
    queues_wake(run, node, at_ns);
}

/* Puts the big chunk that worker `w` has fetched into the queue of its node. Worker `w` then draws before the workers
 * that have waited for the chunk. If `big` is empty, the loop ends. */
void queues_publish(struct dca_run *run, unsigned w, const struct range *big, double at_ns)
{
    struct simulated_queue *node = queues_of(run, w);
    if (big->count > 0) {
        run->refills++;
        dca_queue_refill(&node->queue, big);
    } else {
        dca_queue_end(&node->queue, run->simulation->setup.job.spec.recall == RUN_RECALL_ON);
    }
    node->free_ns = at_ns > node->free_ns ? at_ns : node->free_ns;
    dca_schedule(run, at_ns, w, DRAWING_BEGINS);
    queues_wake(run, node, at_ns);
}

void queues_draw(struct dca_run *run, unsigned w, double at_ns)
{
    struct simulated_queue *node = queues_of(run, w);
    struct dca_event event = {.type = DCA_EVENT_DREW};
    struct error error;
    event.drawn.result = dca_queue_draw(&node->queue, &node->view, &event.drawn.range, &error);
    if (event.drawn.result == DCA_WAIT || event.drawn.result == DCA_HUNGRY) {
        dca_give(run, w, &event, at_ns);
        return;
    }
    node->free_ns = (at_ns > node->free_ns ? at_ns : node->free_ns) + QUEUE_NS;
    if (event.drawn.result == DCA_REFILL)
        dca_queue_take_rest(&node->queue, &event.drawn.range);
    else if (event.drawn.result == DCA_DRAWN)
        node->free_ns += dca_on_core_ns(run, w, node->free_ns, run->assignment_ns);
    else
        queues_wake(run, node, node->free_ns);
    dca_give(run, w, &event, node->free_ns);
    queues_plan_giver(run, node, at_ns);
}

const struct dca_model dca_queues = {
    .topology = REPORT_DCA_NODE,
    .open = queues_open,
    .close = queues_close,
    .leave = dca_window_leave,
    .arrive = dca_window_arrive,
    .give = queues_give,
};
