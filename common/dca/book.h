/* SPDX-License-Identifier: MIT */
/* The book of rank 0 over the chunks of the others, so that the chunk of a rank that is lost can be given again.
 *
 * Where rank 0 answers for the counters (two-sided) it sees each access to the counters, and what it answers fixes
 * which iterations the rank computes. A rank that begins its next draw, or leaves, has computed and stored its chunk
 * before. So the iterations of a lost rank that nobody has are those of the one chunk that stands here; by step, where
 * a rank may be lost between its two accesses, what the lost step would have taken is left at the end of the loop, and
 * the gap is closed when nobody draws any more.
 *
 * Where ranks draw from a queue in memory that they share (node) a lost one has told there what it had (intent.h),
 * which the book is told then, and what is lost is put into that queue.
 *
 * Two-sided, what was lost goes to the next that asks, or has left already and waits for this: in pieces of half of
 * what each of the others would get, so that they end together, and so that iterations that are fatal to whoever
 * computes them are found in few of them. Rank 0 takes some only where no other is left, as nothing survives its own
 * end.
 *
 * Invariants (dca_book_check): a lost rank has no chunk; a rank that waits has none; what is lost lies in the loop.
 * Pure: the messages are two_sided.c's. */
#pragma once

#include "common/dca/core.h"
#include "common/util/error.h"
#include "common/util/ranges.h"

#include <stdbool.h>
#include <stdint.h>

struct dca_holder {
    struct range chunk; /* count 0: none */
    bool has_step;      /* by step: a step is drawn, and the start is not yet */
    bool waits;         /* draws no more, unless it is given something */
    bool lost;
};

struct dca_book {
    const struct dca_core *core; /* borrowed */
    unsigned ranks;
    struct dca_holder *holders; /* [ranks] owned */
    struct range *pieces;       /* [ranks + 1] iterations without a rank, `count` of them wait to be given; owned */
    unsigned count;
    struct range *suspects; /* [ranks] chunks that ranks were lost with, `suspect_count` of them; owned */
    unsigned suspect_count;
    unsigned others, waiting; /* ranks but rank 0 that are not lost, and those of them that wait */
    bool stopped;             /* the run is to end: nothing is given any more */
    bool has_gap;             /* a step was lost without its start */
    bool gap_is_closed;       /* by a queue: what those steps would have taken was lost, too */
    uint64_t reissued;        /* chunks that were lost with their ranks and given again, whole or in pieces */
};

/* -1 with one line: out of memory; nothing is owned then. */
int dca_book_init(struct dca_book *book, const struct dca_core *core, unsigned ranks, struct error *error);
void dca_book_fini(struct dca_book *book);

/* Notes that `rank` adds `amount` to the counter, before that is done. True: it is to compute `given` instead, and
 * nothing is added. */
bool dca_book_ask(struct dca_book *book, unsigned rank, enum dca_counter counter, uint64_t amount, struct range *given);

/* Notes that the counter was `before` when `rank` added `amount` to it. */
void dca_book_answer(struct dca_book *book, unsigned rank, enum dca_counter counter, uint64_t amount, uint64_t before);

/* Notes that `rank` draws no more. True: it is to compute `given`, and then tells again. */
bool dca_book_leave(struct dca_book *book, unsigned rank, struct range *given);

/* Notes that the run is to end. */
void dca_book_stop(struct dca_book *book);

/* Takes the chunk `range` of the lost `rank` back; to be called once for a rank. Returns how many ranks were lost with
 * these iterations, this one included; 0: the rank had no chunk. */
unsigned dca_book_lose(struct dca_book *book, unsigned rank, struct range *range);

/* True where a rank was lost with some of these iterations, and others than rank 0 are left to compute them. */
bool dca_book_suspects(const struct dca_book *book, const struct range *range);

/* --- by a queue: the rank has told what it had --- */

/* Notes that the rank has the chunk `range`, or none where the count is 0. */
void dca_book_hold(struct dca_book *book, unsigned rank, const struct range *range);

/* Notes that nobody draws from the counters any more, of which `start` iterations are drawn: by step the rest is that
 * of steps that were lost without their starts. There is none where no rank is lost and the run is not to end. */
void dca_book_close_gap(struct dca_book *book, uint64_t start);

/* Returns what is to be put into the queue, which stays here until dca_book_has_put(); NULL: nothing. */
const struct range *dca_book_to_put(const struct dca_book *book);
void dca_book_has_put(struct dca_book *book);

/* --- two-sided --- */

/* True where a rank that waits is to compute `given`. */
bool dca_book_give(struct dca_book *book, unsigned *rank, struct range *given);

/* True where all others are lost, or wait and nothing can be given to them. `start` is the counter DCA_START, for rank
 * 0 when it draws no more itself. */
bool dca_book_is_over(struct dca_book *book, uint64_t start);

/* True where rank 0 is to compute `given`, as no other rank is left. */
bool dca_book_take(struct dca_book *book, struct range *given);

/* Returns NULL, or the invariant that does not hold. */
const char *dca_book_check(const struct dca_book *book);
