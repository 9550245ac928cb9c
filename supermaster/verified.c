/* SPDX-License-Identifier: MIT */
/* What the services have had computed a second time, for people: how much is alike, and what differs. */
#include "supermaster/core.h"

#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/metrics/report.h"
#include "common/service/service.h"
#include "common/util/error.h"
#include "common/util/grow.h"
#include "proto/message.h"
#include "supermaster/supermaster.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void supermaster_verified_fini(struct supermaster *supermaster)
{
    free(supermaster->verifications.list);
}

static void note_mismatch(struct supermaster *supermaster, const struct verified *verified)
{
    struct verifications *verifications = &supermaster->verifications;
    verifications->seen++;
    verifications->differing += verified->count;
    verifications->undecided += verified->wrong < 0;
    if (verifications->count == MISMATCHES_KEPT)
        return;
    struct report_mismatch *list =
        grow(verifications->list, verifications->count, &verifications->capacity, sizeof *list);
    if (list == NULL) {
        supermaster_fail(supermaster, supermaster->config.topology->supermaster, "out of memory for what differs");
        return;
    }
    verifications->list = list;
    list[verifications->count++] = (struct report_mismatch){
        .range = {verified->first, verified->count},
        .workers = verified->computations,
        .rank = {verified->rank[0], verified->rank[1], verified->rank[2]},
        .wrong = verified->wrong,
    };
}

static void note_verified(struct supermaster *supermaster, const struct verified *verified)
{
    supermaster->verifications.alike += verified->alike;
    supermaster->verifications.unverified += verified->unverified;
    if (verified->computations > 0)
        note_mismatch(supermaster, verified);
}

void supermaster_receive_verified(struct supermaster *supermaster, const struct verified *verified)
{
    for (unsigned i = 0; i < verified->computations; i++)
        if (!supermaster_speaks_for(supermaster, verified->rank[i])) {
            supermaster_refuse(supermaster, "told of results of a rank that it does not serve");
            return;
        }
    note_verified(supermaster, verified);
}

void supermaster_take_own_verified(struct supermaster *supermaster)
{
    struct verified verified;
    while (service_take_verified(&supermaster->service, &verified))
        note_verified(supermaster, &verified);
}

void supermaster_take_own_mismatches(struct supermaster *supermaster)
{
    const char *reason;
    unsigned wrong = service_take_wrong(&supermaster->service, &reason);
    supermaster_take_own_verified(supermaster);
    if (wrong < supermaster->service.worker_count && !ledger_is_complete(&supermaster->ledger))
        actions_drop(supermaster->actions, supermaster->service.ranks[wrong], reason);
}

bool supermaster_is_in_doubt(const struct supermaster *supermaster)
{
    const struct verifications *verifications = &supermaster->verifications;
    bool drops = supermaster->config.spec->verify_action == RUN_VERIFY_DROP_WORKER;
    return drops ? verifications->undecided > 0 : verifications->seen > 0;
}

/* --- for people --- */

unsigned supermaster_mismatch_count(const struct supermaster *supermaster)
{
    unsigned count = supermaster->verifications.count;
    return count <= MISMATCHES_TOLD ? count : MISMATCHES_TOLD + 1;
}

void supermaster_mismatch_text(const struct supermaster *supermaster, unsigned i, struct error *text)
{
    const struct report_mismatch *mismatch = &supermaster->verifications.list[i];
    const uint64_t first = mismatch->range.first, last = first + mismatch->range.count - 1;
    char what[60], verdict[80] = "no other worker could decide";
    if (i == MISMATCHES_TOLD) {
        error_set(text, "more results differ, which are not told of one by one");
        return;
    }
    if (first == last)
        snprintf(what, sizeof what, "iteration %" PRIu64, first);
    else
        snprintf(what, sizeof what, "iterations %" PRIu64 " to %" PRIu64, first, last);
    if (mismatch->workers == 3 && mismatch->wrong >= 0)
        snprintf(verdict, sizeof verdict, "rank %u agrees with rank %u: rank %u is wrong", mismatch->rank[2],
                 mismatch->rank[1 - mismatch->wrong], mismatch->rank[mismatch->wrong]);
    else if (mismatch->workers == 3)
        snprintf(verdict, sizeof verdict, "rank %u agrees with neither", mismatch->rank[2]);
    error_set(text, "worker rank %u and worker rank %u have computed %s with different results; %s", mismatch->rank[0],
              mismatch->rank[1], what, verdict);
}
