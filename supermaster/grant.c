/* SPDX-License-Identifier: MIT */
/* Cuts chunks and commits results. The technique decides how many iterations a chunk has. Some techniques also decide
 * which iterations these are. The ledger knows which iterations are free in the current time step. This file also has
 * the code for loops that grow, and for the journal. */
#include "supermaster/core.h"

#include "common/metrics/report.h"
#include "common/service/poison.h"
#include "common/util/grow.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Some techniques also choose the iterations: see struct technique_places.
 *
 * When such a technique lays out its parts, it numbers the free iterations in ascending order. These numbers are
 * *places*. The supermaster keeps a list of the ranges that were free at that time. With this list it translates places
 * into iterations. If iterations are returned, or if iterations were done out of turn, the technique lays out its parts
 * again over the iterations that are free then. So every place of a chunk is a free iteration. */

void supermaster_places_fini(struct supermaster *supermaster)
{
    free(supermaster->technique.places.list);
}

static int survey_places(struct supermaster *supermaster)
{
    const struct ranges *free = &supermaster->ledger.free;
    const uint64_t end = supermaster->ledger.loop.first + supermaster->steps.end;
    uint64_t place = 0;
    supermaster->technique.places.count = 0;
    for (size_t i = 0; i < ranges_length(free) && ranges_at(free, i)->first < end; i++) {
        struct range range = *ranges_at(free, i);
        struct placed_range *list = grow(supermaster->technique.places.list, supermaster->technique.places.count,
                                         &supermaster->technique.places.room, sizeof *list);
        if (list == NULL)
            return -1;
        if (range.count > end - range.first)
            range.count = end - range.first;
        supermaster->technique.places.list = list;
        list[supermaster->technique.places.count++] = (struct placed_range){place, range};
        place += range.count;
    }
    supermaster->technique.sched.is_laid_out = false;
    return 0;
}

static struct range find_place(const struct supermaster *supermaster, uint64_t place, uint64_t want)
{
    const struct placed_range *list = supermaster->technique.places.list;
    size_t low = 0, high = supermaster->technique.places.count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (list[middle].place <= place)
            low = middle;
        else
            high = middle;
    }
    assert(low < high && place - list[low].place < list[low].range.count && "a place is one of those that were free");
    const uint64_t offset = place - list[low].place, left = list[low].range.count - offset;
    return (struct range){list[low].range.first + offset, want < left ? want : left};
}

/* Grants the `want` iterations that the technique has placed for worker `w`. If they are not contiguous, grants only
 * their first contiguous part, and returns the others to the technique. Returns false if `want` is 0. Also returns
 * false if memory runs out; then the run fails. */
static bool supermaster_cut_placed(struct supermaster *supermaster, unsigned holder, unsigned w, uint64_t want,
                                   struct range *range)
{
    struct sched *sched = &supermaster->technique.sched;
    int granted = 0;
    if (want == 0)
        return false;
    if (sched->is_laid_out && survey_places(supermaster) < 0) {
        granted = -1;
    } else {
        *range = find_place(supermaster, sched->place, want);
        granted = ledger_claim(&supermaster->ledger, holder, range->first, range->count);
        assert(granted != 0 && "what the technique places is free");
    }
    if (granted < 0)
        supermaster_fail_for_memory(supermaster, "the ledger");
    sched_shorten(sched, supermaster->technique.seat[w], granted > 0 ? want - range->count : want);
    return granted > 0;
}

/* Time steps run one after the other over one ledger. The ledger grants the lowest free iterations first, and the
 * technique never cuts more iterations than are free in the current step. So no chunk contains iterations of a later
 * step. A step is over when all its iterations are done or given up. Then the technique starts again with what it has
 * learned, and waiting workers get work. */

/* If the product of workers and time steps exceeds this limit, the share of each worker in each step is not
 * recorded. */
#define SHARES_MAX (1u << 22)

static uint64_t end_of_step(const struct supermaster *supermaster, uint64_t step)
{
    uint64_t step_iterations = supermaster->steps.step_iterations, count = supermaster->config.count;
    return step < count / step_iterations ? (step + 1) * step_iterations : count;
}

