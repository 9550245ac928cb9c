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
 * Pure: where the memory is and where big chunks come from is the caller's. */
#pragma once

#include "common/sched/bounds.h"
#include "common/util/ranges.h"

#include <stdatomic.h>

/* A queue of all zeros has its head at the end of an empty chunk. Shared by the node's workers. */
struct dca_queue {
    _Alignas(64) _Atomic uint64_t head; /* epoch << STEP_BITS | step */
    _Atomic uint64_t first, count;      /* the big chunk */
    _Atomic uint32_t stopped;
    _Alignas(64) _Atomic uint64_t rest_first, rest_count; /* rest of a big chunk that is too long, for the refiller */
};

/* A worker's view of the queue. */
struct dca_view {
    struct sched sched; /* the node's technique, for the big chunk of the epoch; owned */
    struct sched_bounds bounds;
    bool bounded;
    uint64_t epoch; /* NO_EPOCH: none seen */
    uint64_t first;
};

enum dca_drawn {
    DCA_DRAWN,  /* a chunk */
    DCA_REFILL, /* the worker must fetch a big chunk: dca_queue_refill() or dca_queue_end() comes next */
    DCA_WAIT,   /* a big chunk is on its way with another worker */
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

/* Ends the queue, as no big chunk is left; the draw must have returned DCA_REFILL. */
void dca_queue_end(struct dca_queue *queue);

/* Ends all draws from now on, whatever the queue holds. */
void dca_queue_stop(struct dca_queue *queue);
