/* SPDX-License-Identifier: MIT */
/* Cutting chunks: the technique says how many iterations, the ledger says which; and committing their results. */
#include "supermaster/core.h"

bool supermaster_cut(struct supermaster *supermaster, unsigned holder, unsigned w, struct range *range)
{
    if (supermaster->sched.weighting == SCHED_WEIGHTING_ACP)
        supermaster_weigh_load(supermaster, w);
    uint64_t want = sched_next(&supermaster->sched, w);
    supermaster->actions->calculations += want > 0;
    if (supermaster->rounds.again)
        return supermaster_cut_again(supermaster, holder, want, range);
    int granted = ledger_grant(&supermaster->ledger, holder, want, range);
    if (granted < 0) {
        supermaster_fail(supermaster, supermaster->config.topology->supermaster, "out of memory for the ledger");
        granted = 0;
    }
    uint64_t got = granted > 0 ? range->count : 0;
    if (got < want)
        sched_give_back(&supermaster->sched, want - got);
    supermaster->chunks += granted > 0;
    if (supermaster->steps.list != NULL && granted > 0)
        supermaster_note_cut(supermaster, w, range->count);
    return granted > 0;
}

/* A result may come for what was set free again meanwhile. */
static void claim_what_was_free(struct supermaster *supermaster)
{
    uint64_t free = supermaster_step_free(supermaster);
    if (supermaster->sched.remaining > free)
        sched_claim(&supermaster->sched, supermaster->sched.remaining - free);
}

bool supermaster_commit(struct supermaster *supermaster, unsigned holder, const struct done_record *done)
{
    switch (ledger_commit(&supermaster->ledger, holder, done->first, done->count, done->digest)) {
    case LEDGER_COMMITTED:
        supermaster_record(supermaster, done);
        if (supermaster->service.suspects.count > 0)
            service_clear(&supermaster->service, done->first, done->count);
        if (supermaster->losses.count > 0)
            claim_what_was_free(supermaster);
        break;
    case LEDGER_DUPLICATE: supermaster->losses.duplicates++; break;
    case LEDGER_MISMATCH: return false;
    default: supermaster_fail(supermaster, supermaster->config.topology->supermaster, "out of memory for the ledger");
    }
    return true;
}
