/* SPDX-License-Identifier: MIT */
/* The lock-free queue of a node: see core_queue.h. */
#include "common/dca/core_queue.h"

#include <assert.h>

/* The bits of a head are those of the epoch, the owner and the step. A longer big chunk comes in pieces, so that a step
 * never runs into the owner. */
#define STEP_BITS   32
#define EPOCH_SHIFT (STEP_BITS + DCA_OWNER_BITS)
#define STEP_MASK   ((UINT64_C(1) << STEP_BITS) - 1)
#define EPOCH_MASK  (UINT64_MAX << EPOCH_SHIFT)
#define REFILLING   STEP_MASK
#define ENDED       (STEP_MASK - 1)
#define DRAINED     (STEP_MASK - 2)
#define PIECE_MAX   (STEP_MASK - 3)
#define NO_EPOCH    UINT64_MAX

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

void dca_view_keep(struct dca_view *view, const struct dca_intents *intents, unsigned worker,
                   const struct dca_book *book)
{
    view->intents = intents;
    view->intent = &intents->of[worker];
    view->seen = intents->seen + worker * intents->stride;
    view->owner = (uint64_t)worker << STEP_BITS;
    view->book = book;
}

/* --- draws --- */

/* Notes that the view's worker moves the head on, before it tries. */
static inline void dca_queue_see(const struct dca_view *view, uint64_t head)
{
    if (view->intent != NULL)
        atomic_store_explicit(&view->seen[(head & ~EPOCH_MASK) >> STEP_BITS], head, memory_order_release);
}

/* The head at another step, made by the view's worker. */
static inline uint64_t dca_queue_head_at(const struct dca_view *view, uint64_t head, uint64_t step)
{
    return (head & EPOCH_MASK) | view->owner | step;
}

/* Makes the view that of the big chunk of `epoch`, as far as it can be read; the next draw finds out. Once for each big
 * chunk. */
static int dca_queue_look(struct dca_queue *queue, struct dca_view *view, uint64_t epoch, struct error *error)
{
    uint64_t first = atomic_load(&queue->first), count = atomic_load(&queue->count);
    struct sched *sched = atomic_load(&queue->dry) ? &view->given : &view->sched;
    view->epoch = NO_EPOCH;
    if (atomic_load(&queue->head) >> EPOCH_SHIFT != epoch)
        return 0; /* the queue has gone on */
    dca_queue_drop_bounds(view);
    if (count > PIECE_MAX)
        return 0; /* half of another one */
    if (view->book != NULL && dca_book_suspects(view->book, &(struct range){first, count}))
        return 0;
    if (sched_again(sched, count, error) < 0 || sched_bounds_init(&view->bounds, sched, error) < 0)
        return -1;
    view->bounded = true;
    view->first = first;
    view->epoch = epoch;
    return 0;
}

/* True if the head is still in the view's epoch and has not been refilling: else what was looked at may be half new. */
static bool is_sound(const struct dca_view *view, uint64_t head)
{
    return head >> EPOCH_SHIFT == view->epoch && (head & STEP_MASK) <= PIECE_MAX;
}

/* The step behind the last chunk of a big one: DRAINED, or `wet` where another big chunk may come from the counters.
 * The description of the big chunk, its rest among it, does not change before that step is taken. */
static uint64_t dca_queue_step_behind(const struct dca_queue *queue, uint64_t wet)
{
    bool dry = atomic_load(&queue->dry) != 0 && atomic_load(&queue->rest_count) == 0;
    return dry ? DRAINED : wet;
}

/* The queue is drained, and the worker has nothing. The last one to find that ends the queue: it is still drained then,
 * see the top of core_queue.h, or another one has just ended it, who looked again for nothing. */
static enum dca_drawn dca_queue_hunger(struct dca_queue *queue, const struct dca_view *view)
{
    atomic_store(&queue->wanted, 1);
    if (view->intent != NULL) {
        atomic_store(&view->intent->hungry, 1);
        return DCA_HUNGRY;
    }
    if (atomic_fetch_add(&queue->hungry, 1) + 1 < view->sched.workers)
        return DCA_HUNGRY;
    uint64_t head = atomic_load(&queue->head);
    if ((head & STEP_MASK) == DRAINED)
        atomic_compare_exchange_strong(&queue->head, &head, dca_queue_head_at(view, head, ENDED));
    return DCA_END;
}

