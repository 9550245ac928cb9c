/* SPDX-License-Identifier: MIT */
/* Cutting chunks: the technique says how many iterations, the ledger says which; and committing their results. */
#include "supermaster/core.h"

#include "common/service/poison.h"

#include <inttypes.h>
#include <stdio.h>

/* Says why worker `w` gets the range: the technique, then the weights, then the bounds, then what lies together. */
static void explain_cut(const struct supermaster *supermaster, unsigned w, uint64_t want, const struct range *range)
{
    const struct sched *sched = &supermaster->sched;
    const unsigned seat = supermaster->seat[w];
    uint64_t left = sched->remaining + range->count;
    char weight[60] = "", bound[60] = "";
    if (sched->weighting == SCHED_WEIGHTING_POWER)
        snprintf(weight, sizeof weight, ", power %.3f", sched->powers[seat]);
    else if (sched->weighting == SCHED_WEIGHTING_ACP)
        snprintf(weight, sizeof weight, ", power %.3f, load %.2f", sched->powers[seat], sched->loads[seat]);
    if (sched->min_chunk > 1 && want <= sched->min_chunk && (sched->formula < want || weight[0] != '\0'))
        snprintf(bound, sizeof bound, ", no less than %" PRIu64, sched->min_chunk);
    else if (supermaster->least_chunk > 1 && want <= supermaster->least_chunk && sched->formula < want)
        snprintf(bound, sizeof bound, ", no less than %" PRIu64 " can be cut in time", supermaster->least_chunk);
    else if (range->count == left && sched->formula > left)
        snprintf(bound, sizeof bound, ", all that is left");
    else if (range->count < want)
        snprintf(bound, sizeof bound, ", as many as lie together");
    REASON(supermaster->reasons,
           "rank %u gets [%" PRIu64 ", %" PRIu64 ") of the %" PRIu64 " left: %s says %" PRIu64 "%s%s",
           supermaster->config.topology->worker_rank[w], range->first, range->first + range->count, left,
           sched->technique->name, sched->formula, weight, bound);
}

static __attribute__((noinline)) void trace_cut(const struct supermaster *supermaster, unsigned w,
                                                const struct range *range)
{
    struct trace_sink *trace = supermaster->service.trace;
    *trace_next(trace) = (struct trace_record){
        .at_ns = supermaster->now_ns,
        .first = range->first,
        .count = range->count,
        .figure = supermaster->sched.formula,
        .worker = supermaster->config.topology->worker_rank[w],
        .kind = CHUNK_CUT,
    };
    trace_note(trace);
}

/* Cutting and sending a chunk takes a supermaster 34 ns (tests/bench/supermaster_steps.c, and the bytes of its record);
 * about as much again is left for its other messages, and for slower cores. */
#define CHUNK_NS 60.0

void supermaster_note_rate(struct supermaster *supermaster)
{
    const struct run_spec *spec = supermaster->config.spec;
    const uint64_t began_ns = supermaster->first_assign_ns, done = supermaster->ledger.done - supermaster->resumed;
    if (began_ns >= supermaster->now_ns || spec->recall != RUN_RECALL_ON || supermaster->config.distance > 0)
        return;
    double least = CHUNK_NS * (double)done / (double)(supermaster->now_ns - began_ns);
    supermaster->least_chunk = least > 1 ? (uint64_t)least + 1 : 1;
    if (supermaster->least_chunk > supermaster->largest_chunk)
        supermaster->least_chunk = supermaster->largest_chunk;
}

/* Takes more of the remaining work than the technique says, up to the least chunk that the supermaster can cut in time.
 * Returns the size. */
static uint64_t widen(struct supermaster *supermaster, unsigned w, uint64_t want)
{
    if (want == 0 || want >= supermaster->least_chunk)
        return want;
    return want + sched_widen(&supermaster->sched, supermaster->seat[w], supermaster->least_chunk - want);
}

/* Grants the lowest free iterations, `want` of them or those that lie together. False when nothing is free. */
static bool cut_lowest(struct supermaster *supermaster, unsigned holder, unsigned w, uint64_t want, struct range *range)
{
    const int granted = ledger_grant(&supermaster->ledger, holder, want, range);
    const uint64_t got = granted > 0 ? range->count : 0;
    if (granted < 0)
        supermaster_fail(supermaster, supermaster->config.topology->supermaster, "out of memory for the ledger");
    if (got < want)
        sched_shorten(&supermaster->sched, supermaster->seat[w], want - got);
    return granted > 0;
}

/* Grants `want` iterations that are free, as a rule the lowest ones. False when nothing is free. */
static bool cut_free(struct supermaster *supermaster, unsigned holder, unsigned w, uint64_t want, struct range *range)
{
    if (supermaster->config.distance > 0)
        return supermaster_cut_in_order(supermaster, holder, want, range);
    if (supermaster->sched.technique->places != NULL)
        return supermaster_cut_placed(supermaster, holder, w, want, range);
    return cut_lowest(supermaster, holder, w, want, range);
}

bool supermaster_cut(struct supermaster *supermaster, unsigned holder, unsigned w, struct range *range)
{
    if (supermaster->sched.weighting == SCHED_WEIGHTING_ACP)
        supermaster_weigh_load(supermaster, w);
    uint64_t want = sched_next(&supermaster->sched, supermaster->seat[w]);
    if (supermaster->sched.failure != NULL)
        supermaster_fail(supermaster, supermaster->config.topology->supermaster, supermaster->sched.failure);
    if (supermaster->least_chunk > 1)
        want = widen(supermaster, w, want);
    supermaster->actions->calculations += want > 0;
    if (!cut_free(supermaster, holder, w, want, range))
        return false;
    supermaster->chunks++;
    if (supermaster->steps.list != NULL)
        supermaster_note_cut(supermaster, w, range->count);
    if (supermaster->reasons != NULL)
        explain_cut(supermaster, w, want, range);
    if (supermaster->service.trace != NULL)
        trace_cut(supermaster, w, range);
    return true;
}

void supermaster_claim_what_was_free(struct supermaster *supermaster)
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
        if (supermaster->service.poisons.count > 0)
            service_clear(&supermaster->service, done->first, done->count);
        if (supermaster->deaths.count > 0)
            supermaster_forget_deaths(supermaster, done->first, done->count);
        if (supermaster->losses.count > 0)
            supermaster_claim_what_was_free(supermaster);
        if (supermaster->waits.open != NULL)
            supermaster_note_ended(supermaster, done->first, done->count, done->has_failed);
        break;
    case LEDGER_DUPLICATE:
        supermaster->losses.duplicates += supermaster->losses.count > 0; /* else an earlier run has done it */
        break;
    case LEDGER_MISMATCH: return false;
    default: supermaster_fail(supermaster, supermaster->config.topology->supermaster, "out of memory for the ledger");
    }
    return true;
}
