/* SPDX-License-Identifier: MIT */
/* The lock-free queue of a node: see core_queue.h. */
#include "common/dca/core_queue.h"

#include "common/dca/core.h"

/* Bits of a step. A longer big chunk comes in pieces, so that a step never runs into the epoch. */
#define STEP_BITS 40
#define STEP_MASK ((UINT64_C(1) << STEP_BITS) - 1)
#define REFILLING STEP_MASK
#define ENDED     (STEP_MASK - 1)
#define PIECE_MAX (STEP_MASK - 2)
#define NO_EPOCH  UINT64_MAX

int dca_view_init(struct dca_view *view, const struct sched_spec *technique, unsigned workers, struct error *error)
{
    const struct sched_config config = {.iterations = 0, .workers = workers};
    *view = (struct dca_view){.epoch = NO_EPOCH};
    if (sched_init(&view->sched, technique, &config, error) < 0)
        return -1;
    if (sched_check_closed(&view->sched, error) == 0)
        return 0;
    sched_fini(&view->sched);
    return -1;
}

static void dca_queue_drop_bounds(struct dca_view *view)
{
    if (view->bounded)
        sched_bounds_fini(&view->bounds);
    view->bounded = false;
}

void dca_view_fini(struct dca_view *view)
{
    dca_queue_drop_bounds(view);
    sched_fini(&view->sched);
}

/* Makes the view that of the big chunk of `epoch`, as far as it can be read; the next draw finds out. Once for each big
 * chunk. */
static int dca_queue_look(struct dca_queue *queue, struct dca_view *view, uint64_t epoch, struct error *error)
{
    uint64_t first = atomic_load(&queue->first), count = atomic_load(&queue->count);
    view->epoch = NO_EPOCH;
    if (atomic_load(&queue->head) >> STEP_BITS != epoch)
        return 0; /* the queue has gone on */
    dca_queue_drop_bounds(view);
    if (count > PIECE_MAX)
        return 0; /* half of another one */
    if (sched_again(&view->sched, count, error) < 0 || sched_bounds_init(&view->bounds, &view->sched, error) < 0)
        return -1;
    view->bounded = true;
    view->first = first;
    view->epoch = epoch;
    return 0;
}

/* True if the head is still in the view's epoch and has not been refilling: else what was looked at may be half new. */
static bool is_sound(const struct dca_view *view, uint64_t head)
{
    return head >> STEP_BITS == view->epoch && (head & STEP_MASK) < ENDED;
}

enum dca_drawn dca_queue_draw(struct dca_queue *queue, struct dca_view *view, struct range *chunk, struct error *error)
{
    uint64_t head = atomic_load(&queue->head);
    for (;;) {
        uint64_t step = head & STEP_MASK;
        if (step == ENDED || atomic_load_explicit(&queue->stopped, memory_order_relaxed))
            return DCA_END;
        if (step == REFILLING)
            return DCA_WAIT;
        if (head >> STEP_BITS != view->epoch) {
            if (dca_queue_look(queue, view, head >> STEP_BITS, error) < 0)
                return DCA_BROKEN;
            head = atomic_load(&queue->head);
            if (!is_sound(view, head))
                view->epoch = NO_EPOCH;
            continue;
        }
        bool empty = step >= view->bounds.count;
        if (!atomic_compare_exchange_weak(&queue->head, &head, empty ? head | REFILLING : head + 1))
            continue;
        if (empty)
            return DCA_REFILL;
        chunk->count = sched_bounds_chunk(&view->bounds, step, &chunk->first);
        chunk->first += view->first;
        return DCA_DRAWN;
    }
}

bool dca_queue_is_refilling(const struct dca_queue *queue)
{
    return (atomic_load(&queue->head) & STEP_MASK) == REFILLING && !atomic_load(&queue->stopped);
}

bool dca_queue_take_rest(struct dca_queue *queue, struct range *chunk)
{
    *chunk = (struct range){.first = atomic_load(&queue->rest_first), .count = atomic_load(&queue->rest_count)};
    return chunk->count > 0;
}

static void publish(struct dca_queue *queue, uint64_t step)
{
    uint64_t epoch = (atomic_load(&queue->head) >> STEP_BITS) + 1;
    atomic_store(&queue->head, epoch << STEP_BITS | step); /* the shift drops the wrap of the epoch */
}

void dca_queue_refill(struct dca_queue *queue, const struct range *chunk)
{
    uint64_t piece = chunk->count < PIECE_MAX ? chunk->count : PIECE_MAX;
    atomic_store(&queue->first, chunk->first);
    atomic_store(&queue->count, piece);
    atomic_store(&queue->rest_first, chunk->first + piece);
    atomic_store(&queue->rest_count, chunk->count - piece);
    publish(queue, 0);
}

void dca_queue_end(struct dca_queue *queue)
{
    publish(queue, ENDED);
}

void dca_queue_stop(struct dca_queue *queue)
{
    atomic_store(&queue->stopped, 1);
}
