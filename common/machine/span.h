/* SPDX-License-Identifier: MIT */
/* The running chunk of a worker, in memory that all ranks of a node share. The rank that serves the worker can take
 * iterations that have not begun from the end of the chunk. The worker need not help: it may be in the middle of an
 * iteration.
 *
 * The worker opens the span before it calls the kernel. Before each further call it claims the iterations of that call.
 * Worker and server change only one word, by compare-and-swap. A number in the word changes with each span_open(), so
 * the server cannot take iterations from a later chunk. The other members are set when the span is opened. They are
 * valid if the word has not changed since they were read. A closed span still has the number of its last chunk. */
#pragma once

#include "common/machine/machine.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct span {
    /* Three packed fields: the number of the last span_open(), how many iterations have begun, and how many the chunk
     * has. The last two are in units of `unit` iterations. The whole word is 0 if the span is closed. */
    _Alignas(64) _Atomic uint64_t word;
    _Atomic uint64_t first, count, unit;
    _Atomic uint32_t chunk; /* number of the latest chunk; 0: the server does not know the number */
    _Atomic uint32_t openings;
    _Atomic uint32_t server;
};

/* The span must be closed. */
static inline void span_note_chunk(struct span *span, uint32_t chunk)
{
    atomic_store_explicit(&span->chunk, chunk, memory_order_relaxed);
}

/* Lets rank `server` take iterations of the chunk. `begun`: how many have begun, at least 1. `chunk`: the server's
 * number of the chunk. Returns false, and leaves the span closed, if nothing can be taken. */
bool span_open(struct span *span, unsigned server, uint32_t chunk, uint64_t first, uint64_t count, uint64_t begun);

/* Notes that the first `begun` iterations of the chunk have begun, except those that the server has taken. Returns how
 * many iterations the chunk still has. */
uint64_t span_claim(struct span *span, uint64_t begun);

/* Returns how many iterations the chunk still has. After this call the server can take no iteration. */
uint64_t span_close(struct span *span);

/* Takes iterations for `waiting` idle workers; recall_share() tells how many. Returns false if rank `server` can take
 * nothing, because the worker computes nothing or all iterations of its chunk have begun. In this case `stolen` has
 * only the number of the latest chunk. */
bool span_steal(struct span *span, unsigned server, unsigned waiting, struct stolen *stolen);