static int make_shares(struct timesteps *steps, unsigned workers)
{
    uint64_t *shares = calloc(steps->count * workers, sizeof *shares);
    if (shares == NULL)
        return -1;
    for (uint64_t i = 0; i < steps->count; i++)
        steps->list[i].cut = shares + i * workers;
    steps->places = workers;
    return 0;
}

int supermaster_steps_make_room(struct supermaster *supermaster, const struct room *room)
{
    struct timesteps *steps = &supermaster->steps;
    uint64_t *shares = steps->list != NULL ? steps->list[0].cut : NULL;
    const size_t places = steps->places;
    const bool fits = shares != NULL && room->workers.now <= SHARES_MAX / steps->count;
    if (shares == NULL || room->workers.now <= places)
        return 0;
    for (uint64_t i = 0; i < steps->count && !fits; i++)
        steps->list[i].cut = NULL;
    if (fits && make_shares(steps, room->workers.now) < 0)
        return -1;
    for (uint64_t i = 0; i < steps->count && fits; i++)
        memcpy(steps->list[i].cut, shares + i * places, places * sizeof *shares);
    free(shares);
    return 0;
}

int supermaster_steps_init(struct supermaster *supermaster)
{
    struct timesteps *steps = &supermaster->steps;
    uint64_t count = supermaster->config.count, step_iterations = supermaster->config.step_iterations;
    unsigned workers = supermaster->config.topology->workers;
    steps->step_iterations = step_iterations > 0 && step_iterations < count ? step_iterations : count > 0 ? count : 1;
    const uint64_t given_up = ranges_total(&supermaster->ledger.failed);
    const uint64_t over = supermaster->ledger.done + given_up;
    steps->number = over / steps->step_iterations;
    /* An earlier run may have ended a step and given up iterations of it. This run then starts in that step, and
     * supermaster_next_step() decides whether another step may follow. */
    if (given_up > 0 && over % steps->step_iterations == 0)
        steps->number--;
    steps->end = end_of_step(supermaster, steps->number);
    steps->began_ns = NEVER;
    if (steps->step_iterations >= count)
        return 0;
    steps->count = count / steps->step_iterations + (count % steps->step_iterations != 0);
    steps->list = calloc(steps->count, sizeof *steps->list);
    if (steps->list == NULL)
        return -1;
    return workers <= SHARES_MAX / steps->count ? make_shares(steps, workers) : 0;
}

void supermaster_steps_fini(struct supermaster *supermaster)
{
    if (supermaster->steps.list != NULL)
        free(supermaster->steps.list[0].cut);
    free(supermaster->steps.list);
    supermaster->steps.list = NULL;
}

uint64_t supermaster_step_free(const struct supermaster *supermaster)
{
    return ranges_total(&supermaster->ledger.free) - (supermaster->ledger.loop.count - supermaster->steps.end);
}

static void supermaster_grow_step(struct supermaster *supermaster)
{
    assert(supermaster->steps.list == NULL && "a loop that grows has one time step");
    supermaster->steps.step_iterations = supermaster->steps.end = supermaster->ledger.loop.count;
}

static void supermaster_note_cut(struct supermaster *supermaster, unsigned w, uint64_t count)
{
    struct timesteps *steps = &supermaster->steps;
    assert(steps->number < steps->count && "chunks are cut of a time step that there is");
    struct report_step *step = &steps->list[steps->number];
    if (steps->began_ns == NEVER)
        steps->began_ns = supermaster->step.now_ns;
    uint64_t again = count < steps->returned ? count : steps->returned;
    steps->returned -= again;
    step->chunks++;
    if (step->cut != NULL)
        step->cut[w] += count - again;
}

static void end_step(struct supermaster *supermaster)
{
    struct timesteps *steps = &supermaster->steps;
    if (steps->list != NULL && steps->began_ns != NEVER)
        steps->list[steps->number].elapsed_s = seconds_of(supermaster->step.now_ns - steps->began_ns);
    steps->began_ns = NEVER;
}

/* Begins the next time step. The journal first gets the iterations of the finished step, because workers may read the
 * results of that step from the disk. */
static void begin_step(struct supermaster *supermaster)
{
    struct error error;
    supermaster->steps.number++;
    supermaster->steps.returned = 0;
    assert(supermaster->steps.end < supermaster->config.count && "behind the last time step there is none");
    supermaster->steps.end = end_of_step(supermaster, supermaster->steps.number);
    supermaster_record_if_due(supermaster, supermaster->step.now_ns, true);
    if (supermaster_renew_technique(supermaster, &error) < 0)
        supermaster_fail(supermaster, supermaster->config.topology->supermaster, error.text);
    supermaster_recheck(supermaster);
}

