/* SPDX-License-Identifier: MIT */
/* Two levels without masters (MPI+MPI): the workers of a node draw from a queue in shared memory, and whichever finds
 * it empty fetches the node's next big chunk from the counters of rank 0, one-sided. Big chunks are cut as for as many
 * workers as there are nodes, a node's power being the sum of its workers'. */
#include "common/dca/core_queue.h"
#include "common/dca/share.h"

#include <pthread.h>
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
    pthread_mutex_t assigning; /* held during a delayed assignment: the kernel wakes who waits */
};

struct node {
    struct window window;
    MPI_Win memory;
    struct node_shared *shared;
    struct dca_queue *queue; /* the queue in `shared` */
    struct dca_view view;
    bool view_ready;
    int index; /* on the node */
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

static int open_queue(struct share *share, struct node *own)
{
    void *memory;
    MPI_Aint size;
    int unit, workers;
    MPI_Comm_rank(share->node, &own->index);
    MPI_Comm_size(share->node, &workers);
    /* room for two structures, as the library promises no alignment to a cache line */
    MPI_Win_allocate_shared(own->index == 0 ? 2 * sizeof *own->shared : 0, 1, MPI_INFO_NULL, share->node, &memory,
                            &own->memory);
    MPI_Win_shared_query(own->memory, 0, &size, &unit, &memory);
    uintptr_t alignment = _Alignof(struct node_shared), address = (uintptr_t)memory;
    /* every rank maps the window at a page, so the offset is the same for all */
    own->shared = (struct node_shared *)((address + alignment - 1) / alignment * alignment);
    own->queue = &own->shared->queue;
    if (own->index == 0)
        init_shared(own->shared);
    MPI_Barrier(share->node);
    struct error *error = share->error;
    own->view_ready = dca_view_init(&own->view, share->node_technique, (unsigned)workers, error) == 0;
    return own->view_ready ? 0 : -1;
}

static void publish(void *self, const struct range *big)
{
    struct window *window = self;
    struct node *own = window->share->own;
    if (big->count == 0) {
        dca_queue_end(own->queue);
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
    if (share->rank == 0) /* other nodes may need rank 0 inside MPI for their fetches */
        transport_rma.serve(share);
    if (share->cores_are_free && own->looks++ < REFILL_LOOKS)
        return;
    if (own->looks++ < 2 * REFILL_LOOKS)
        share->host->yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = REFILL_NAP_NS}, NULL);
}

/* Draws from the queue under a lock, with --inject-delay assignment. */
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
    return result;
}

static void stop_queue(void *self)
{
    dca_queue_stop(((struct node *)((struct window *)self)->share->own)->queue);
}

static int node_open(struct share *share)
{
    struct node *own = share->own;
    own->memory = MPI_WIN_NULL;
    window_open(&own->window, share);
    share->counters = window_counters(&own->window);
    share->counters.draw = draw_from_queue;
    share->counters.publish = publish;
    share->counters.await = wait_for_refill;
    share->counters.stop_queue = stop_queue;
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

static uint64_t counter_now(struct share *share)
{
    return share->counters.fetch_add(share->counters.self, dca_first_counter(&share->core), 0, false);
}

/* Looks for a stop on another node, which shows in the counter. */
static void node_look(struct share *share, uint64_t now_ns)
{
    struct node *own = share->own;
    if (own->index != 0 || share->nodes == 1 || now_ns < own->next_stop_look_ns)
        return;
    own->next_stop_look_ns = now_ns + STOP_LOOK_NS;
    if (dca_is_stopped(&share->core, &share->counters))
        dca_queue_stop(own->queue);
}

static uint64_t node_drawn(struct share *share)
{
    return dca_drawn(&share->core, counter_now(share));
}

static void node_close(struct share *share)
{
    struct node *own = share->own;
    if (own->view_ready)
        dca_view_fini(&own->view);
    if (own->memory != MPI_WIN_NULL)
        MPI_Win_free(&own->memory);
    window_close(&own->window);
}

const struct transport transport_node = {
    .topology = REPORT_DCA_NODE,
    .own_bytes = sizeof(struct node),
    .open = node_open,
    .draw = node_draw,
    .serve = node_serve,
    .look = node_look,
    .drawn = node_drawn,
    .close = node_close,
};
