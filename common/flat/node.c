/* Two levels without masters (MPI+MPI): the workers of a node draw from a queue in shared memory, and whichever finds
 * it empty fetches the node's next big chunk from the counters of rank 0, one-sided. Big chunks are cut as for as many
 * workers as there are nodes, a node's power being the sum of its workers'. */
#include "common/flat/core_queue.h"
#include "common/flat/flat.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

/* How long to look at the queue while another rank fills it, before napping. */
#define REFILL_LOOKS  1000
#define REFILL_NAP_NS 20000
/* How often the first rank of a node looks whether another node has stopped the run. */
#define STOP_LOOK_NS 50000000u

/* In the memory of the node's first rank. */
struct node_shared {
    struct flat_queue queue;
    pthread_mutex_t assigning; /* held during a delayed assignment: the kernel wakes who waits */
};

struct node {
    struct window window;
    MPI_Win memory;
    struct node_shared *shared;
    struct flat_queue *queue; /* in it */
    struct flat_view view;
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

static int open_queue(struct flat *flat, struct node *own)
{
    void *memory;
    MPI_Aint size;
    int unit, workers;
    MPI_Comm_rank(flat->runtime->node, &own->index);
    MPI_Comm_size(flat->runtime->node, &workers);
    /* one more than needed, as the library promises no alignment to a cache line */
    MPI_Win_allocate_shared(own->index == 0 ? 2 * sizeof *own->shared : 0, 1, MPI_INFO_NULL, flat->runtime->node,
                            &memory, &own->memory);
    MPI_Win_shared_query(own->memory, 0, &size, &unit, &memory);
    uintptr_t alignment = _Alignof(struct node_shared), address = (uintptr_t)memory;
    /* every rank maps the window at a page, so the offset is the same for all */
    own->shared = (struct node_shared *)((address + alignment - 1) / alignment * alignment);
    own->queue = &own->shared->queue;
    if (own->index == 0)
        init_shared(own->shared);
    MPI_Barrier(flat->runtime->node);
    struct error *error = &flat->lead.error;
    own->view_ready = flat_view_init(&own->view, &flat->options.worker.node_technique, (unsigned)workers, error) == 0;
    return own->view_ready ? 0 : -1;
}

static int node_open(struct flat *flat)
{
    static struct node memory;
    struct node *own = &memory;
    *own = (struct node){.memory = MPI_WIN_NULL};
    flat->own = own;
    window_open(&own->window, flat);
    flat->counters = window_counters(&own->window);
    return open_queue(flat, own);
}

static void refill(struct flat *flat, struct node *own)
{
    struct range big;
    if (flat_queue_take_rest(own->queue, &big) || flat_draw(&flat->core, &flat->counters, &big)) {
        flat->figures.refills++;
        flat_queue_refill(own->queue, &big);
    } else {
        flat_queue_end(own->queue);
    }
}

static void wait_for_refill(struct flat *flat, struct node *own)
{
    flat_pause(flat);
    if (flat->rank == 0) /* the other may need it inside MPI for its fetch */
        transport_rma.serve(flat);
    if (flat->runtime->cores_are_free && own->looks++ < REFILL_LOOKS)
        return;
    if (own->looks++ < 2 * REFILL_LOOKS)
        wait_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = REFILL_NAP_NS}, NULL);
}

/* With --inject-delay: the queue assigns under a lock, whoever draws calculates. */
static enum flat_drawn draw_late(struct flat *flat, struct node *own, struct range *chunk)
{
    if (flat_queue_is_refilling(own->queue))
        return FLAT_WAIT;
    if (flat->assignment_ns > 0)
        pthread_mutex_lock(&own->shared->assigning);
    enum flat_drawn result = flat_queue_draw(own->queue, &own->view, chunk, &flat->lead.error);
    if (result == FLAT_DRAWN)
        runtime_delay(flat->runtime, flat->assignment_ns);
    if (flat->assignment_ns > 0)
        pthread_mutex_unlock(&own->shared->assigning);
    if (result == FLAT_DRAWN)
        runtime_delay(flat->runtime, flat->calculation_ns);
    return result;
}

static enum flat_drawn draw_from_queue(struct flat *flat, struct node *own, struct range *chunk)
{
    if (flat->assignment_ns > 0 || flat->calculation_ns > 0)
        return draw_late(flat, own, chunk);
    return flat_queue_draw(own->queue, &own->view, chunk, &flat->lead.error);
}

static bool node_draw(struct flat *flat, struct range *chunk)
{
    struct node *own = flat->own;
    own->looks = 0;
    for (;;) {
        switch (draw_from_queue(flat, own, chunk)) {
        case FLAT_DRAWN: return true;
        case FLAT_REFILL: refill(flat, own); break;
        case FLAT_WAIT: wait_for_refill(flat, own); break;
        case FLAT_END: return false;
        case FLAT_BROKEN: flat_fail(flat); return false;
        }
    }
}

static void node_stop(struct flat *flat)
{
    struct node *own = flat->own;
    flat_queue_stop(own->queue);
    flat_stop(&flat->core, &flat->counters);
}

static bool node_serve(struct flat *flat)
{
    return transport_rma.serve(flat);
}

static uint64_t counter_now(struct flat *flat)
{
    return flat->counters.fetch_add(flat->counters.self, flat_first_counter(&flat->core), 0);
}

/* A stop on another node shows in the counter. */
static void node_look(struct flat *flat, uint64_t now_ns)
{
    struct node *own = flat->own;
    if (own->index != 0 || flat->topology->nodes == 1 || now_ns < own->next_stop_look_ns)
        return;
    own->next_stop_look_ns = now_ns + STOP_LOOK_NS;
    if (flat_is_stopped(&flat->core, &flat->counters))
        flat_queue_stop(own->queue);
}

static uint64_t node_drawn(struct flat *flat)
{
    return flat_drawn(&flat->core, counter_now(flat));
}

static void node_close(struct flat *flat)
{
    struct node *own = flat->own;
    if (own == NULL)
        return;
    if (own->view_ready)
        flat_view_fini(&own->view);
    if (own->memory != MPI_WIN_NULL)
        MPI_Win_free(&own->memory);
    window_close(&own->window);
    flat->own = NULL;
}

const struct transport transport_node = {
    .topology = REPORT_DCA_NODE,
    .open = node_open,
    .draw = node_draw,
    .stop = node_stop,
    .serve = node_serve,
    .look = node_look,
    .drawn = node_drawn,
    .close = node_close,
};
