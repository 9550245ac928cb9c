/* SPDX-License-Identifier: MIT */
/* The running chunk of a worker in memory that the ranks of its node share: while the kernel is in an iteration, the
 * rank that serves the worker takes iterations that have not begun from the end of the chunk, without its help.
 *
 * The worker opens the span before a call of the kernel, and claims the iterations of each further call; both sides
 * change one word by compare-and-swap. It has the number of the opening, so that nothing is taken from another chunk,
 * how many iterations have begun and how many there are. The other fields belong to the opening and are valid if the
 * word has not changed since before they were read. A closed span still says which chunk was the latest. */
#pragma once

#include "common/machine/machine.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct span {
    _Alignas(64) _Atomic uint64_t word; /* opening, begun, end; the last two in units; 0: closed */
    _Atomic uint64_t first, count, unit;
    _Atomic uint32_t chunk; /* number of the latest chunk; 0: unknown to the server */
    _Atomic uint32_t openings;
    _Atomic uint32_t server; /* rank that may take iterations */
};

/* Notes that the worker begins the chunk with this number. The span must be closed. */
static inline void span_note_chunk(struct span *span, uint32_t chunk)
{
    atomic_store_explicit(&span->chunk, chunk, memory_order_relaxed);
}

/* Lets rank `server` take iterations of the chunk that it knows by this number, of which `begun` have begun, at least
 * one. False if there are none to take. */
bool span_open(struct span *span, unsigned server, uint32_t chunk, uint64_t first, uint64_t count, uint64_t begun);

/* Claims the iterations of the chunk before `begun`, or as many as are left. Returns how many the chunk has now. */
uint64_t span_claim(struct span *span, uint64_t begun);

/* After this, nothing more may be taken. Returns how many iterations the chunk has. */
uint64_t span_close(struct span *span);

/* Takes the share by recall_share() for `waiting` workers. False if rank `server` cannot: the worker computes nothing,
 * or the end of its chunk. Then `stolen` is empty and has the number of the latest chunk. */
bool span_steal(struct span *span, unsigned server, unsigned waiting, struct stolen *stolen);