void supermaster_next_step(struct supermaster *supermaster)
{
    char text[160];
    if (supermaster->state != SUPERMASTER_SERVING)
        return;
    end_step(supermaster);
    if (supermaster->steps.end == supermaster->ledger.loop.count)
        return;
    if (!supermaster->config.steps_dependent || ranges_total(&supermaster->ledger.failed) == 0) {
        begin_step(supermaster);
        return;
    }
    snprintf(text, sizeof text, "time step %" PRIu64 " is not complete, and the one after it needs its results%s",
             supermaster->steps.number, supermaster->config.journal ? ": --resume failed tries again" : "");
    supermaster_fail(supermaster, supermaster->config.topology->supermaster, text);
}

/* Loops that grow: the list of their iterations is still being written. The supermaster checks the list periodically,
 * or after it was told that the list has grown. New iterations are free, and waiting workers get them. The loop is
 * complete only after the list is complete. Until then workers without work wait, as between two time steps, and work
 * that has not begun is still recalled for them. More iterations may come, so chunks are copied only if their lease has
 * expired. */

uint64_t supermaster_growth_due_ns(const struct supermaster *supermaster)
{
    if (!supermaster->ledger.grows || supermaster->state >= SUPERMASTER_ENDING || supermaster->config.is_told_of_growth)
        return NEVER;
    const bool is_wanted = ranges_total(&supermaster->ledger.free) == 0;
    return supermaster->grown_look_ns + (is_wanted ? GROWTH_LOOK_SOON_NS : GROWTH_LOOK_NS);
}

void supermaster_look_for_growth(struct supermaster *supermaster)
{
    if (supermaster_growth_due_ns(supermaster) > supermaster->step.now_ns)
        return;
    supermaster->grown_look_ns = supermaster->step.now_ns;
    actions_add(supermaster->step.actions, &(struct action){.type = ACTION_GROW});
}

void supermaster_look_at_once(struct supermaster *supermaster)
{
    if (supermaster->ledger.grows && supermaster->state < SUPERMASTER_ENDING)
        actions_add(supermaster->step.actions, &(struct action){.type = ACTION_GROW});
}

void supermaster_receive_growth(struct supermaster *supermaster, const struct growth *growth)
{
    struct ledger *ledger = &supermaster->ledger;
    const uint64_t more = growth->count - ledger->loop.count;
    if (supermaster->state >= SUPERMASTER_ENDING)
        return;
    assert(ledger->grows && growth->count >= ledger->loop.count && "a loop that grows does not shrink");
    if (more > 0 && ledger_grow(ledger, growth->count) < 0) {
        supermaster_fail_for_memory(supermaster, "the ledger");
        return;
    }
    if (more > 0) {
        REASON(supermaster->reasons, "%" PRIu64 " iterations are new", more);
        supermaster_grow_step(supermaster);
        if (supermaster->technique.is_ready)
            sched_grow(&supermaster->technique.sched, more);
        supermaster_recheck(supermaster);
    }
    if (!growth->is_complete)
        return;
    ledger->grows = false;
    service_note_growth(&supermaster->service, ledger->held > 0);
    supermaster_recheck(supermaster);
}

/* Committed ranges are written to the journal in groups. So a chunk costs only an entry in a list. If the run is
 * killed, ranges that are not in the journal yet are computed again. Iterations that have effects must not be repeated.
 * In a loop with such iterations, each step writes the ranges that it has committed. */

#define RECORD_INTERVAL_NS 50000000u

/* Largest number of ranges in a group. Adjacent ranges are merged, so there are about as many ranges as unfinished
 * chunks. */
#define RECORD_RANGES 1024

static_assert(REPORT_MAX < RECORD_RANGES / 2, "a report fits into a group");

int supermaster_record_init(struct supermaster *supermaster)
{
    supermaster->record.due_ns = NEVER;
    return supermaster->config.journal ? ranges_reserve(&supermaster->record.ranges, RECORD_RANGES) : 0;
}

