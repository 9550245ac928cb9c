/* SPDX-License-Identifier: MIT */
/* The book of rank 0 over the chunks of the others: see book.h. */
#include "common/dca/book.h"

#include <assert.h>
#include <stdlib.h>

int dca_book_init(struct dca_book *book, const struct dca_core *core, unsigned ranks, struct error *error)
{
    *book = (struct dca_book){.core = core, .ranks = ranks, .others = ranks - 1};
    book->holders = calloc(ranks, sizeof *book->holders);
    book->pieces = calloc((size_t)ranks + 1, sizeof *book->pieces);
    book->suspects = calloc(ranks, sizeof *book->suspects);
    if (book->holders != NULL && book->pieces != NULL && book->suspects != NULL)
        return 0;
    dca_book_fini(book);
    return error_set(error, "out of memory for the chunks of %u workers", ranks);
}

void dca_book_fini(struct dca_book *book)
{
    free(book->holders);
    free(book->pieces);
    free(book->suspects);
    book->holders = NULL;
    book->pieces = book->suspects = NULL;
}

/* --- what was lost --- */

/* Each lost rank brings one piece, and the gap another one: there is room. */
static void dca_book_put(struct dca_book *book, const struct range *piece)
{
    assert(book->count <= book->ranks);
    book->pieces[book->count++] = *piece;
    book->reissued++;
}

/* Gives `rank` some of what was lost. */
static bool dca_book_give_some(struct dca_book *book, unsigned rank, struct range *given)
{
    struct dca_holder *holder = &book->holders[rank];
    if (book->count == 0 || book->stopped)
        return false;
    struct range *piece = &book->pieces[book->count - 1];
    const uint64_t least = book->core->sched.min_chunk > 0 ? book->core->sched.min_chunk : 1;
    uint64_t size = rank == 0 ? piece->count : piece->count / (2 * (uint64_t)book->others);
    size = size > least ? size : least;
    size = size < piece->count ? size : piece->count;
    holder->chunk = (struct range){piece->first, size};
    piece->first += size;
    piece->count -= size;
    book->count -= piece->count == 0;
    *given = holder->chunk;
    return true;
}

static bool dca_book_overlap(const struct range *a, const struct range *b)
{
    return a->first < b->first ? b->first - a->first < a->count : a->first - b->first < b->count;
}

/* Returns how many ranks were lost with some of these iterations. What was lost is cut again when it is given, so a
 * chunk lies in all those before it that it meets. */
static unsigned dca_book_count_deaths(const struct dca_book *book, const struct range *range)
{
    unsigned deaths = 0;
    for (unsigned i = 0; i < book->suspect_count; i++)
        deaths += dca_book_overlap(&book->suspects[i], range);
    return deaths;
}

/* --- the ranks --- */

/* The rank has computed its chunk. */
static void dca_book_release(struct dca_book *book, unsigned rank)
{
    struct dca_holder *holder = &book->holders[rank];
    holder->chunk = (struct range){0, 0};
    holder->has_step = false;
}

/* The first access of a draw: see dca_fetch_first() in machine.c. */
static bool is_first_access(const struct dca_core *core, enum dca_counter counter, uint64_t amount)
{
    return core->way == DCA_BY_REMAINING ? counter == DCA_START && amount == 0 : counter == DCA_STEP;
}

bool dca_book_ask(struct dca_book *book, unsigned rank, enum dca_counter counter, uint64_t amount, struct range *given)
{
    assert(rank > 0 && !book->holders[rank].lost);
    if (amount == book->core->stop) {
        dca_book_stop(book); /* perhaps in the middle of its chunk */
        return false;
    }
    if (!is_first_access(book->core, counter, amount))
        return false;
    dca_book_release(book, rank);
    return dca_book_give_some(book, rank, given);
}

void dca_book_answer(struct dca_book *book, unsigned rank, enum dca_counter counter, uint64_t amount, uint64_t before)
{
    const struct dca_core *core = book->core;
    struct dca_holder *holder = &book->holders[rank];
    struct range chunk = {0, 0};
    if (amount == core->stop)
        return;
    if (core->way == DCA_BY_POSITION) {
        if (dca_draw_step(core, before, &chunk))
            holder->chunk = chunk;
        return;
    }
    if (is_first_access(core, counter, amount)) {
        holder->has_step = core->way == DCA_BY_STEP && !dca_is_over(core, before);
        return;
    }
    holder->has_step = false;
    if (before < core->iterations) {
        const uint64_t left = core->iterations - before;
        holder->chunk = (struct range){before, amount < left ? amount : left};
    }
}

