/* SPDX-License-Identifier: MIT */
/* The local queue of a node: one big chunk in shared memory, from which the node's workers draw chunks without locks.
 *
 * One word, the head, holds the number of the big chunk (its epoch) and the scheduling step within the big chunk. A
 * draw is a compare-and-swap from (e, i) to (e, i+1). Step i of the node's technique fixes the iterations. At the end
 * of the big chunk one worker sets the step to REFILLING. This worker fetches the next big chunk, writes its
 * description to the queue, and sets the head to (e+1, 0).
 *
 * Why nothing is drawn twice or lost: the description is written only while the head is REFILLING. A worker reads the
 * description, and then the head. If the head is in the same epoch and not REFILLING, the description is consistent.
 * The draw succeeds only if the head has not moved since then. The head does not return to an earlier value in that
 * time: the epoch wraps after 2^24 big chunks, and all of these would have to be drawn while one worker is stopped in
 * the middle of a draw.
 *
 * After the last big chunk, the queue is drained if recall is on; otherwise it is ended. While it is drained, a
 * computing worker may give up the iterations of its chunk that it has not begun. They become the next big chunk. A
 * worker that finds the queue drained counts as hungry until it checks again. The giver first claims the queue, by a
 * compare-and-swap from DRAINED to REFILLING, and then cuts its chunk. If it cut first, another giver might fill the
 * queue, and there would be no room for the cut iterations. After any worker has been hungry, computing workers fill
 * the queue in this way whenever it is drained.
 *
 * Why no worker leaves too early: the queue ends when all workers of the node are hungry at once. A worker becomes
 * hungry only if it finds the queue drained, so the iterations that it gave have been drawn. It stops being hungry
 * before it draws iterations of another giver. So if all workers are hungry, none computes, the queue is empty, and
 * none can give.
 *
 * The code is pure: the caller provides the memory and the big chunks. */
#pragma once

#include "common/sched/bounds.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/ranges.h"

#include <stdatomic.h>

/* Technique by which given-up iterations are drawn. Its chunks get smaller towards the end. If they did not, all
 * workers would become hungry again after the same short time. */
#define DCA_GIVEN_TECHNIQUE "fac2"

/* Shared by the node's workers. A queue of zeros is valid: its head is at the end of an empty big chunk. */
struct dca_queue {
    _Alignas(64) _Atomic uint64_t head;
    _Atomic uint64_t first, count;
    _Atomic uint32_t stopped;
    _Alignas(64) _Atomic uint64_t rest_first, rest_count;
    _Alignas(64) _Atomic uint32_t hungry;
    _Atomic uint32_t wanted;
    /* 1: from now on, big chunks come from workers that give up iterations, and no longer from the counters */
    _Atomic uint32_t dry;
};

struct dca_view {
    /* `sched`: the node's technique, for big chunks from the counters. `given`: DCA_GIVEN_TECHNIQUE, for given-up
     * iterations. Both are owned. */
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
    /* all remaining iterations are in running chunks; the worker is hungry until it calls dca_queue_wake() */
    DCA_HUNGRY,
    DCA_END,
    DCA_BROKEN,
};

/* `technique`: the technique within the node. Fails if the technique has no closed form, or if its parameters are
 * wrong. In that case `view` owns nothing. */
int dca_view_init(struct dca_view *view, const struct sched_spec *technique, unsigned workers, struct error *error);
void dca_view_fini(struct dca_view *view);

enum dca_drawn dca_queue_draw(struct dca_queue *queue, struct dca_view *view, struct range *chunk, struct error *error);

bool dca_queue_is_refilling(const struct dca_queue *queue);

/* For the refilling worker, before it fetches a new big chunk: takes the rest of a big chunk that was too long for the
 * queue. Returns false if there is no rest. */
bool dca_queue_take_rest(struct dca_queue *queue, struct range *chunk);

void dca_queue_refill(struct dca_queue *queue, const struct range *chunk);

/* Called after DCA_REFILL if there are no more big chunks. Without recall, the queue ends at once. With recall, the
 * queue is drained, and ends after all workers have become hungry. */
void dca_queue_end(struct dca_queue *queue, bool recall);

void dca_queue_stop(struct dca_queue *queue);

bool dca_queue_is_drained(const struct dca_queue *queue);

/* The worker is no longer hungry. Call this once after each DCA_HUNGRY, before the next draw. */
void dca_queue_wake(struct dca_queue *queue);

/* Was a worker ever hungry? This function reads a word that nobody writes before the last big chunk is drawn. So until
 * then the word's cache line stays in the caches of all cores. */
static inline bool dca_queue_is_wanted(const struct dca_queue *queue)
{
    return atomic_load_explicit(&queue->wanted, memory_order_relaxed) != 0;
}

/* Claims the drained queue for a worker, which will then call dca_queue_give(). Returns false if no worker is hungry,
 * or if another worker was first. */
bool dca_queue_claim(struct dca_queue *queue);

void dca_queue_give(struct dca_queue *queue, const struct range *cut);