void supermaster_record_fini(struct supermaster *supermaster)
{
    ranges_fini(&supermaster->record.ranges);
}

static void supermaster_record(struct supermaster *supermaster, const struct done_record *done)
{
    struct record *record = &supermaster->record;
    if (!supermaster->config.journal)
        return;
    uint64_t added;
    int result = ranges_add(&record->ranges, done->first, done->count, &added);
    assert(result == 0 && "the ranges of a group have room");
    assert(added == done->count && "nothing is recorded twice");
    record->digest += done->digest;
}

/* The JOURNAL action borrows the ranges of the group until the end of the step. So no more ranges may be committed in
 * this step. */
static void write_group(struct supermaster *supermaster)
{
    struct record *record = &supermaster->record;
    size_t count = ranges_length(&record->ranges);
    actions_add(
        supermaster->step.actions,
        &(struct action){.type = ACTION_JOURNAL, .journal = {ranges_at(&record->ranges, 0), count, record->digest}});
    ranges_clear(&record->ranges);
    record->digest = 0;
    record->due_ns = NEVER;
}

void supermaster_record_if_due(struct supermaster *supermaster, uint64_t now_ns, bool last)
{
    struct record *record = &supermaster->record;
    size_t count = ranges_length(&record->ranges);
    if (count == 0)
        return;
    if (record->due_ns == NEVER)
        record->due_ns = now_ns + RECORD_INTERVAL_NS;
    if (last || supermaster->config.records_at_once || record->due_ns <= now_ns || count > RECORD_RANGES - REPORT_MAX)
        write_group(supermaster);
}

static void explain_cut(const struct supermaster *supermaster, unsigned w, uint64_t want, const struct range *range)
{
    const struct sched *sched = &supermaster->technique.sched;
    const unsigned seat = supermaster->technique.seat[w];
    uint64_t left = sched->remaining + range->count;
    char most[60] = "", weight[60] = "", bound[60] = "";
    if (sched->formula > sched->max_chunk)
        snprintf(most, sizeof most, ", no more than %" PRIu64, sched->max_chunk);
    if (sched->weighting == SCHED_WEIGHTING_POWER)
        snprintf(weight, sizeof weight, ", power %.3f", sched->powers[seat]);
    else if (sched->weighting == SCHED_WEIGHTING_ACP)
        snprintf(weight, sizeof weight, ", power %.3f, load %.2f", sched->powers[seat], sched->loads[seat]);
    if (sched->min_chunk > 1 && want <= sched->min_chunk && (sched->formula < want || weight[0] != '\0'))
        snprintf(bound, sizeof bound, ", no less than %" PRIu64, sched->min_chunk);
    else if (supermaster->cut.least > 1 && want <= supermaster->cut.least && sched->formula < want)
        snprintf(bound, sizeof bound, ", no less than %" PRIu64 " can be cut in time", supermaster->cut.least);
    else if (range->count == left && sched->formula > left)
        snprintf(bound, sizeof bound, ", all that is left");
    else if (range->count < want)
        snprintf(bound, sizeof bound, ", as many as lie together");
    REASON(supermaster->reasons,
           "rank %u gets [%" PRIu64 ", %" PRIu64 ") of the %" PRIu64 " left: %s says %" PRIu64 "%s%s%s",
           supermaster->config.topology->worker_rank[w], range->first, range->first + range->count, left,
           sched->technique->name, sched->formula, most, weight, bound);
}

static __attribute__((noinline)) void trace_cut(const struct supermaster *supermaster, unsigned w,
                                                const struct range *range)
{
    struct trace_sink *trace = supermaster->service.trace;
    *trace_next(trace) = (struct trace_record){
        .at_ns = supermaster->step.now_ns,
        .first = range->first,
        .count = range->count,
        .figure = supermaster->technique.sched.formula,
        .worker = supermaster->config.topology->worker_rank[w],
        .kind = CHUNK_CUT,
    };
    trace_note(trace);
}

/* Time in ns that the supermaster takes for a chunk. Cutting and sending take 34 ns (measured by
 * tests/bench/supermaster_steps.c). The rest is for other messages and slower cores. */
#define CHUNK_NS 60.0