bool dca_book_leave(struct dca_book *book, unsigned rank, struct range *given)
{
    struct dca_holder *holder = &book->holders[rank];
    assert(rank > 0 && !holder->lost && !holder->waits);
    dca_book_release(book, rank);
    if (dca_book_give_some(book, rank, given))
        return true;
    holder->waits = true;
    book->waiting++;
    return false;
}

void dca_book_stop(struct dca_book *book)
{
    book->stopped = true;
}

unsigned dca_book_lose(struct dca_book *book, unsigned rank, struct range *range)
{
    struct dca_holder *holder = &book->holders[rank];
    *range = holder->chunk;
    assert(rank > 0 && !holder->lost);
    book->has_gap |= holder->has_step;
    book->waiting -= holder->waits;
    book->others--;
    *holder = (struct dca_holder){.lost = true};
    if (range->count == 0)
        return 0;
    assert(book->suspect_count < book->ranks);
    book->suspects[book->suspect_count++] = *range;
    if (!book->stopped)
        dca_book_put(book, range);
    return dca_book_count_deaths(book, range);
}

bool dca_book_suspects(const struct dca_book *book, const struct range *range)
{
    return book->suspect_count > 0 && book->others > 0 && dca_book_count_deaths(book, range) > 0;
}

/* --- by a queue --- */

void dca_book_hold(struct dca_book *book, unsigned rank, const struct range *range)
{
    book->holders[rank].chunk = *range;
}

void dca_book_close_gap(struct dca_book *book, uint64_t start)
{
    if (!book->gap_is_closed && !book->stopped && start < book->core->iterations) {
        assert(book->others < book->ranks - 1);
        dca_book_put(book, &(struct range){start, book->core->iterations - start});
    }
    book->gap_is_closed = true;
}

const struct range *dca_book_to_put(const struct dca_book *book)
{
    return book->count > 0 && !book->stopped ? &book->pieces[book->count - 1] : NULL;
}

void dca_book_has_put(struct dca_book *book)
{
    assert(book->count > 0);
    book->count--;
}

/* --- two-sided --- */

bool dca_book_give(struct dca_book *book, unsigned *rank, struct range *given)
{
    if (book->waiting == 0 || book->count == 0 || book->stopped)
        return false;
    for (*rank = 1; !book->holders[*rank].waits; ++*rank)
        assert(*rank + 1 < book->ranks);
    book->holders[*rank].waits = false;
    book->waiting--;
    return dca_book_give_some(book, *rank, given);
}

bool dca_book_is_over(struct dca_book *book, uint64_t start)
{
    if (book->waiting < book->others)
        return false;
    if (book->has_gap && start < book->core->iterations && !book->stopped)
        dca_book_put(book, &(struct range){start, book->core->iterations - start});
    book->has_gap = false;
    return book->count == 0 || book->stopped || book->others == 0;
}

bool dca_book_take(struct dca_book *book, struct range *given)
{
    return book->others == 0 && dca_book_give_some(book, 0, given);
}

const char *dca_book_check(const struct dca_book *book)
{
    const uint64_t iterations = book->core->iterations;
    unsigned others = 0, waiting = 0;
    for (unsigned r = 0; r < book->ranks; r++) {
        const struct dca_holder *holder = &book->holders[r];
        const struct range *range = &holder->chunk;
        others += r > 0 && !holder->lost;
        waiting += holder->waits;
        if ((holder->lost || holder->waits) && (range->count > 0 || holder->has_step))
            return "a rank that is lost or waits has a chunk";
        if (holder->lost && holder->waits)
            return "a lost rank waits";
        if (range->count > 0 && (range->first >= iterations || range->count > iterations - range->first))
            return "a chunk in the book is not in the loop";
    }
    for (unsigned i = 0; i < book->count; i++)
        if (book->pieces[i].count == 0 || book->pieces[i].first >= iterations ||
            book->pieces[i].count > iterations - book->pieces[i].first)
            return "what was lost is not in the loop";
    return others != book->others || waiting != book->waiting ? "the ranks in the book are counted wrongly" : NULL;
}
