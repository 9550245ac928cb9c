/* SPDX-License-Identifier: MIT */
/* Two levels without masters (MPI+MPI): the workers of a node draw from a queue in shared memory, and whichever finds
 * it empty fetches the node's next big chunk from the counters of rank 0, one-sided. Big chunks are cut as for as many
 * workers as there are nodes, a node's power being the sum of its workers'. With recall a worker that finds nothing
 * left sleeps until another one puts the end of its running chunk into the queue, and rings.
 *
 * Where losses are survived (share.h), which is on one node, the counters are in its memory, too: MPI may keep a lock
 * of its own for the moment of an access, and a worker that is lost in there would never open it. Rank 0 takes over
 * from a lost worker what the queue needs, keeps its chunk in the book, and puts it into the queue when that is
 * drained. */
#include "common/dca/book.h"
#include "common/dca/core_queue.h"
#include "common/dca/intent.h"
#include "common/dca/share.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Looks at the queue while another rank fills it, before napping. */
#define REFILL_LOOKS  1000
#define REFILL_NAP_NS 20000
/* Time between two looks of a node's first rank whether another node has stopped the run. */
#define STOP_LOOK_NS 50000000u

/* Shared memory of a node, with its first rank. */
struct node_shared {
    struct dca_queue queue;
    pthread_mutex_t assigning;               /* held during a delayed assignment: the kernel wakes who waits */
    _Atomic uint64_t counters[DCA_COUNTERS]; /* where losses are survived; the intents follow */
};

struct node {
    struct window window;
    MPI_Win memory;
    struct node_shared *shared;
    struct dca_queue *queue; /* the queue in `shared` */
    struct dca_view view;
    bool view_ready;
    int index, workers; /* on the node */
    int *ranks;         /* [workers] of the node, in `world`, where they ring each other; owned */
    unsigned looks;
    /* where losses are survived */
    struct dca_intents intents;
    struct dca_book book; /* rank 0 */
    bool has_book;
    uint64_t next_stop_look_ns;
};

/* Ranks that wait for what others give up, or are lost with, ring each other. */
static bool node_rings(const struct share *share)
{
    return share->recall || share->survives;
}

static size_t node_bytes(const struct share *share, int workers)
{
    return sizeof(struct node_shared) + (share->survives ? dca_intents_bytes((unsigned)workers) : 0);
}

