/* SPDX-License-Identifier: MIT */
/* The running chunk of a worker, in memory that all ranks of a node share. While the kernel is in an iteration, the
 * rank that serves the worker takes iterations that have not begun from the end of the chunk, without the worker's
 * help.
 *
 * The worker opens the span before a call of the kernel, and claims the iterations of each further call; both sides
 * change one word by compare-and-swap. The word has three fields: the number of the opening, so that nothing is taken
 * from another chunk; how many iterations have begun; and where the chunk ends. The other members are set when the span
 * is opened: their values are valid if the word has not changed since they were read. A closed span still has the
 * number of the latest chunk. */
#pragma once

#include "common/machine/machine.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct span {
    /* Three packed fields: a number that changes with each span_open(), how many iterations have begun, and how many
     * the chunk has. Both counts are in units of `unit` iterations. 0: the span is closed. */
    _Alignas(64) _Atomic uint64_t word;
    _Atomic uint64_t first, count, unit;
    _Atomic uint32_t chunk; /* number of the latest chunk; 0: unknown to the server */
    _Atomic uint32_t openings;
    _Atomic uint32_t server;
};

/* The span must be closed. */
static inline void span_note_chunk(struct span *span, uint32_t chunk)
{
    atomic_store_explicit(&span->chunk, chunk, memory_order_relaxed);
}

/* Lets rank `server` take iterations of the chunk, of which `begun` >= 1 have begun. `chunk`: the number by which the
 * server knows it. Returns false if nothing is left to take. */
bool span_open(struct span *span, unsigned server, uint32_t chunk, uint64_t first, uint64_t count, uint64_t begun);

/* Claims the first `begun` iterations of the chunk for the worker, or fewer if the rest was taken. Returns how many
 * iterations the chunk has now. */
uint64_t span_claim(struct span *span, uint64_t begun);

/* Returns how many iterations the chunk has. Nothing more can be taken. */
uint64_t span_close(struct span *span);

/* Takes the share by recall_share() for `waiting` workers. Returns false if rank `server` can take nothing, because the
 * worker computes nothing or has begun all iterations of its chunk; `stolen` then only has the number of the latest
 * chunk. */
bool span_steal(struct span *span, unsigned server, unsigned waiting, struct stolen *stolen);