static inline void dca_queue_cut_chunk(const struct dca_view *view, uint64_t step, struct range *chunk)
{
    chunk->count = sched_bounds_chunk(&view->bounds, step, &chunk->first);
    chunk->first += view->first;
}

/* The draw, where intents are kept and where not: one each, as a draw is not much longer than what this adds to it. */
static inline __attribute__((always_inline)) enum dca_drawn dca_queue_draw_as(struct dca_queue *queue,
                                                                              struct dca_view *view,
                                                                              struct range *chunk, const bool keeps,
                                                                              struct error *error)
{
    uint64_t head = atomic_load(&queue->head);
    for (;;) {
        uint64_t step = head & STEP_MASK;
        if (atomic_load_explicit(&queue->stopped, memory_order_relaxed))
            return DCA_END;
        if (step > PIECE_MAX)
            return step == DRAINED ? dca_queue_hunger(queue, view) : step == ENDED ? DCA_END : DCA_WAIT;
        if (head >> EPOCH_SHIFT != view->epoch) {
            if (dca_queue_look(queue, view, head >> EPOCH_SHIFT, error) < 0)
                return DCA_BROKEN;
            if (keeps && view->book != NULL && view->epoch == NO_EPOCH)
                return DCA_WAIT; /* others compute what somebody was lost with */
            head = atomic_load(&queue->head);
            if (!is_sound(view, head))
                view->epoch = NO_EPOCH;
            continue;
        }
        const bool empty = step >= view->bounds.count;
        uint64_t next = keeps ? dca_queue_head_at(view, head, step + 1) : head + 1;
        if (step + 1 >= view->bounds.count)
            next = dca_queue_head_at(view, head, dca_queue_step_behind(queue, empty ? REFILLING : step + 1));
        if (keeps && !empty) {
            dca_queue_cut_chunk(view, step, chunk);
            dca_intent_announce(view->intent, next, chunk);
        }
        if (keeps)
            dca_queue_see(view, head);
        if (!atomic_compare_exchange_weak(&queue->head, &head, next))
            continue;
        if (empty && (next & STEP_MASK) == REFILLING)
            return DCA_REFILL;
        if (empty) {
            head = next;
            continue;
        }
        if (keeps)
            dca_intent_confirm(view->intent);
        else
            dca_queue_cut_chunk(view, step, chunk);
        return DCA_DRAWN;
    }
}

