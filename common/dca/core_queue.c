/* SPDX-License-Identifier: MIT */
/* The lock-free queue of a node: see core_queue.h. */
#include "common/dca/core_queue.h"

/* Number of bits of the head that hold the scheduling step. A big chunk with too many iterations is split, so the step
 * never overflows into the epoch. */
#define STEP_BITS 40
#define STEP_MASK ((UINT64_C(1) << STEP_BITS) - 1)
#define REFILLING STEP_MASK
#define ENDED     (STEP_MASK - 1)
#define DRAINED   (STEP_MASK - 2)
#define PIECE_MAX (STEP_MASK - 3)
#define NO_EPOCH  UINT64_MAX

int dca_view_init(struct dca_view *view, const struct sched_spec *technique, unsigned workers, struct error *error)
{
    const struct sched_config config = {.iterations = 0, .workers = workers};
    *view = (struct dca_view){.epoch = NO_EPOCH};
    struct sched_spec given;
    if (sched_spec_parse(&given, DCA_GIVEN_TECHNIQUE, error) < 0 ||
        sched_init(&view->sched, technique, &config, error) < 0)
        return -1;
    if (sched_check_closed(&view->sched, error) == 0 && sched_init(&view->given, &given, &config, error) == 0)
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
    sched_fini(&view->given);
    sched_fini(&view->sched);
}

static int dca_queue_look(struct dca_queue *queue, struct dca_view *view, uint64_t epoch, struct error *error)
{
    uint64_t first = atomic_load(&queue->first), count = atomic_load(&queue->count);
    struct sched *sched = atomic_load(&queue->dry) ? &view->given : &view->sched;
    view->epoch = NO_EPOCH;
    if (atomic_load(&queue->head) >> STEP_BITS != epoch)
        return 0;
    dca_queue_drop_bounds(view);
    if (count > PIECE_MAX)
        return 0;
    if (sched_again(sched, count, error) < 0 || sched_bounds_init(&view->bounds, sched, error) < 0)
        return -1;
    view->bounded = true;
    view->first = first;
    view->epoch = epoch;
    return 0;
}

/* Can the view be used? If the head is REFILLING, or in another epoch than the view, the view may mix the old and the
 * new description. */
static bool is_sound(const struct dca_view *view, uint64_t head)
{
    return head >> STEP_BITS == view->epoch && (head & STEP_MASK) <= PIECE_MAX;
}

/* Returns the step that the head gets after the last chunk of a big chunk is drawn. This is DRAINED if big chunks come
 * only from workers that give up iterations, and if no rest of a big chunk is waiting. Otherwise it is `wet`. The
 * description of the big chunk does not change before the last draw. */
static uint64_t dca_queue_step_behind(const struct dca_queue *queue, uint64_t wet)
{
    bool dry = atomic_load(&queue->dry) != 0 && atomic_load(&queue->rest_count) == 0;
    return dry ? DRAINED : wet;
}

/* Called after a worker has found the queue drained. The last worker that becomes hungry ends the queue. At that time
 * the queue is still drained (see core_queue.h), or another worker has just ended it. */
static enum dca_drawn dca_queue_hunger(struct dca_queue *queue, unsigned workers)
{
    atomic_store(&queue->wanted, 1);
    if (atomic_fetch_add(&queue->hungry, 1) + 1 < workers)
        return DCA_HUNGRY;
    uint64_t head = atomic_load(&queue->head);
    if ((head & STEP_MASK) == DRAINED)
        atomic_compare_exchange_strong(&queue->head, &head, head - DRAINED + ENDED);
    return DCA_END;
}

enum dca_drawn dca_queue_draw(struct dca_queue *queue, struct dca_view *view, struct range *chunk, struct error *error)
{
    uint64_t head = atomic_load(&queue->head);
    for (;;) {
        uint64_t step = head & STEP_MASK;
        if (atomic_load_explicit(&queue->stopped, memory_order_relaxed))
            return DCA_END;
        if (step > PIECE_MAX)
            return step == DRAINED ? dca_queue_hunger(queue, view->sched.workers) : step == ENDED ? DCA_END : DCA_WAIT;
        if (head >> STEP_BITS != view->epoch) {
            if (dca_queue_look(queue, view, head >> STEP_BITS, error) < 0)
                return DCA_BROKEN;
            head = atomic_load(&queue->head);
            if (!is_sound(view, head))
                view->epoch = NO_EPOCH;
            continue;
        }
        bool empty = step >= view->bounds.count;
        uint64_t next = head + 1;
        if (step + 1 >= view->bounds.count)
            next = head - step + dca_queue_step_behind(queue, empty ? REFILLING : step + 1);
        if (!atomic_compare_exchange_weak(&queue->head, &head, next))
            continue;
        if (empty && (next & STEP_MASK) == REFILLING)
            return DCA_REFILL;
        if (empty) {
            head = next;
            continue;
        }
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
    atomic_store(&queue->head, epoch << STEP_BITS | step);
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

void dca_queue_end(struct dca_queue *queue, bool recall)
{
    atomic_store(&queue->dry, recall);
    publish(queue, recall ? DRAINED : ENDED);
}

void dca_queue_stop(struct dca_queue *queue)
{
    atomic_store(&queue->stopped, 1);
}

bool dca_queue_is_drained(const struct dca_queue *queue)
{
    return (atomic_load(&queue->head) & STEP_MASK) == DRAINED && !atomic_load(&queue->stopped);
}

void dca_queue_wake(struct dca_queue *queue)
{
    atomic_fetch_sub(&queue->hungry, 1);
}

bool dca_queue_claim(struct dca_queue *queue)
{
    uint64_t head = atomic_load(&queue->head);
    return (head & STEP_MASK) == DRAINED && dca_queue_is_wanted(queue) && dca_queue_is_drained(queue) &&
           atomic_compare_exchange_strong(&queue->head, &head, head | REFILLING);
}

void dca_queue_give(struct dca_queue *queue, const struct range *cut)
{
    if (cut->count > 0)
        dca_queue_refill(queue, cut);
    else
        publish(queue, DRAINED);
}
