/* SPDX-License-Identifier: MIT */
/* Two levels without masters (MPI+MPI): the workers of a node draw from a queue in shared memory. A worker that finds
 * the queue empty fetches the node's next big chunk by one-sided operations on the counters of rank 0. For the
 * technique that makes the big chunks, each node is one worker. The power of a node is the sum of its workers' powers.
 * With recall, a worker that finds no undrawn iterations sleeps. Another worker puts the end of its own running chunk
 * into the queue, and wakes the sleeping worker. */
#include "common/dca/core_queue.h"
#include "common/dca/share.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REFILL_LOOKS  1000
#define REFILL_NAP_NS 20000
#define STOP_LOOK_NS  50000000u

struct node_shared {
    struct dca_queue queue;
    pthread_mutex_t assigning;
};

struct node {
    struct window window;
    carrier_window memory;
    struct node_shared *shared;
    struct dca_queue *queue;
    struct dca_view view;
    bool view_ready;
    int index, workers;
    int *ranks; /* [workers] the ranks of the node's workers in `world`; only with recall; owned */
    unsigned looks;
    uint64_t next_stop_look_ns;
};

static void init_shared(struct node_shared *shared)
{
    pthread_mutexattr_t attributes;
    memset(shared, 0, sizeof *shared);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->assigning, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

static int node_find_ranks(struct share *share, struct node *own)
{
    const int rank = (int)share->rank;
    own->ranks = calloc((size_t)own->workers, sizeof *own->ranks);
    if (carrier->max(share->node, own->ranks == NULL))
        return error_set(share->error, "out of memory for the ranks of a node");
    carrier->allgather(share->node, &rank, sizeof rank, own->ranks);
    return 0;
}

static int open_queue(struct share *share, struct node *own)
{
    own->index = carrier->rank(share->node);
    own->workers = carrier->ranks(share->node);
    /* The allocated memory has twice the needed size. So the structure can be aligned to a cache line, which the
     * library does not guarantee. */
    void *memory = carrier->share_memory(share->node, 2 * sizeof *own->shared, &own->memory);
    uintptr_t alignment = _Alignof(struct node_shared), address = (uintptr_t)memory;
    /* The memory is page-aligned in every rank, so the structure has the same offset in all ranks. */
    own->shared = (struct node_shared *)((address + alignment - 1) / alignment * alignment);
    own->queue = &own->shared->queue;
    if (own->index == 0)
        init_shared(own->shared);
    carrier->barrier(share->node);
    if (share->recall && node_find_ranks(share, own) < 0)
        return -1;
    struct error *error = share->error;
    own->view_ready = dca_view_init(&own->view, share->node_technique, (unsigned)own->workers, error) == 0;
    return own->view_ready ? 0 : -1;
}

static void node_ring(struct share *share)
{
    const struct node *own = share->own;
    for (int i = 0; share->recall && i < own->workers; i++)
        if (i != own->index)
            share->host->sent(share, (unsigned)own->ranks[i]);
}

static void publish(void *self, const struct range *big)
{
    struct window *window = self;
    struct node *own = window->share->own;
    if (big->count == 0) {
        dca_queue_end(own->queue, window->share->recall);
        return;
    }
    window->share->refills++;
    dca_queue_refill(own->queue, big);
}

static void wait_for_refill(void *self)
{
    struct share *share = ((struct window *)self)->share;
    struct node *own = share->own;
    share->host->pause(share);
    if (share->rank == 0) /* Rank 0 enters MPI, because the operations of other nodes may make progress only then. */
        transport_rma.serve(share);
    if (share->cores_are_free && own->looks++ < REFILL_LOOKS)
        return;
    if (own->looks++ < 2 * REFILL_LOOKS)
        share->host->yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = REFILL_NAP_NS}, NULL);
}