void supermaster_note_rate(struct supermaster *supermaster)
{
    const struct run_spec *spec = supermaster->config.spec;
    const uint64_t began_ns = supermaster->cut.first_ns, done = supermaster->ledger.done - supermaster->resumed;
    if (began_ns >= supermaster->step.now_ns || spec->recall != RUN_RECALL_ON || supermaster->config.distance > 0)
        return;
    double least = CHUNK_NS * (double)done / (double)(supermaster->step.now_ns - began_ns);
    supermaster->cut.least = least > 1 ? (uint64_t)least + 1 : 1;
    if (supermaster->cut.least > supermaster->cut.largest)
        supermaster->cut.least = supermaster->cut.largest;
    if (supermaster->cut.least > supermaster->technique.sched.max_chunk)
        supermaster->cut.least = supermaster->technique.sched.max_chunk;
}

static uint64_t widen(struct supermaster *supermaster, unsigned w, uint64_t want)
{
    if (want == 0 || want >= supermaster->cut.least)
        return want;
    return want +
           sched_widen(&supermaster->technique.sched, supermaster->technique.seat[w], supermaster->cut.least - want);
}

static bool cut_lowest(struct supermaster *supermaster, unsigned holder, unsigned w, uint64_t want, struct range *range)
{
    const int granted = ledger_grant(&supermaster->ledger, holder, want, range);
    const uint64_t got = granted > 0 ? range->count : 0;
    if (granted < 0)
        supermaster_fail_for_memory(supermaster, "the ledger");
    if (got < want)
        sched_shorten(&supermaster->technique.sched, supermaster->technique.seat[w], want - got);
    return granted > 0;
}

static bool cut_free(struct supermaster *supermaster, unsigned holder, unsigned w, uint64_t want, struct range *range)
{
    if (supermaster->config.distance > 0)
        return supermaster_cut_in_order(supermaster, holder, want, range);
    if (supermaster->technique.sched.technique->places != NULL)
        return supermaster_cut_placed(supermaster, holder, w, want, range);
    return cut_lowest(supermaster, holder, w, want, range);
}

bool supermaster_cut(struct supermaster *supermaster, unsigned holder, unsigned w, struct range *range)
{
    if (supermaster->technique.sched.weighting == SCHED_WEIGHTING_ACP)
        supermaster_weigh_load(supermaster, w);
    uint64_t want = sched_next(&supermaster->technique.sched, supermaster->technique.seat[w]);
    if (supermaster->technique.sched.failure != NULL)
        supermaster_fail(supermaster, supermaster->config.topology->supermaster, supermaster->technique.sched.failure);
    if (supermaster->cut.least > 1)
        want = widen(supermaster, w, want);
    supermaster->step.actions->calculations += want > 0;
    if (!cut_free(supermaster, holder, w, want, range))
        return false;
    supermaster->cut.chunks++;
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
    if (supermaster->technique.sched.remaining > free)
        sched_claim(&supermaster->technique.sched, supermaster->technique.sched.remaining - free);
}

bool supermaster_commit(struct supermaster *supermaster, unsigned holder, const struct done_record *done)
{
    const int result = ledger_commit(&supermaster->ledger, holder, done->first, done->count, done->digest);
    switch (result) {
    case LEDGER_COMMITTED:
    case LEDGER_GIVEN_BACK:
        supermaster_record(supermaster, done);
        if (supermaster->service.poisons.count > 0)
            service_clear(&supermaster->service, done->first, done->count);
        if (supermaster->deaths.count > 0)
            supermaster_forget_deaths(supermaster, done->first, done->count);
        if (result == LEDGER_GIVEN_BACK)
            supermaster_claim_what_was_free(supermaster);
        if (done->has_failed && ranges_add(&supermaster->done_failed, done->first, done->count, NULL) < 0)
            supermaster_fail_for_memory(supermaster, "what failed");
        if (supermaster->waits.open != NULL)
            supermaster_note_ended(supermaster, done->first, done->count, done->has_failed);
        break;
    case LEDGER_DUPLICATE:
        /* If this run has lost no rank, an earlier run has done the iterations of this duplicate. Such a duplicate is
         * not counted. */
        supermaster->losses.duplicates += supermaster->losses.count > 0;
        break;
    case LEDGER_MISMATCH: return false;
    default: supermaster_fail_for_memory(supermaster, "the ledger");
    }
    return true;
}
