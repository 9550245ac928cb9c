/* SPDX-License-Identifier: MIT */
/* Iterations that wait for others. The ledger holds a waiting iteration back: it is neither free nor granted, and the
 * technique does not count it. An iteration becomes free after all iterations for which it waits are done without
 * failure. To the technique this looks as if the loop had grown. If one of the iterations for which it waits has failed
 * for good or was not run, the waiting iteration is given up. The iterations that wait for the given-up iteration are
 * then given up, too.
 *
 * The journal does not record which iterations wait, because this follows from the iterations that are done or have
 * failed. A resumed run derives it again. If a resumed run retries failed iterations, the iterations that wait for them
 * wait again.
 *
 * Iterations that become free are handed out in the next step, because messages of this step may borrow records of
 * chunks. */
#include "supermaster/core.h"

#include "common/service/poison.h"
#include "common/service/service.h"
#include "common/util/precedence.h"

#include <assert.h>
#include <stdlib.h>

/* Value of waits.open[i] if iteration i is given up, or was done before this run. */
#define DECIDED UINT64_MAX

static uint64_t begin_of(const struct supermaster *supermaster, uint64_t iteration)
{
    return supermaster->config.precedence->begin[iteration - supermaster->config.first];
}

static struct range waiting_for(const struct supermaster *supermaster, uint64_t iteration)
{
    if (supermaster->config.precedence == NULL)
        return (struct range){0};
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

static int set_free(struct supermaster *supermaster, uint64_t iteration)
{
    if (ledger_let_go(&supermaster->ledger, iteration) < 0) {
        supermaster_fail_for_memory(supermaster, "the ledger");
        return -1;
    }
    REASON(supermaster->reasons, "iteration %llu waits for nothing any more", (unsigned long long)iteration);
    if (supermaster->technique.is_ready)
        sched_grow(&supermaster->technique.sched, 1);
    supermaster->waits.serve_due_ns = supermaster->step.now_ns;
    return 0;
}

static void look_whether_over(struct supermaster *supermaster)
{
    if (supermaster->ledger.held == 0 && !supermaster->ledger.grows && supermaster->service.may_grow)
        service_note_growth(&supermaster->service, false);
}

/* Suspects are tasks that were running when supermasters of earlier runs were lost. One of the suspects may have killed
 * the supermaster. So they are released one at a time, and the next loss shows which of them is the cause. */

bool supermaster_holds_suspects(const struct supermaster *supermaster)
{
    const struct supermaster_config *config = &supermaster->config;
    return config->are_tasks && !config->spec->technique_auto && config->spec->technique.technique->may_grow;
}

/* Returns true if the iterations are suspects. If the loop grows, the added iterations are never suspects: they were
 * not running at an earlier loss, and are not held back. */
static bool is_suspect(const struct supermaster *supermaster, const struct poison *deaths)
{
    const struct supermaster_config *config = &supermaster->config;
    return deaths_make_suspect(deaths) && deaths->first >= config->first &&
           deaths->first - config->first + deaths->count <= config->count;
}

static uint64_t find_suspect(const struct supermaster *supermaster, uint64_t first)
{
    for (size_t k = 0; k < supermaster->deaths.count; k++) {
        const struct poison *item = &supermaster->deaths.items[k];
        for (uint64_t i = item->first; is_suspect(supermaster, item) && i < item->first + item->count; i++)
            if (i >= first && *open_of(supermaster, i) > 0 && *open_of(supermaster, i) != DECIDED)
                return i;
    }
    return NEVER;
}

static void let_suspect_go(struct supermaster *supermaster, uint64_t first)
{
    struct waits *waits = &supermaster->waits;
    waits->suspect = find_suspect(supermaster, first);
    if (waits->suspect != NEVER && --*open_of(supermaster, waits->suspect) == 0)
        set_free(supermaster, waits->suspect);
}

static void hold_suspects(struct supermaster *supermaster)
{
    for (size_t k = 0; k < supermaster->deaths.count; k++) {
        const struct poison *item = &supermaster->deaths.items[k];
        for (uint64_t i = item->first; is_suspect(supermaster, item) && i < item->first + item->count; i++)
            *open_of(supermaster, i) += *open_of(supermaster, i) != DECIDED;
    }
}

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
            supermaster_fail_for_memory(supermaster, "what failed");
        const struct range waiting = waiting_for(supermaster, i);
        for (uint64_t k = waiting.first; !has_failed && k < waiting.first + waiting.count; k++) {
            uint64_t *open = open_of(supermaster, waiting_at(supermaster, k));
            if (*open != DECIDED && (*open > 1 || set_free(supermaster, waiting_at(supermaster, k)) == 0))
                --*open;
        }
    }
    if (supermaster->waits.suspect - first < count)
        let_suspect_go(supermaster, first + count);
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
    if (supermaster->waits.serve_due_ns > supermaster->step.now_ns)
        return;
    supermaster->waits.serve_due_ns = NEVER;
    supermaster_recheck(supermaster);
}