static enum dca_drawn draw_late(struct share *share, struct node *own, struct range *chunk)
{
    if (dca_queue_is_refilling(own->queue))
        return DCA_WAIT;
    pthread_mutex_lock(&own->shared->assigning);
    enum dca_drawn result = dca_queue_draw(own->queue, &own->view, chunk, share->error);
    if (result == DCA_DRAWN)
        share->host->delay(share, share->assignment_ns);
    pthread_mutex_unlock(&own->shared->assigning);
    return result;
}

static enum dca_drawn draw_from_queue(void *self, struct range *range)
{
    struct share *share = ((struct window *)self)->share;
    struct node *own = share->own;
    enum dca_drawn result = share->assignment_ns > 0 ? draw_late(share, own, range)
                                                     : dca_queue_draw(own->queue, &own->view, range, share->error);
    if (result == DCA_REFILL)
        dca_queue_take_rest(own->queue, range);
    share->failed |= result == DCA_BROKEN;
    /* This draw may have ended the queue. Hungry ranks sleep, so they must be woken. */
    if (result == DCA_END)
        node_ring(share);
    return result;
}

static void node_stop(struct share *share)
{
    dca_queue_stop(((struct node *)share->own)->queue);
    node_ring(share);
}

static void stop_queue(void *self)
{
    node_stop(((struct window *)self)->share);
}

static bool node_has_news(void *context)
{
    return !dca_queue_is_drained(context);
}

static void node_starve(void *self)
{
    struct share *share = ((struct window *)self)->share;
    struct dca_queue *queue = ((struct node *)share->own)->queue;
    while (dca_queue_is_drained(queue)) {
        share->host->idle(share, node_has_news, queue);
        share->host->look(share);
    }
    share->host->happened(share);
    dca_queue_wake(queue);
}

static bool node_claim(void *self)
{
    return dca_queue_claim(((struct node *)((struct window *)self)->share->own)->queue);
}

static void node_give(void *self, const struct range *cut)
{
    struct share *share = ((struct window *)self)->share;
    dca_queue_give(((struct node *)share->own)->queue, cut);
    node_ring(share);
}

static bool node_wanted(const struct share *share)
{
    const struct dca_queue *queue = ((const struct node *)share->own)->queue;
    return dca_queue_is_wanted(queue) && dca_queue_is_drained(queue);
}

static int node_open(struct share *share)
{
    struct node *own = share->own;
    window_open(&own->window, share);
    share->counters = window_counters(&own->window);
    share->counters.draw = draw_from_queue;
    share->counters.publish = publish;
    share->counters.await = wait_for_refill;
    share->counters.stop_queue = stop_queue;
    share->counters.starve = node_starve;
    share->counters.claim = node_claim;
    share->counters.give = node_give;
    return open_queue(share, own);
}

static bool node_draw(struct share *share, struct range *chunk)
{
    ((struct node *)share->own)->looks = 0;
    return dca_machine_draw(&share->machine, &share->counters, chunk);
}

static bool node_serve(struct share *share)
{
    return transport_rma.serve(share);
}

static void node_look(struct share *share, uint64_t now_ns)
{
    struct node *own = share->own;
    if (own->index != 0 || share->nodes == 1 || now_ns < own->next_stop_look_ns)
        return;
    own->next_stop_look_ns = now_ns + STOP_LOOK_NS;
    if (dca_is_stopped(&share->core, &share->counters))
        node_stop(share);
}

static uint64_t node_drawn(struct share *share)
{
    return transport_rma.drawn(share);
}

static void node_close(struct share *share)
{
    struct node *own = share->own;
    if (own->view_ready)
        dca_view_fini(&own->view);
    if (own->memory != 0)
        carrier->unshare_memory(&own->memory);
    window_close(&own->window);
    free(own->ranks);
}

const struct transport transport_node = {
    .topology = REPORT_DCA_NODE,
    .own_bytes = sizeof(struct node),
    .open = node_open,
    .draw = node_draw,
    .serve = node_serve,
    .look = node_look,
    .wanted = node_wanted,
    .drawn = node_drawn,
    .close = node_close,
};
