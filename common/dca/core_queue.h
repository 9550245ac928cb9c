/* SPDX-License-Identifier: MIT */
/* The local queue of a node: one big chunk in shared memory, from which the node's workers draw chunks without locks.
 *
 * One word, the head, holds the number of the big chunk (its epoch) and the scheduling step within it. A draw is a
 * compare-and-swap from (e, i) to (e, i+1); step i of the node's technique fixes the iterations. At the end of the big
 * chunk the step becomes REFILLING: the one worker that sets it fetches the next big chunk, writes its description to
 * the queue, and sets the head to (e+1, 0).
 *
 * Why nothing is drawn twice or lost: the description is written only while the head is REFILLING. A worker that has
 * read it and then finds the head in the same epoch, at a step, has read it consistently. The draw succeeds only if the
 * head has not moved since then. A head does not recur: the epoch wraps after 2^24 big chunks, and all these would have
 * to pass during one draw of a stopped worker.
 *
 * After the last big chunk the queue is ended or, with recall, drained: a computing worker may then give up all that it
 * has not begun of its chunk, as the next big chunk. A worker that finds the queue drained is counted as hungry until
 * it checks again. A giver claims the queue, by a compare-and-swap from DRAINED to REFILLING, before it cuts its chunk,
 * so that cut iterations always have a place. After a worker was hungry once, the queue is filled this way whenever it
 * is drained.
 *
 * Why no worker leaves too early: the queue ends when all workers of the node are hungry at once. A worker becomes
 * hungry only if it finds the queue drained after everything that it gave itself, and stops being hungry before it
 * draws what another worker gave. So if all are hungry, no worker computes, the queue is empty, and no worker can give.
 *
 * Pure: the caller provides the memory and the big chunks. */
#pragma once

#include "common/sched/bounds.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/ranges.h"

#include <stdatomic.h>

/* Technique for iterations that were given up. Its chunks get smaller towards the end, so workers do not all become
 * hungry again soon. */
#define DCA_GIVEN_TECHNIQUE "fac2"

/* Shared by the node's workers. If it is all zeros, the head is at the end of an empty chunk. */
struct dca_queue {
    _Alignas(64) _Atomic uint64_t head;
    _Atomic uint64_t first, count;
    _Atomic uint32_t stopped;
    _Alignas(64) _Atomic uint64_t rest_first, rest_count;
    _Alignas(64) _Atomic uint32_t hungry;
    _Atomic uint32_t wanted;
    _Atomic uint32_t dry; /* big chunks come only from givers, no longer from the counters */
};

struct dca_view {
    /* The node's technique for big chunks from the counters, and DCA_GIVEN_TECHNIQUE for iterations given up; owned. */
    struct sched sched;
    struct sched given;
    struct sched_bounds bounds;
    bool bounded;
    uint64_t epoch;
    uint64_t first;
};

enum dca_drawn {
    DCA_DRAWN,
    DCA_REFILL, /* the worker must fetch a big chunk, then call dca_queue_refill() or dca_queue_end() */
    DCA_WAIT,
    DCA_HUNGRY, /* only running chunks are left; the worker is hungry until dca_queue_wake() */
    DCA_END,
    DCA_BROKEN,
};

/* `technique`: the node's. Fails if it has no closed form or wrong parameters; then nothing is owned. */
int dca_view_init(struct dca_view *view, const struct sched_spec *technique, unsigned workers, struct error *error);
void dca_view_fini(struct dca_view *view);

enum dca_drawn dca_queue_draw(struct dca_queue *queue, struct dca_view *view, struct range *chunk, struct error *error);

bool dca_queue_is_refilling(const struct dca_queue *queue);

/* For the refilling worker: takes the rest of the last big chunk, which goes before a new one. Returns false if there
 * is none. */
bool dca_queue_take_rest(struct dca_queue *queue, struct range *chunk);

void dca_queue_refill(struct dca_queue *queue, const struct range *chunk);

/* Called after DCA_REFILL if no big chunk is left. With recall the queue is drained until all workers are hungry;
 * otherwise it ends. */
void dca_queue_end(struct dca_queue *queue, bool recall);

void dca_queue_stop(struct dca_queue *queue);

bool dca_queue_is_drained(const struct dca_queue *queue);

/* The worker checks again, and is not hungry until it finds the queue drained again. Call it once after each
 * DCA_HUNGRY, before the next draw. */
void dca_queue_wake(struct dca_queue *queue);

/* Was a worker ever hungry? Loads one word, which does not change while there are big chunks. */
static inline bool dca_queue_is_wanted(const struct dca_queue *queue)
{
    return atomic_load_explicit(&queue->wanted, memory_order_relaxed) != 0;
}

/* Claims the drained queue for a worker that will call dca_queue_give(). Returns false if no worker is hungry or
 * another worker was first. */
bool dca_queue_claim(struct dca_queue *queue);

void dca_queue_give(struct dca_queue *queue, const struct range *cut);
