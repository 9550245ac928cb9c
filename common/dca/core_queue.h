/* SPDX-License-Identifier: MIT */
/* The local queue of a node: one big chunk in shared memory, from which the node's workers draw chunks without locks.
 *
 * One word, the head, holds the number of the big chunk (its epoch) and the scheduling step within it. A draw is a
 * compare-and-swap from (e, i) to (e, i+1); step i of the node's technique fixes the iterations. At the end of the big
 * chunk the step becomes REFILLING: the one worker that sets it fetches the next big chunk, writes its description to
 * the queue, and sets the head to (e+1, 0).
 *
 * Why nothing is drawn twice or lost: the description is written only while the head is REFILLING. If a worker reads
 * the description and then finds the head in the same epoch and not REFILLING, it has read a consistent description.
 * The draw succeeds only if the head has not moved since then. The head does not return to an earlier value: the epoch
 * wraps after 2^24 big chunks, and all of these would have to be drawn while one worker is stopped in the middle of a
 * draw.
 *
 * After the last big chunk the queue is ended or, with recall, drained. While it is drained, a computing worker may
 * give up the iterations of its chunk that it has not begun; they become the next big chunk. A worker that finds the
 * queue drained is counted as hungry until it checks again. The giver claims the queue, by a compare-and-swap from
 * DRAINED to REFILLING, before it cuts its chunk: otherwise another giver might fill the queue first, and the cut
 * iterations would have no place. Once any worker has been hungry, computing workers fill the queue in this way
 * whenever it is drained.
 *
 * Why no worker leaves too early: the queue ends when all workers of the node are hungry at once. A worker becomes
 * hungry only if it finds the queue drained, so the iterations that it gave have been drawn. It stops being hungry
 * before it draws iterations that another worker gave. So if all workers are hungry, none computes, the queue is empty,
 * and none can give.
 *
 * The code is pure: the caller provides the memory and the big chunks. */
#pragma once

#include "common/sched/bounds.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/ranges.h"

#include <stdatomic.h>

/* Technique for iterations that were given up. Its chunks get smaller towards the end, so the workers do not all become
 * hungry again after the same short time. */
#define DCA_GIVEN_TECHNIQUE "fac2"

/* Shared by the node's workers. A queue of zeros is valid: its head is at the end of an empty big chunk. */
struct dca_queue {
    _Alignas(64) _Atomic uint64_t head;
    _Atomic uint64_t first, count;
    _Atomic uint32_t stopped;
    _Alignas(64) _Atomic uint64_t rest_first, rest_count;
    _Alignas(64) _Atomic uint32_t hungry;
    _Atomic uint32_t wanted;
    _Atomic uint32_t dry; /* big chunks now come only from workers that give up iterations, not from the counters */
};

struct dca_view {
    /* `sched`: the node's technique, for big chunks from the counters; `given`: DCA_GIVEN_TECHNIQUE, for iterations
     * that were given up; both owned. */
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
    DCA_HUNGRY, /* no undrawn chunk is left, only running chunks; the worker is hungry until dca_queue_wake() */
    DCA_END,
    DCA_BROKEN,
};

/* `technique`: the technique within the node. Fails if it has no closed form or wrong parameters; `view` then owns
 * nothing. */
int dca_view_init(struct dca_view *view, const struct sched_spec *technique, unsigned workers, struct error *error);
void dca_view_fini(struct dca_view *view);

enum dca_drawn dca_queue_draw(struct dca_queue *queue, struct dca_view *view, struct range *chunk, struct error *error);

bool dca_queue_is_refilling(const struct dca_queue *queue);

/* For the refilling worker: takes the rest of a big chunk that was too long for the queue, before a new big chunk is
 * fetched. Returns false if there is no rest. */
bool dca_queue_take_rest(struct dca_queue *queue, struct range *chunk);

void dca_queue_refill(struct dca_queue *queue, const struct range *chunk);

/* Called after DCA_REFILL if no big chunk is left. With recall the queue is then drained, and ends after all workers
 * have become hungry; without recall it ends at once. */
void dca_queue_end(struct dca_queue *queue, bool recall);

void dca_queue_stop(struct dca_queue *queue);

bool dca_queue_is_drained(const struct dca_queue *queue);

/* Marks the worker as no longer hungry. Call it once after each DCA_HUNGRY, before the next draw. */
void dca_queue_wake(struct dca_queue *queue);

/* Was a worker ever hungry? Reads one word that is not written while big chunks are left, so its cache line stays
 * shared. */
static inline bool dca_queue_is_wanted(const struct dca_queue *queue)
{
    return atomic_load_explicit(&queue->wanted, memory_order_relaxed) != 0;
}

/* Claims the drained queue for a worker that will call dca_queue_give(). Returns false if no worker is hungry or
 * another worker was first. */
bool dca_queue_claim(struct dca_queue *queue);

void dca_queue_give(struct dca_queue *queue, const struct range *cut);
