/* SPDX-License-Identifier: MIT */
/* The intents of a node's workers, in its shared memory: each worker writes what it is about to take from the queue
 * before it takes it, so that rank 0 knows which chunk a lost worker had.
 *
 * A worker takes a chunk when it moves the queue's head, and it may be lost before or behind that moment. The head
 * names the worker that has moved it last. A worker that moves it on first writes the old head into its row of `seen`,
 * at the column of the worker that the old head names. So an intent was carried out if and only if the head that it
 * announces is the queue's head, or stands in its worker's column. That holds until the worker confirms it by itself,
 * before it puts anything into the queue. Each worker writes to its own cache lines alone.
 *
 * A worker that begins its next draw has computed and stored its chunk. With that it counts a draw, which makes its
 * intent void and its newer record valid, in one store.
 *
 * Invariants (dca_intent_check): a chunk that is held lies in the loop; a hungry worker holds none.
 * Pure: where the memory is is the caller's. */
#pragma once

#include "common/util/ranges.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Workers of a node at most, as a head can name them. */
#define DCA_OWNER_BITS 10
#define DCA_OWNERS     (1u << DCA_OWNER_BITS)

/* Bytes of a record at most. */
#define DCA_RECORD_MAX 192

struct dca_intent {
    _Alignas(64) _Atomic uint64_t draws; /* draws that the worker has begun */
    _Atomic uint64_t draw;  /* the draw in which it intends to take `chunk`; another one: it intends nothing */
    _Atomic uint64_t head;  /* what the queue's head becomes when it does */
    _Atomic uint64_t taken; /* the latest draw in which it has taken a chunk, as far as it came to say so */
    struct range chunk;
    struct range big;                        /* what it is putting into the queue, while `puts` */
    _Atomic uint32_t puts;                   /* the queue's description may be half written */
    _Atomic uint32_t hungry;                 /* it has found the queue drained, and not looked again */
    unsigned char record[2][DCA_RECORD_MAX]; /* what it had done when it began draw n, at n mod 2 */
};

/* A process's view of the intents of all workers of its node. */
struct dca_intents {
    unsigned workers;
    struct dca_intent *of;  /* [workers] shared */
    _Atomic uint64_t *seen; /* [workers][stride] shared; 0: none */
    size_t stride;
};

/* Bytes that the intents of so many workers take, all of them zero at first. */
size_t dca_intents_bytes(unsigned workers);
/* `memory` is aligned to a cache line. */
struct dca_intents dca_intents_at(void *memory, unsigned workers);

/* Notes that the worker begins a draw: its chunk is computed, and `record` says what it has done. */
static inline void dca_intent_begin(const struct dca_intents *intents, unsigned worker, const void *record,
                                    size_t bytes)
{
    struct dca_intent *intent = &intents->of[worker];
    const uint64_t draws = atomic_load_explicit(&intent->draws, memory_order_relaxed) + 1;
    assert(bytes <= DCA_RECORD_MAX);
    memcpy(intent->record[draws % 2], record, bytes);
    atomic_store_explicit(&intent->draws, draws, memory_order_release);
}

/* Notes that the worker takes `chunk` if the queue's head becomes `head`, and that it has done so. */
static inline void dca_intent_announce(struct dca_intent *intent, uint64_t head, const struct range *chunk)
{
    intent->chunk = *chunk;
    atomic_store_explicit(&intent->head, head, memory_order_release);
    atomic_store_explicit(&intent->draw, atomic_load_explicit(&intent->draws, memory_order_relaxed),
                          memory_order_release);
}

static inline void dca_intent_confirm(struct dca_intent *intent)
{
    atomic_store_explicit(&intent->taken, atomic_load_explicit(&intent->draws, memory_order_relaxed),
                          memory_order_release);
}

/* Notes that the end of the chunk is another worker's now. Between `puts` and its end. */
static inline void dca_intent_shorten(struct dca_intent *intent, uint64_t count)
{
    intent->chunk.count -= count;
    atomic_signal_fence(memory_order_release);
}

/* Returns what the worker had done when it began its latest draw. */
const void *dca_intent_record(const struct dca_intents *intents, unsigned worker);

/* Finds what a worker that is lost holds, where the queue's head is `head`. False: nothing. */
bool dca_intent_find(const struct dca_intents *intents, unsigned worker, uint64_t head, struct range *chunk);

/* Returns NULL, or the invariant that does not hold of a worker that runs no more. */
const char *dca_intent_check(const struct dca_intents *intents, unsigned worker, uint64_t head, uint64_t iterations);