static void init_shared(struct node_shared *shared, size_t bytes)
{
    pthread_mutexattr_t attributes;
    memset(shared, 0, bytes);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST); /* its holder may be lost */
    pthread_mutex_init(&shared->assigning, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

static int node_find_ranks(struct share *share, struct node *own)
{
    int rank = (int)share->rank;
    own->ranks = calloc((size_t)own->workers, sizeof *own->ranks);
    int *ranks = own->ranks != NULL ? own->ranks : &rank, have = own->ranks != NULL;
    MPI_Allreduce(MPI_IN_PLACE, &have, 1, MPI_INT, MPI_LAND, share->node);
    if (!have)
        return error_set(share->error, "out of memory for the ranks of a node");
    MPI_Allgather(&rank, 1, MPI_INT, ranks, 1, MPI_INT, share->node);
    return 0;
}

/* Where losses are survived: each rank keeps its intents, and rank 0 the book. */
static int node_open_intents(struct share *share, struct node *own)
{
    if (!share->survives)
        return 0;
    assert(share->nodes == 1 && own->index == (int)share->rank && own->workers == (int)share->ranks);
    own->intents = dca_intents_at(own->shared + 1, share->ranks);
    own->has_book = share->rank == 0 && dca_book_init(&own->book, &share->core, share->ranks, share->error) == 0;
    if (share->rank == 0 && !own->has_book)
        return -1;
    dca_view_keep(&own->view, &own->intents, share->rank, own->has_book ? &own->book : NULL);
    return 0;
}

static int open_queue(struct share *share, struct node *own)
{
    void *memory;
    MPI_Aint size;
    int unit;
    MPI_Comm_rank(share->node, &own->index);
    MPI_Comm_size(share->node, &own->workers);
    const size_t bytes = node_bytes(share, own->workers), alignment = _Alignof(struct node_shared);
    /* with room to align it, as the library promises no alignment to a cache line */
    MPI_Win_allocate_shared(own->index == 0 ? (MPI_Aint)(bytes + alignment) : 0, 1, MPI_INFO_NULL, share->node, &memory,
                            &own->memory);
    MPI_Win_shared_query(own->memory, 0, &size, &unit, &memory);
    const uintptr_t address = (uintptr_t)memory;
    /* every rank maps the window at a page, so the offset is the same for all */
    own->shared = (struct node_shared *)((address + alignment - 1) / alignment * alignment);
    own->queue = &own->shared->queue;
    if (own->index == 0)
        init_shared(own->shared, bytes);
    MPI_Barrier(share->node);
    if (node_rings(share) && node_find_ranks(share, own) < 0)
        return -1;
    struct error *error = share->error;
    own->view_ready = dca_view_init(&own->view, share->node_technique, (unsigned)own->workers, error) == 0;
    return own->view_ready ? node_open_intents(share, own) : -1;
}

/* The queue has changed: ranks that wait for it look again. */
static void node_ring(struct share *share)
{
    const struct node *own = share->own;
    for (int i = 0; node_rings(share) && i < own->workers; i++)
        if (i != own->index)
            share->host->sent(share, (unsigned)own->ranks[i]);
}

static void publish(void *self, const struct range *big)
{
    struct window *window = self;
    struct node *own = window->share->own;
    if (big->count == 0) {
        dca_queue_end(own->queue, &own->view, node_rings(window->share));
        return;
    }
    window->share->refills++;
    dca_queue_refill(own->queue, &own->view, big);
}

static void wait_for_refill(void *self)
{
    struct share *share = ((struct window *)self)->share;
    struct node *own = share->own;
    share->host->pause(share);
    if (share->rank == 0) /* other nodes may need rank 0 inside MPI for their fetches */
        transport_rma.serve(share);
    if (share->cores_are_free && own->looks++ < REFILL_LOOKS)
        return;
    if (own->looks++ < 2 * REFILL_LOOKS) {
        share->host->yield();
        return;
    }
    nanosleep(&(struct timespec){.tv_nsec = REFILL_NAP_NS}, NULL);
    if (share->survives) /* who refills may be lost */
        share->host->look(share);
}

/* Draws from the queue under a lock, with --inject-delay assignment. */
static enum dca_drawn draw_late(struct share *share, struct node *own, struct range *chunk)
{
    if (dca_queue_is_refilling(own->queue))
        return DCA_WAIT;
    if (pthread_mutex_lock(&own->shared->assigning) == EOWNERDEAD)
        pthread_mutex_consistent(&own->shared->assigning);
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
    if (result == DCA_END) /* it may have come to that with this draw */
        node_ring(share);
    if (result == DCA_HUNGRY && share->survives && share->rank != 0) /* rank 0 finds out that all are */
        share->host->sent(share, 0);
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

/* --- recall --- */

static bool node_has_news(void *context)
{
    return !dca_queue_is_drained(context);
}

/* Waits for what another rank gives up, and meanwhile looks after signals and, as rank 0, the fetches of others. */
static void node_starve(void *self)
{
    struct share *share = ((struct window *)self)->share;
    const struct node *own = share->own;
    struct dca_queue *queue = own->queue;
    while (dca_queue_is_drained(queue)) {
        share->host->idle(share, node_has_news, queue);
        share->host->look(share);
    }
    share->host->happened(share);
    dca_queue_wake(queue, &own->view);
}

static bool node_claim(void *self)
{
    const struct node *own = ((struct window *)self)->share->own;
    return dca_queue_claim(own->queue, &own->view);
}

static void node_give(void *self, const struct range *cut)
{
    struct share *share = ((struct window *)self)->share;
    const struct node *own = share->own;
    dca_queue_give(own->queue, &own->view, cut);
    node_ring(share);
}

static bool node_wanted(const struct share *share)
{
    const struct dca_queue *queue = ((const struct node *)share->own)->queue;
    return dca_queue_is_wanted(queue) && dca_queue_is_drained(queue);
}

/* --- where losses are survived --- */

static uint64_t node_fetch_add(void *self, enum dca_counter counter, uint64_t amount, bool assigns)
{
    struct share *share = ((struct window *)self)->share;
    const struct node *own = share->own;
    if (assigns && share->assignment_ns > 0)
        share->host->delay(share, share->assignment_ns);
    share->messages++;
    share->bytes += sizeof amount + sizeof(uint64_t);
    return atomic_fetch_add(&own->shared->counters[counter], amount);
}

static uint64_t node_drawn(struct share *share)
{
    const struct node *own = share->own;
    const enum dca_counter counter = dca_first_counter(&share->core);
    const uint64_t value = share->survives ? atomic_load(&own->shared->counters[counter])
                                           : share->counters.fetch_add(share->counters.self, counter, 0, false);
    return dca_drawn(&share->core, value);
}

static uint64_t node_count_drawn(void *context)
{
    return node_drawn(context);
}

static void node_lose(struct share *share, unsigned rank)
{
    struct node *own = share->own;
    struct range chunk;
    assert(dca_intent_check(&own->intents, rank, own->queue->head, share->core.iterations) == NULL);
    dca_queue_lose(own->queue, &own->view, rank, node_drawn(share), &chunk);
    dca_book_hold(&own->book, rank, &chunk);
    share_lose(share, &own->book, rank);
}

/* For rank 0: has others compute what is lost, and ends the queue where nobody has anything. */
static void node_look_at_losses(struct share *share)
{
    struct node *own = share->own;
    unsigned rank;
    bool any = false;
    for (; share->host->lost(share, &rank); any = true)
        node_lose(share, rank);
    if (dca_queue_relieve(own->queue, &own->view, &own->book, node_count_drawn, share) || any)
        node_ring(share);
    assert(dca_book_check(&own->book) == NULL);
}

/* --- the topology --- */

static int node_open(struct share *share)
{
    struct node *own = share->own;
    own->memory = MPI_WIN_NULL;
    if (share->survives)
        window_make(&own->window, share);
    else
        window_open(&own->window, share);
    share->counters = window_counters(&own->window);
    if (share->survives)
        share->counters.fetch_add = node_fetch_add;
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
    struct node *own = share->own;
    own->looks = 0;
    if (share->survives)
        dca_intent_begin(&own->intents, share->rank, share->record, share->record_bytes);
    return dca_machine_draw(&share->machine, &share->counters, chunk);
}

static bool node_serve(struct share *share)
{
    return transport_rma.serve(share);
}

/* Looks at losses, or for a stop on another node, which shows in the counter. */
static void node_look(struct share *share, uint64_t now_ns)
{
    struct node *own = share->own;
    if (own->has_book)
        node_look_at_losses(share);
    if (own->index != 0 || share->nodes == 1 || now_ns < own->next_stop_look_ns)
        return;
    own->next_stop_look_ns = now_ns + STOP_LOOK_NS;
    if (dca_is_stopped(&share->core, &share->counters))
        node_stop(share);
}

static uint64_t node_reissued(const struct share *share)
{
    const struct node *own = share->own;
    return own->has_book ? own->book.reissued : 0;
}

static const void *node_record(const struct share *share, unsigned rank)
{
    const struct node *own = share->own;
    return dca_intent_record(&own->intents, rank);
}

static void node_close(struct share *share)
{
    struct node *own = share->own;
    if (own->view_ready)
        dca_view_fini(&own->view);
    if (own->memory != MPI_WIN_NULL)
        MPI_Win_free(&own->memory);
    window_close(&own->window);
    if (own->has_book)
        dca_book_fini(&own->book);
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
    .reissued = node_reissued,
    .record = node_record,
    .close = node_close,
};
