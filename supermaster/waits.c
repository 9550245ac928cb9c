/* SPDX-License-Identifier: MIT */
/* Iterations that wait for others. The ledger holds them back: they are neither free nor granted, and the technique
 * does not know of them. When all that one waits for has ended well it is free, as if the loop had grown by it. Where
 * one of these has failed for good, or was not run itself, it is not run: it is given up, and so is what waits for it
 * in turn.
 *
 * Nothing is journalled of it, as all follows from what is done, and what of that has failed: a run that is resumed
 * finds out anew, and where the failed ones are tried again, those behind them wait again.
 *
 * What is set free is handed out in a step of its own, at once: in this one, records of chunks may be borrowed. */
#include "supermaster/core.h"

#include "common/util/precedence.h"

#include <assert.h>
#include <stdlib.h>

/* For `open`: the iteration was never held back, or is given up, as one that it waits for has failed. */
#define DECIDED UINT64_MAX

/* --- what an iteration waits for --- */

static uint64_t begin_of(const struct supermaster *supermaster, uint64_t iteration)
{
    return supermaster->config.precedence->begin[iteration - supermaster->config.first];
}

/* Iterations that wait for this one: places in the list. */
static struct range waiting_for(const struct supermaster *supermaster, uint64_t iteration)
{
    const uint64_t begin = begin_of(supermaster, iteration);
    return (struct range){begin, begin_of(supermaster, iteration + 1) - begin};
}

static uint64_t waiting_at(const struct supermaster *supermaster, uint64_t place)
{
    return supermaster->config.first + supermaster->config.precedence->waiting[place];
}

static uint64_t *open_of(const struct supermaster *supermaster, uint64_t iteration)
{
    return &supermaster->waits.open[iteration - supermaster->config.first];
}

/* --- what becomes of it --- */

/* -1 when memory is out. */
static int set_free(struct supermaster *supermaster, uint64_t iteration)
{
    if (ledger_let_go(&supermaster->ledger, iteration) < 0) {
        supermaster_fail(supermaster, supermaster->config.topology->supermaster, "out of memory for the ledger");
        return -1;
    }
    REASON(supermaster->reasons, "iteration %llu waits for nothing any more", (unsigned long long)iteration);
    if (supermaster->sched_ready)
        sched_grow(&supermaster->sched, 1);
    supermaster->waits.serve_due_ns = supermaster->now_ns;
    return 0;
}

/* Tells the service when nothing is held back any more: what nobody has taken then is all there is. */
static void look_whether_over(struct supermaster *supermaster)
{
    if (supermaster->ledger.held == 0 && supermaster->service.may_grow)
        service_note_growth(&supermaster->service, false);
}

/* Gives up what waits for the iteration, and what waits for that in turn. -1 when memory is out. */
static int give_up_waiting(struct supermaster *supermaster, uint64_t failed)
{
    struct waits *waits = &supermaster->waits;
    uint64_t done = waits->not_run_count;
    for (uint64_t because = failed;; because = waits->not_run[done++]) {
        const struct range waiting = waiting_for(supermaster, because);
        for (uint64_t k = waiting.first; k < waiting.first + waiting.count; k++) {
            const uint64_t iteration = waiting_at(supermaster, k);
            if (*open_of(supermaster, iteration) == DECIDED)
                continue;
            if (ledger_give_up_held(&supermaster->ledger, iteration) < 0)
                return -1;
            *open_of(supermaster, iteration) = DECIDED;
            if (supermaster_note_not_run(supermaster, iteration, because, because != failed) < 0)
                return -1;
            waits->not_run[waits->not_run_count++] = iteration;
        }
        if (done == waits->not_run_count)
            return 0;
    }
}

void supermaster_note_ended(struct supermaster *supermaster, uint64_t first, uint64_t count, bool has_failed)
{
    for (uint64_t i = first; i < first + count; i++) {
        if (has_failed && give_up_waiting(supermaster, i) < 0)
            supermaster_fail(supermaster, supermaster->config.topology->supermaster, "out of memory for what failed");
        const struct range waiting = waiting_for(supermaster, i);
        for (uint64_t k = waiting.first; !has_failed && k < waiting.first + waiting.count; k++) {
            uint64_t *open = open_of(supermaster, waiting_at(supermaster, k));
            if (*open != DECIDED && (*open > 1 || set_free(supermaster, waiting_at(supermaster, k)) == 0))
                --*open;
        }
    }
    look_whether_over(supermaster);
}

