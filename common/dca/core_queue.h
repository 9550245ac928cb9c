/* SPDX-License-Identifier: MIT */
/* The local queue of a node: one big chunk in shared memory, from which the node's workers draw chunks without locks.
 *
 * One word, the head, says it all: the number of the big chunk (its epoch) and the scheduling step in it. A draw is a
 * compare-and-swap from (e, i) to (e, i+1), and step i of the node's technique fixes which iterations these are. At the
 * end of the big chunk the step becomes REFILLING: whoever makes it so, exactly one, fetches the next big chunk,
 * describes it in the queue, and sets the head to (e+1, 0).
 *
 * Why nothing is drawn twice or lost: the description is written only while the head says REFILLING, so a worker that
 * has read it and then finds the head at its epoch, with a step, has read it whole; the draw counts only if the head
 * has not moved since it was looked at. A head does not come back: the epoch grows, and wraps after 2^24 big chunks
 * only, all of them within one draw of a worker that stands still at the same step.
 *
 * Behind the last big chunk the queue is ended, or with recall drained: then a worker that computes may give up what it
 * has not begun of its chunk, all of it, which becomes the next big chunk. To be drained is to wait for that: who finds
 * the queue so is counted as hungry until it looks again. A giver claims the queue, by a compare-and-swap from drained
 * to REFILLING, before it cuts its chunk, so that nothing that was cut off is left over. Once a worker was hungry the
 * queue is filled so whenever it is drained, not only when the next one is hungry.
 *
 * Why nobody leaves too early: the queue ends when all workers of the node are hungry at once. A worker becomes hungry
 * only when it has found the queue drained after all that it gave itself, and is no longer hungry before it draws what
 * another gave; so where all are hungry nobody computes, nothing is in the queue, and nobody is left who could give.
 *
 * Pure: where the memory is and where big chunks come from is the caller's. */
#pragma once

#include "common/sched/bounds.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/ranges.h"

#include <stdatomic.h>

/* The technique by which what a worker gives up is drawn: in small chunks at the end, whatever the node's technique is,
 * so that the next worker is not hungry soon again. */
#define DCA_GIVEN_TECHNIQUE "fac2"

/* A queue of all zeros has its head at the end of an empty chunk. Shared by the node's workers. */
struct dca_queue {
    _Alignas(64) _Atomic uint64_t head; /* epoch << STEP_BITS | step */
    _Atomic uint64_t first, count;      /* the big chunk */
    _Atomic uint32_t stopped;
    _Alignas(64) _Atomic uint64_t rest_first, rest_count; /* rest of a big chunk that is too long, for the refiller */
    _Alignas(64) _Atomic uint32_t hungry; /* workers that have found the queue drained, and not looked again */
    _Atomic uint32_t wanted;              /* a worker was hungry once */
    _Atomic uint32_t dry;                 /* no big chunk comes from the counters any more, but from who gives it up */
};

/* A worker's view of the queue. */
struct dca_view {
    struct sched sched; /* the node's technique, for the big chunk of the epoch; owned */
    struct sched given; /* the same for what is given up, whose technique is DCA_GIVEN_TECHNIQUE; owned */
    struct sched_bounds bounds;
    bool bounded;
    uint64_t epoch; /* NO_EPOCH: none seen */
    uint64_t first;
};

enum dca_drawn {
    DCA_DRAWN,  /* a chunk */
    DCA_REFILL, /* the worker must fetch a big chunk: dca_queue_refill() or dca_queue_end() comes next */
    DCA_WAIT,   /* a big chunk is on its way with another worker */
    DCA_HUNGRY, /* only what others compute is left: the worker is hungry until dca_queue_wake() */
    DCA_END,    /* no chunk is left */
    DCA_BROKEN, /* the view cannot be prepared: one line in `error` */
};

/* Prepares for the node's technique among `workers`. -1 with one line: it has no closed form, or its parameters are
 * wrong; nothing is owned then. */
int dca_view_init(struct dca_view *view, const struct sched_spec *technique, unsigned workers, struct error *error);
void dca_view_fini(struct dca_view *view);

enum dca_drawn dca_queue_draw(struct dca_queue *queue, struct dca_view *view, struct range *chunk, struct error *error);

/* True if a draw would return DCA_WAIT, at this moment. */
bool dca_queue_is_refilling(const struct dca_queue *queue);

/* Takes the rest of the last big chunk, for the worker that is to refill, before it fetches a new one. False where
 * there is none. */
bool dca_queue_take_rest(struct dca_queue *queue, struct range *chunk);

/* Puts a big chunk into the queue; the draw must have returned DCA_REFILL. */
void dca_queue_refill(struct dca_queue *queue, const struct range *chunk);

/* Ends the queue, as no big chunk is left; the draw must have returned DCA_REFILL. With recall it is drained instead,
 * until all workers of the node are hungry. */
void dca_queue_end(struct dca_queue *queue, bool recall);

/* Ends all draws from now on, whatever the queue holds. */
void dca_queue_stop(struct dca_queue *queue);

/* --- recall --- */

/* True if a hungry worker need not look again. */
bool dca_queue_is_drained(const struct dca_queue *queue);

/* The worker looks again, and is not hungry while it does; each DCA_HUNGRY is followed by one, before the next draw. */
void dca_queue_wake(struct dca_queue *queue);

/* True if a worker is hungry or was: one load, of a word that does not change while there are big chunks. */
static inline bool dca_queue_is_wanted(const struct dca_queue *queue)
{
    return atomic_load_explicit(&queue->wanted, memory_order_relaxed) != 0;
}

/* Claims the drained queue for a worker that is to cut its chunk; dca_queue_give() comes next. False where
 * it is not drained or not wanted, or another worker is quicker: nothing is claimed then. */
bool dca_queue_claim(struct dca_queue *queue);

/* Puts what was cut off into the queue, or leaves it drained where the count is 0. */
void dca_queue_give(struct dca_queue *queue, const struct range *cut);