static bool is_done_well(const struct supermaster *supermaster, uint64_t iteration)
{
    const struct supermaster_config *config = &supermaster->config;
    return config->done != NULL && ranges_contains(config->done, iteration) &&
           (config->done_failed == NULL || !ranges_contains(config->done_failed, iteration));
}

/* Counts for each free iteration for how many others it waits. An iteration that is done or given up stays so, even if
 * iterations for which it waited are done again. */
static void count_open(struct supermaster *supermaster)
{
    const struct supermaster_config *config = &supermaster->config;
    const struct ranges *free = &supermaster->ledger.free;
    uint64_t i = config->first;
    for (; config->precedence != NULL && i < config->first + config->count; i++) {
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
    bool has_suspects = false;
    waits->serve_due_ns = waits->suspect = NEVER;
    for (size_t k = 0; supermaster_holds_suspects(supermaster) && k < supermaster->deaths.count; k++)
        has_suspects |= is_suspect(supermaster, &supermaster->deaths.items[k]);
    if (config->precedence == NULL && !has_suspects)
        return 0;
    assert((config->precedence == NULL || config->precedence->count == config->count) &&
           "what waits for others is all known");
    waits->open = calloc(config->count + 1, sizeof *waits->open);
    waits->not_run = calloc(config->count + 1, sizeof *waits->not_run);
    if (waits->open == NULL || waits->not_run == NULL)
        return -1;
    count_open(supermaster);
    hold_suspects(supermaster);
    if (ledger_hold_back(&supermaster->ledger, is_held, supermaster) < 0)
        return -1;
    service_note_growth(&supermaster->service, supermaster->ledger.held > 0 || supermaster->ledger.grows);
    int result = 0;
    /* The failed ranges are copied, because give_up_behind() adds to the set `ledger.failed`. */
    for (size_t i = 0; i < ranges_length(&supermaster->ledger.failed) && result == 0; i++) {
        const struct range *failed = ranges_at(&supermaster->ledger.failed, i);
        result = ranges_add(&given_up, failed->first, failed->count, NULL);
    }
    result = result == 0 ? give_up_behind(supermaster, &given_up) : -1;
    ranges_fini(&given_up);
    if (result == 0 && config->done_failed != NULL)
        result = give_up_behind(supermaster, config->done_failed);
    let_suspect_go(supermaster, config->first);
    look_whether_over(supermaster);
    return result;
}

void supermaster_waits_fini(struct supermaster *supermaster)
{
    free(supermaster->waits.open);
    free(supermaster->waits.not_run);
}

void supermaster_check_waits(const struct supermaster *supermaster)
{
    const struct supermaster_config *config = &supermaster->config;
    uint64_t held = 0;
    if (supermaster->waits.open == NULL) {
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

/* A recovery point is a boundary from which a loop with dependencies can be resumed.
 *
 * The journal records which iterations are done, as in any loop. But the iterations after them also need the boundary
 * data of the chunk before, and only a worker has these data. So from time to time the supermaster requests the
 * boundary data of the lowest unfinished chunk, and records them. It sends a NEIGHBOUR that names the supermaster as
 * the rank after the boundary. A master forwards the NEIGHBOUR to the worker of the chunk. After the chunk is finished,
 * a copy of the data comes back in BOUNDARY messages. The run does not depend on this answer: if a worker no longer has
 * the data, it sends nothing, and the supermaster later requests the data of another chunk.
 *
 * The loss of a rank ends the run (losses.c), because no other rank has that rank's boundary data. A resumed run starts
 * at a boundary whose data are in the journal. This boundary is not after the first undone iteration. The iterations
 * after the boundary are computed again even if they are done, because others need their boundary data. Their results
 * are equal to the earlier ones and are dropped (LEDGER_DUPLICATE). A chunk contains either only done or only undone
 * iterations. The supermaster sends the recorded boundary data to the rank that gets the chunk after the boundary. If
 * there is no recovery point, the run starts at the beginning of the loop.
 *
 * Requests for boundary data take at most a fiftieth of the time. */

#define POINT_INTERVAL_NS 200000000u

/* The time between two requests is at least POINT_TIMES times the time that the data of the last recovery point took to
 * arrive. */
#define POINT_TIMES 50

void supermaster_points_init(struct supermaster *supermaster)
{
    const struct supermaster_config *config = &supermaster->config;
    supermaster->points.due_ns = config->journal && config->distance > 0 ? 0 : NEVER;
    supermaster->points.interval_ns = POINT_INTERVAL_NS;
    supermaster->points.next = config->point_at > 0 ? config->point_at : config->first;
}

static unsigned find_lowest(const struct supermaster *supermaster, uint64_t *first)
{
    const unsigned holders = supermaster->holders;
    unsigned found = holders;
    *first = 0;
    for (unsigned m = 0; m < holders; m++) {
        const struct ranges *granted = &supermaster->ledger.granted[m];
        if (ranges_length(granted) == 0 || (found < holders && ranges_at(granted, 0)->first > *first))
            continue;
        *first = ranges_at(granted, 0)->first;
        found = m;
    }
    return found;
}

void supermaster_ask_for_point(struct supermaster *supermaster)
{
    const struct topology *topology = supermaster->config.topology;
    struct points *points = &supermaster->points;
    struct neighbour neighbour = {.rank = topology->supermaster};
    if (supermaster->state != SUPERMASTER_SERVING || supermaster->cut.chunks == 0)
        return;
    points->due_ns = supermaster->step.now_ns + points->interval_ns;
    if (is_central(supermaster))
        service_ask_for_boundary(&supermaster->service, 0, topology->supermaster, supermaster->step.actions);
    else {
        const unsigned m = find_lowest(supermaster, &neighbour.first);
        neighbour.first++;
        if (m < topology->masters)
            actions_send(supermaster->step.actions, topology->master_rank[m],
                         &(struct message){.type = MESSAGE_NEIGHBOUR, .neighbour = neighbour});
        else if (m < supermaster->holders)
            service_ask_for_boundary(&supermaster->service, neighbour.first, topology->supermaster,
                                     supermaster->step.actions);
    }
}

static void begin_point(struct supermaster *supermaster, const struct boundary *boundary)
{
    struct points *points = &supermaster->points;
    if (points->at > 0 || boundary->offset > 0 || boundary->first == points->latest)
        return;
    points->at = boundary->first;
    points->bytes = 0;
    points->began_ns = supermaster->step.now_ns;
}

static void end_point(struct supermaster *supermaster)
{
    struct points *points = &supermaster->points;
    const uint64_t taken_ns = supermaster->step.now_ns - points->began_ns,
                   due_ns = points->due_ns - points->interval_ns;
    points->latest = points->at;
    points->interval_ns = POINT_TIMES * taken_ns > POINT_INTERVAL_NS ? POINT_TIMES * taken_ns : POINT_INTERVAL_NS;
    points->due_ns = due_ns + points->interval_ns;
    points->at = points->bytes = 0;
}

void supermaster_receive_boundary(struct supermaster *supermaster, const struct message *message)
{
    const struct supermaster_config *config = &supermaster->config;
    const struct boundary *boundary = &message->boundary;
    const uint64_t bytes = message->payload_bytes;
    struct points *points = &supermaster->points;
    if (!config->journal || config->distance == 0 || message->payload != PAYLOAD_INLINE ||
        boundary->first <= config->first || boundary->first >= config->first + config->count ||
        boundary->offset > config->boundary_bytes || bytes > config->boundary_bytes - boundary->offset) {
        supermaster_refuse(supermaster, "sent boundary data that cannot be");
        return;
    }
    if (supermaster->state != SUPERMASTER_SERVING)
        return;
    begin_point(supermaster, boundary);
    if (boundary->first != points->at || boundary->offset != points->bytes)
        return;
    actions_add(supermaster->step.actions,
                &(struct action){
                    .type = ACTION_POINT,
                    .point = {points->at, points->bytes, message->payload_data, bytes, config->boundary_bytes},
                });
    points->bytes += bytes;
    if (points->bytes == config->boundary_bytes)
        end_point(supermaster);
}

void supermaster_hand_point(const struct supermaster *supermaster, const struct neighbour *neighbour, unsigned to)
{
    const struct supermaster_config *config = &supermaster->config;
    uint64_t bytes;
    for (uint64_t sent = 0; sent < config->boundary_bytes; sent += bytes) {
        bytes = config->boundary_bytes - sent < INLINE_MAX ? config->boundary_bytes - sent : INLINE_MAX;
        actions_send(supermaster->step.actions, to,
                     &(struct message){
                         .type = MESSAGE_BOUNDARY,
                         .payload = PAYLOAD_INLINE,
                         .payload_data = config->point + sent,
                         .payload_bytes = bytes,
                         .boundary = {neighbour->first, sent},
                     });
    }
}

bool supermaster_is_point(const struct supermaster *supermaster, const struct neighbour *neighbour)
{
    return supermaster->config.point_at > 0 && supermaster->config.point_at == neighbour->first;
}

/* Returns the size of the next chunk, which begins at `first`. The `left` iterations from `first` on are either all
 * done or all undone. Neither the chunk nor the remainder of `left` is smaller than `distance`. There are two
 * exceptions: `left` itself may be smaller, and the remainder may be smaller if it is the end of the loop. */
static uint64_t piece_of(const struct supermaster *supermaster, uint64_t first, uint64_t left, uint64_t want)
{
    const struct range *loop = &supermaster->ledger.loop;
    const uint64_t least = supermaster->config.distance, count = want > least ? want : least;
    const bool is_last = first - loop->first + left == loop->count;
    return count < left && (is_last || left - count >= least) ? count : left;
}

/* Returns the wanted size of a chunk. If several workers were lost at these iterations, returns 1: then the next loss
 * shows which iteration is the cause. */
static uint64_t careful_want(const struct supermaster *supermaster, uint64_t first, uint64_t want)
{
    struct poison known;
    const struct range range = {first, want > 0 ? want : 1};
    poison_look(&supermaster->service.poisons, &range, &known);
    return known.deaths >= ISOLATED_DEATHS ? 1 : want;
}

static void settle(struct supermaster *supermaster, uint64_t want, uint64_t got)
{
    if (got > want)
        sched_claim(&supermaster->technique.sched, got - want);
    else
        sched_give_back(&supermaster->technique.sched, want - got);
}

bool supermaster_cut_in_order(struct supermaster *supermaster, unsigned holder, uint64_t want, struct range *range)
{
    struct points *points = &supermaster->points;
    struct ledger *ledger = &supermaster->ledger;
    int granted = 1;
    if (ranges_length(&ledger->free) == 0) {
        settle(supermaster, want, 0);
        return false;
    }
    const struct range free = *ranges_at(&ledger->free, 0);
    if (free.first > points->next) {
        const uint64_t few = careful_want(supermaster, points->next, want), first = points->next;
        *range = (struct range){first, piece_of(supermaster, first, free.first - first, few)};
        settle(supermaster, want, 0);
    } else {
        const uint64_t few = careful_want(supermaster, free.first, want);
        granted = ledger_grant(ledger, holder, piece_of(supermaster, free.first, free.count, few), range);
        settle(supermaster, want, granted > 0 ? range->count : 0);
    }
    if (granted < 0)
        supermaster_fail_for_memory(supermaster, "the ledger");
    if (granted <= 0)
        return false;
    points->next = range->first + range->count;
    return true;
}