enum dca_drawn dca_queue_draw(struct dca_queue *queue, struct dca_view *view, struct range *chunk, struct error *error)
{
    return view->intent != NULL ? dca_queue_draw_as(queue, view, chunk, true, error)
                                : dca_queue_draw_as(queue, view, chunk, false, error);
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

static void dca_queue_publish(struct dca_queue *queue, const struct dca_view *view, uint64_t step)
{
    const uint64_t epoch = (atomic_load(&queue->head) >> EPOCH_SHIFT) + 1;
    atomic_store(&queue->head, epoch << EPOCH_SHIFT | view->owner | step); /* the shift drops the wrap of the epoch */
}

/* Describes a big chunk, and puts it into the queue. The worker's intent is to do so until dca_queue_has_put(). */
static void dca_queue_put(struct dca_queue *queue, const struct dca_view *view, const struct range *chunk)
{
    const uint64_t piece = chunk->count < PIECE_MAX ? chunk->count : PIECE_MAX;
    if (view->intent != NULL) {
        view->intent->big = *chunk;
        atomic_store_explicit(&view->intent->puts, 1, memory_order_release);
    }
    atomic_store(&queue->first, chunk->first);
    atomic_store(&queue->count, piece);
    atomic_store(&queue->rest_first, chunk->first + piece);
    atomic_store(&queue->rest_count, chunk->count - piece);
    dca_queue_publish(queue, view, 0);
}

static void dca_queue_has_put(const struct dca_view *view)
{
    if (view->intent != NULL)
        atomic_store_explicit(&view->intent->puts, 0, memory_order_release);
}

void dca_queue_refill(struct dca_queue *queue, const struct dca_view *view, const struct range *chunk)
{
    dca_queue_put(queue, view, chunk);
    dca_queue_has_put(view);
}

void dca_queue_end(struct dca_queue *queue, const struct dca_view *view, bool recall)
{
    assert(recall || view->intent == NULL);
    atomic_store(&queue->dry, recall);
    dca_queue_publish(queue, view, recall ? DRAINED : ENDED);
}

void dca_queue_stop(struct dca_queue *queue)
{
    atomic_store(&queue->stopped, 1);
}

/* --- recall --- */

bool dca_queue_is_drained(const struct dca_queue *queue)
{
    return (atomic_load(&queue->head) & STEP_MASK) == DRAINED && !atomic_load(&queue->stopped);
}

void dca_queue_wake(struct dca_queue *queue, const struct dca_view *view)
{
    if (view->intent != NULL)
        atomic_store(&view->intent->hungry, 0);
    else
        atomic_fetch_sub(&queue->hungry, 1);
}

/* Makes the drained queue REFILLING. False where another worker is quicker. */
static bool dca_queue_take_hold(struct dca_queue *queue, const struct dca_view *view)
{
    uint64_t head = atomic_load(&queue->head);
    if ((head & STEP_MASK) != DRAINED || !dca_queue_is_drained(queue))
        return false;
    dca_queue_see(view, head);
    return atomic_compare_exchange_strong(&queue->head, &head, dca_queue_head_at(view, head, REFILLING));
}

bool dca_queue_claim(struct dca_queue *queue, const struct dca_view *view)
{
    return dca_queue_is_wanted(queue) && dca_queue_take_hold(queue, view);
}

void dca_queue_give(struct dca_queue *queue, const struct dca_view *view, const struct range *cut)
{
    if (cut->count == 0) {
        dca_queue_publish(queue, view, DRAINED);
        return;
    }
    dca_queue_put(queue, view, cut);
    if (view->intent != NULL)
        dca_intent_shorten(view->intent, cut->count);
    dca_queue_has_put(view);
}

/* --- losses --- */

/* The lost worker was to put the next big chunk into the queue. It had begun to, or what it was to put follows from the
 * queue: the rest of a long one, nothing where it was to give what it had not cut yet, and else what the counters say
 * is drawn, as nobody else draws from them meanwhile. Where that is nothing either, whoever draws next refills. */
static void dca_queue_take_over(struct dca_queue *queue, const struct dca_view *view, const struct dca_intent *intent,
                                uint64_t drawn)
{
    const uint64_t first = atomic_load(&queue->rest_first), count = atomic_load(&queue->rest_count);
    if (atomic_load(&intent->puts))
        dca_queue_refill(queue, view, &(struct range){intent->big.first, intent->big.count});
    else if (count > 0)
        dca_queue_refill(queue, view, &(struct range){first, count});
    else if (atomic_load(&queue->dry))
        dca_queue_publish(queue, view, DRAINED);
    else
        dca_queue_refill(queue, view, &(struct range){first, drawn > first ? drawn - first : 0});
}

bool dca_queue_lose(struct dca_queue *queue, const struct dca_view *view, unsigned worker, uint64_t drawn,
                    struct range *chunk)
{
    const struct dca_intent *intent = &view->intents->of[worker];
    const uint64_t head = atomic_load(&queue->head), owner = (head & ~EPOCH_MASK) >> STEP_BITS;
    const bool holds = dca_intent_find(view->intents, worker, head, chunk);
    if (owner == worker && (head & STEP_MASK) == REFILLING)
        dca_queue_take_over(queue, view, intent, drawn);
    return holds;
}

/* Ends the drained queue if each worker that is not lost is hungry. While the head stays what it is nobody comes to
 * have anything, so all that were found hungry still are when it changes. */
static bool dca_queue_settle(struct dca_queue *queue, const struct dca_view *view)
{
    uint64_t head = atomic_load(&queue->head);
    if ((head & STEP_MASK) != DRAINED)
        return false;
    for (unsigned w = 0; w < view->intents->workers; w++)
        if (!view->book->holders[w].lost && !atomic_load(&view->intents->of[w].hungry))
            return false;
    return atomic_compare_exchange_strong(&queue->head, &head, dca_queue_head_at(view, head, ENDED));
}

bool dca_queue_relieve(struct dca_queue *queue, const struct dca_view *view, struct dca_book *book,
                       uint64_t (*count_drawn)(void *context), void *context)
{
    if (atomic_load(&queue->stopped))
        dca_book_stop(book);
    if (!dca_queue_is_drained(queue))
        return false;
    dca_book_close_gap(book, count_drawn(context));
    const struct range *lost = dca_book_to_put(book);
    if (lost == NULL)
        return dca_queue_settle(queue, view);
    if (!dca_queue_take_hold(queue, view))
        return false;
    dca_queue_refill(queue, view, lost);
    dca_book_has_put(book);
    return true;
}
