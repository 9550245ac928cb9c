/* SPDX-License-Identifier: MIT */
/* Loops that grow while they run, as somebody still writes the list of their iterations. The supermaster has the list
 * looked at from time to time, or when it is told to; what is new of it is free, and those who wait are served. Until
 * the list is complete the ledger is not: nobody is told that all is done, and workers for which nothing is free wait,
 * as they do between two time steps. What others have not begun is recalled for them meanwhile, and what takes long is
 * not copied unless it is overdue by its lease: nobody knows that nothing else will come. */
#include "supermaster/core.h"

#include <assert.h>
#include <inttypes.h>

uint64_t supermaster_growth_due_ns(const struct supermaster *supermaster)
{
    if (!supermaster->ledger.grows || supermaster->state >= SUPERMASTER_ENDING || supermaster->config.is_told_of_growth)
        return NEVER;
    const bool is_wanted = ranges_total(&supermaster->ledger.free) == 0;
    return supermaster->grown_look_ns + (is_wanted ? GROWTH_LOOK_SOON_NS : GROWTH_LOOK_NS);
}

void supermaster_look_for_growth(struct supermaster *supermaster)
{
    if (supermaster_growth_due_ns(supermaster) > supermaster->now_ns)
        return;
    supermaster->grown_look_ns = supermaster->now_ns;
    actions_add(supermaster->actions, &(struct action){.type = ACTION_GROW});
}

void supermaster_look_at_once(struct supermaster *supermaster)
{
    if (supermaster->ledger.grows && supermaster->state < SUPERMASTER_ENDING)
        actions_add(supermaster->actions, &(struct action){.type = ACTION_GROW});
}

void supermaster_receive_growth(struct supermaster *supermaster, const struct growth *growth)
{
    struct ledger *ledger = &supermaster->ledger;
    const uint64_t more = growth->count - ledger->loop.count;
    if (supermaster->state >= SUPERMASTER_ENDING)
        return; /* what is new is left for a run that goes on with this one */
    assert(ledger->grows && growth->count >= ledger->loop.count && "a loop that grows does not shrink");
    if (more > 0 && ledger_grow(ledger, growth->count) < 0) {
        supermaster_fail(supermaster, supermaster->config.topology->supermaster, "out of memory for the ledger");
        return;
    }
    if (more > 0) {
        REASON(supermaster->reasons, "%" PRIu64 " iterations are new", more);
        supermaster_grow_step(supermaster);
        if (supermaster->sched_ready)
            sched_grow(&supermaster->sched, more);
        supermaster_recheck(supermaster);
    }
    if (!growth->is_complete)
        return;
    ledger->grows = false;
    service_note_growth(&supermaster->service, false);
    supermaster_recheck(supermaster);
}