void supermaster_note_given_up(struct supermaster *supermaster, uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++)
        if (ranges_contains(&supermaster->ledger.failed, i))
            supermaster_note_ended(supermaster, i, 1, true);
}

void supermaster_serve_set_free(struct supermaster *supermaster)
{
    if (supermaster->waits.serve_due_ns > supermaster->now_ns)
        return;
    supermaster->waits.serve_due_ns = NEVER;
    supermaster_recheck(supermaster);
}

/* --- at first --- */

/* True if an earlier run has done it well. */
static bool is_done_well(const struct supermaster *supermaster, uint64_t iteration)
{
    const struct supermaster_config *config = &supermaster->config;
    return config->done != NULL && ranges_contains(config->done, iteration) &&
           (config->done_failed == NULL || !ranges_contains(config->done_failed, iteration));
}

/* Counts for each iteration that is free so far what it waits for. Others are done, though what they wait for may have
 * to be done again, or are given up. */
static void count_open(struct supermaster *supermaster)
{
    const struct supermaster_config *config = &supermaster->config;
    const struct ranges *free = &supermaster->ledger.free;
    uint64_t i = config->first;
    for (; i < config->first + config->count; i++) {
        const struct range waiting = waiting_for(supermaster, i);
        for (uint64_t k = waiting.first; !is_done_well(supermaster, i) && k < waiting.first + waiting.count; k++)
            ++*open_of(supermaster, waiting_at(supermaster, k));
    }
    i = config->first;
    for (size_t r = 0; r < ranges_length(free); r++, i += ranges_at(free, r - 1)->count)
        for (; i < ranges_at(free, r)->first; i++)
            *open_of(supermaster, i) = DECIDED;
    for (; i < config->first + config->count; i++)
        *open_of(supermaster, i) = DECIDED;
}

static bool is_held(const void *context, uint64_t iteration)
{
    return *open_of((const struct supermaster *)context, iteration) > 0;
}

/* Gives up what waits for iterations of this set. -1 when memory is out. */
static int give_up_behind(struct supermaster *supermaster, const struct ranges *failed)
{
    for (size_t i = 0; i < ranges_length(failed); i++) {
        const struct range range = *ranges_at(failed, i);
        for (uint64_t k = range.first; k < range.first + range.count; k++)
            if (give_up_waiting(supermaster, k) < 0)
                return -1;
    }
    return 0;
}

int supermaster_waits_init(struct supermaster *supermaster)
{
    const struct supermaster_config *config = &supermaster->config;
    struct waits *waits = &supermaster->waits;
    struct ranges given_up = {0};
    waits->serve_due_ns = NEVER;
    if (config->precedence == NULL)
        return 0;
    assert(config->precedence->count == config->count && "what waits for others is all known");
    waits->open = calloc(config->count + 1, sizeof *waits->open);
    waits->not_run = calloc(config->count + 1, sizeof *waits->not_run);
    if (waits->open == NULL || waits->not_run == NULL)
        return -1;
    count_open(supermaster);
    if (ledger_hold_back(&supermaster->ledger, is_held, supermaster) < 0)
        return -1;
    service_note_growth(&supermaster->service, supermaster->ledger.held > 0);
    for (size_t i = 0; i < ranges_length(&supermaster->ledger.failed); i++) /* the set itself grows by what follows */
        if (ranges_add(&given_up, ranges_at(&supermaster->ledger.failed, i)->first,
                       ranges_at(&supermaster->ledger.failed, i)->count, NULL) < 0)
            return -1;
    int result = give_up_behind(supermaster, &given_up);
    ranges_fini(&given_up);
    if (result == 0 && config->done_failed != NULL)
        result = give_up_behind(supermaster, config->done_failed);
    look_whether_over(supermaster);
    return result;
}

void supermaster_waits_fini(struct supermaster *supermaster)
{
    free(supermaster->waits.open);
    free(supermaster->waits.not_run);
}

/* --- invariants --- */

void supermaster_check_waits(const struct supermaster *supermaster)
{
    const struct supermaster_config *config = &supermaster->config;
    uint64_t held = 0;
    if (config->precedence == NULL) {
        assert(supermaster->ledger.held == 0 && "only where iterations wait for others some are held back");
        return;
    }
    for (uint64_t i = config->first; i < config->first + config->count; i++) {
        const uint64_t open = *open_of(supermaster, i);
        held += open > 0 && open != DECIDED;
        assert((open == 0 || !ranges_contains(&supermaster->ledger.free, i)) && "what waits is not free");
    }
    assert(held == supermaster->ledger.held && "what waits is held back");
}
