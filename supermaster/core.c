/* SPDX-License-Identifier: MIT */
/* The supermaster: its invariants, the end of a run, and its step function. A step handles one event and then applies
 * the standing rules. These rules are about the next time step, losses, the end of the loop, the journal, and leaving.
 *
 * Invariant: the remaining work of the technique equals the number of free iterations in the current time step. */
#include "supermaster/core.h"

#include "common/machine/probe.h"
#include "common/machine/state.h"
#include "common/machine/topology.h"
#include "common/sched/sched.h"
#include "common/service/boundary_list.h"
#include "common/service/pool.h"
#include "common/service/service.h"
#include "common/util/error.h"
#include "common/util/grow.h"
#include "common/util/ranges.h"
#include "supermaster/ledger.h"
#include "supermaster/supermaster.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void check_worker_status(const struct supermaster *supermaster)
{
    const struct topology *topology = supermaster->config.topology;
    const struct losses *losses = &supermaster->losses;
    unsigned by_status[WORKER_IS_ORPHAN + 1] = {0}, masters_left = 0, masters_lost = 0;
    for (unsigned w = 0; w < topology->workers; w++) {
        assert(losses->worker[w] <= WORKER_IS_ORPHAN && "a worker has one of the statuses that there are");
        by_status[losses->worker[w]]++;
    }
    for (unsigned m = 0; m < topology->masters; m++) {
        masters_left += losses->master[m] != MASTER_SERVES;
        masters_lost += losses->master[m] == MASTER_IS_LOST;
        if (losses->master[m] == MASTER_SERVES)
            continue;
        assert(supermaster->refilling.parked[m] == 0 && supermaster->refilling.busy[m] == 0 &&
               "who has left waits for nothing");
        assert((ranges_total(&supermaster->ledger.granted[m]) == 0 || supermaster->failure.text[0] != '\0') &&
               "who has left is granted nothing, unless memory ran out");
    }
    assert(by_status[WORKER_IS_LOST] == losses->workers_lost && "as many workers are lost as are counted");
    assert(by_status[WORKER_HAS_LEFT] == losses->workers_left && "as many workers have left as are counted");
    assert(by_status[WORKER_IS_ORPHAN] == losses->orphans && "as many orphans are waited for as are counted");
    assert(masters_left == losses->masters_left && "as many masters have left as are counted");
    assert(masters_lost == losses->masters_lost && "as many masters are lost as are counted");
}

static void check_remaining_work(const struct supermaster *supermaster)
{
    const uint64_t count = supermaster->ledger.loop.count;
    const struct timesteps *steps = &supermaster->steps;
    assert(steps->end <= count && "a time step ends within the loop");
    assert(supermaster->ledger.done >= supermaster->resumed && "what an earlier run has done stays done");
    assert(ranges_total(&supermaster->ledger.free) >= count - steps->end && "nothing of a later time step is granted");
    assert((count == supermaster->config.count || supermaster->config.grows) && "only some loops grow");
    assert((!supermaster->ledger.grows || supermaster->config.grows) && "only some loops may grow");
    assert(supermaster->service.may_grow == (supermaster->ledger.grows || supermaster->ledger.held > 0) &&
           "the service knows whether more may come");
    if (supermaster->technique.is_ready)
        assert(supermaster->technique.sched.remaining == supermaster_step_free(supermaster) &&
               "the remaining work of the technique is what is free of the time step at hand");
}

static void check_seats(const struct supermaster *supermaster)
{
    const struct topology *topology = supermaster->config.topology;
    for (unsigned w = 0; supermaster->state == SUPERMASTER_SERVING && w < topology->workers; w++) {
        const enum worker_status status = supermaster->losses.worker[w];
        const unsigned m = is_central(supermaster) ? 0 : topology->master_of[w];
        const bool is_away =
            status == WORKER_IS_LOST || status == WORKER_HAS_LEFT ||
            (!is_central(supermaster) && (supermaster->losses.dismissed[m] || supermaster_is_joining(supermaster, m)));
        assert((supermaster->technique.seat[w] < supermaster->technique.sched.workers || is_away) &&
               "the technique counts all who may be given chunks");
    }
}

static void check_own_service(const struct supermaster *supermaster)
{
    const struct ledger *ledger = &supermaster->ledger;
    uint64_t granted = 0;
    service_check(&supermaster->service);
    if (supermaster->state != SUPERMASTER_SERVING || supermaster->config.distance > 0 ||
        supermaster->service.parts_on_way > 0 || supermaster->service.out_of_memory)
        /* The assertion below does not hold while results are being stored, because the service does not count the
         * iterations of these results. */
        return;
    for (unsigned i = is_central(supermaster) ? 0 : ledger->holders - 1; i < ledger->holders; i++)
        granted += ranges_total(&ledger->granted[i]);
    assert(service_open_iterations(&supermaster->service) == granted &&
           "what is granted is in the pool, with one worker, or returned");
}

static void check_missing_speeds(const struct supermaster *supermaster)
{
    unsigned missing = 0;
    for (unsigned w = 0; w < supermaster->config.topology->workers; w++)
        missing += supermaster->speeds.levels[w].count == 0;
    if (supermaster->config.probe && supermaster->state == SUPERMASTER_GATHERING)
        assert(missing == supermaster->speeds.missing && "missing are the speeds that did not come");
}

static void check_recalls_between_masters(const struct supermaster *supermaster)
{
    const struct recalls *recalls = &supermaster->recalls;
    unsigned open = 0, waiting = 0;
    for (unsigned m = 0; m < supermaster->config.topology->masters; m++) {
        waiting += recalls->waiting[m] > 0;
        open += recalls->state[m] >= RECALL_SENT;
        if (supermaster->losses.master[m] != MASTER_SERVES)
            assert(recalls->state[m] == RECALL_FUTILE && recalls->waiting[m] == 0 && "who has left is not asked");
        if (supermaster->state == SUPERMASTER_SERVING)
            assert((recalls->waiting[m] == 0 || supermaster->refilling.parked[m] > 0) &&
                   "a master for which work is recalled has asked for a refill");
    }
    assert(waiting == recalls->masters_waiting && "as many masters want work as are counted");
    assert(open == recalls->open && "as many RECALLs are open as are counted");
}

static void check_given_up(const struct supermaster *supermaster)
{
    const struct given_up *given_up = &supermaster->given_up;
    given_up_check(given_up);
    assert((given_up->total == ranges_total(&supermaster->ledger.failed) || given_up->count == GIVEN_UP_RANGES_MAX ||
            supermaster->failure.text[0] != '\0') &&
           "what is given up is listed");
}

void supermaster_check(const struct supermaster *supermaster)
{
    ledger_check(&supermaster->ledger);
    check_own_service(supermaster);
    check_remaining_work(supermaster);
    check_seats(supermaster);
    check_given_up(supermaster);
    supermaster_check_waits(supermaster);
    supermaster_check_nodes(supermaster);
    check_worker_status(supermaster);
    check_missing_speeds(supermaster);
    check_recalls_between_masters(supermaster);
    ranges_check(&supermaster->record.ranges);
    poison_check(&supermaster->deaths);
    boundary_list_check(&supermaster->boundaries);
    switch ((enum supermaster_state)supermaster->state) {
    case SUPERMASTER_GATHERING:
        assert(supermaster->cut.chunks == 0 && "nothing is cut before the speeds are known");
        break;
    case SUPERMASTER_SERVING:
        assert(supermaster->technique.is_ready && "who serves has a technique");
        assert(!ledger_is_complete(&supermaster->ledger) && "who serves has something left");
        break;
    case SUPERMASTER_ENDING:
        assert(supermaster->service.state == SERVICE_ENDING && "at the end nobody is served");
        break;
    case SUPERMASTER_GONE:
        assert(service_is_over(&supermaster->service) && "the supermaster leaves last");
        assert(ranges_length(&supermaster->record.ranges) == 0 && "all that is done is recorded at the end");
        break;
    }
}

/* The end of a run: the run is complete, has failed, or was asked to stop. The supermaster sends END once. It sends END
 * again if a drain must no longer wait for running iterations. The supermaster leaves after every rank has said GOODBYE
 * or is lost. */

/* Returns true if a loop with dependencies ends early. Boundary data may then be on their way to workers that have
 * already left. So ranks must not wait for each other. */
static bool leaves_boundaries(const struct supermaster *supermaster)
{
    return supermaster->config.distance > 0 && !ledger_is_complete(&supermaster->ledger);
}

static struct end make_end(const struct supermaster *supermaster)
{
    const bool drains = !ledger_is_complete(&supermaster->ledger);
    return (struct end){
        .drain = drains,
        .degraded = supermaster_is_degraded(supermaster) || leaves_boundaries(supermaster),
        .late = supermaster_is_late(supermaster) && !supermaster->config.is_patient,
        .now = drains && supermaster->ends_now,
    };
}

/* Sends END to all masters, and to the workers of the supermaster's own service. A dismissed master has got an END
 * before. It gets another one only if running iterations must be abandoned now. */
static void send_end(struct supermaster *supermaster)
{
    const struct topology *topology = supermaster->config.topology;
    const struct end end = make_end(supermaster);
    for (unsigned m = 0; m < topology->masters; m++)
        if (supermaster->losses.master[m] == MASTER_SERVES && (!supermaster->losses.dismissed[m] || end.now))
            actions_send(supermaster->step.actions, topology->master_rank[m],
                         &(struct message){.type = MESSAGE_END, .end = end});
    service_end(&supermaster->service, &end, supermaster->step.now_ns, supermaster->step.actions);
}

static void supermaster_end(struct supermaster *supermaster)
{
    if (supermaster->state >= SUPERMASTER_ENDING)
        return;
    supermaster_move(supermaster, SUPERMASTER_ENDING);
    supermaster->drains = !ledger_is_complete(&supermaster->ledger);
    send_end(supermaster);
    supermaster->losses.orphans_due_ns = supermaster->step.now_ns + supermaster_orphans_wait_ns(supermaster);
}

static void supermaster_drain(struct supermaster *supermaster, bool now)
{
    const bool hurries =
        now && !supermaster->ends_now && supermaster->state == SUPERMASTER_ENDING && supermaster->drains;
    supermaster->ends_now |= now;
    supermaster_end(supermaster);
    if (hurries)
        send_end(supermaster);
}

void supermaster_fail(struct supermaster *supermaster, unsigned rank, const char *text)
{
    if (supermaster->failure.text[0] == '\0') {
        supermaster->failed_rank = rank;
        error_set(&supermaster->failure, "%s", text);
    }
    supermaster_end(supermaster);
}

void supermaster_fail_for_memory(struct supermaster *supermaster, const char *what)
{
    struct error text;
    error_set(&text, "out of memory for %s", what);
    supermaster_fail(supermaster, supermaster->config.topology->supermaster, text.text);
}

static int exit_status(const struct supermaster *supermaster)
{
    if (supermaster->failure.text[0] != '\0')
        return EXIT_STATUS_FAILED;
    if (!ledger_is_complete(&supermaster->ledger))
        return EXIT_STATUS_DRAINED;
    return ranges_total(&supermaster->ledger.failed) > 0 ? EXIT_STATUS_TASKS : EXIT_STATUS_DONE;
}

static void take_statistics_from_service(struct supermaster *supermaster)
{
    struct stats_record record;
    for (unsigned w = 0; w < supermaster->service.worker_count; w++) {
        if (!supermaster->service.workers[w].present)
            continue;
        service_stats(&supermaster->service, w, &record);
        supermaster_take_statistics(supermaster, &record);
    }
    supermaster->traffic.messages += supermaster->service.tally.messages;
    supermaster->traffic.bytes += supermaster->service.tally.bytes;
}

static void supermaster_leave(struct supermaster *supermaster, uint64_t now_ns)
{
    if (supermaster->losses.masters_left < supermaster->config.topology->masters ||
        !service_is_over(&supermaster->service) || supermaster->losses.orphans > 0)
        return;
    if (supermaster->service.count.present > 0)
        take_statistics_from_service(supermaster);
    supermaster_take_own_verified(supermaster);
    supermaster_record_if_due(supermaster, now_ns, true);
    supermaster->traffic.messages += supermaster->step.actions->messages;
    supermaster->traffic.bytes += supermaster->step.actions->bytes;
    actions_add(supermaster->step.actions, &(struct action){.type = ACTION_EXIT, .exit = {exit_status(supermaster)}});
    supermaster_move(supermaster, SUPERMASTER_GONE);
}

static const char *const supermaster_state_names[] = {"GATHERING", "SERVING", "ENDING", "GONE"};
static const unsigned supermaster_moves[] = {
    [SUPERMASTER_GATHERING] = 1u << SUPERMASTER_SERVING | 1u << SUPERMASTER_ENDING,
    [SUPERMASTER_SERVING] = 1u << SUPERMASTER_ENDING,
    [SUPERMASTER_ENDING] = 1u << SUPERMASTER_GONE,
    [SUPERMASTER_GONE] = 0,
};
static const struct state_table supermaster_states = {"supermaster", SUPERMASTER_GONE + 1, supermaster_state_names,
                                                      supermaster_moves, event_write_name};

void supermaster_move(struct supermaster *supermaster, enum supermaster_state state)
{
    state_move(&supermaster_states, &supermaster->state, state, supermaster->step.actions->event);
}

static unsigned own_holder(const struct supermaster *supermaster, unsigned w)
{
    return is_central(supermaster) ? w : supermaster->config.topology->masters;
}

static void on_pool_empty(void *owner, unsigned worker)
{
    struct supermaster *supermaster = owner;
    struct range range;
    if (supermaster->state != SUPERMASTER_SERVING ||
        !supermaster_cut(supermaster, own_holder(supermaster, worker), worker, &range))
        return;
    if (supermaster->config.distance > 0 && !is_central(supermaster))
        supermaster_note_boundary(supermaster, own_holder(supermaster, worker), &range);
    if (supermaster->state == SUPERMASTER_SERVING)
        pool_put(&supermaster->service.pool, worker, range);
}

static void supermaster_on_committed(void *owner, const struct part *part)
{
    struct supermaster *supermaster = owner;
    const struct done_record done = {part->first, part->count, part->digest, part->has_failed};
    if (supermaster_judges_nodes(supermaster))
        supermaster_note_outcome(supermaster, part->worker, &done);
    if (!supermaster_commit(supermaster, own_holder(supermaster, part->worker), &done))
        supermaster_fail(supermaster, supermaster->config.topology->supermaster,
                         "results came for iterations that were never handed out");
}

static void supermaster_on_finished(void *owner, unsigned worker, const struct feedback_record *feedback)
{
    supermaster_learn(owner, worker, feedback);
}

static void supermaster_on_failed(void *owner, const struct iterations_failed *failure)
{
    supermaster_note_failure(owner, failure);
}

static void supermaster_on_neighbour(void *owner, const struct neighbour *neighbour)
{
    struct supermaster *supermaster = owner;
    if (supermaster_is_point(supermaster, neighbour))
        supermaster_hand_point(supermaster, neighbour, neighbour->rank);
    else
        supermaster_pass_neighbour(supermaster, neighbour);
}

static const struct service_ops service_ops = {.on_empty = on_pool_empty,
                                               .committed = supermaster_on_committed,
                                               .failed = supermaster_on_failed,
                                               .neighbour = supermaster_on_neighbour};
static const struct service_ops learning_ops = {.on_empty = on_pool_empty,
                                                .finished = supermaster_on_finished,
                                                .committed = supermaster_on_committed,
                                                .failed = supermaster_on_failed,
                                                .neighbour = supermaster_on_neighbour};

static int init_service(struct supermaster *supermaster)
{
    const struct topology *topology = supermaster->config.topology;
    const struct service_config config = {
        .spec = supermaster->config.spec,
        .ranks = topology->worker_rank,
        .workers = topology->workers,
        .pool_capacity = 1,
        .absent = !is_central(supermaster),
        .record_bytes = supermaster->config.record_bytes,
        .no_speculation = supermaster->config.no_speculation,
        .no_isolation = supermaster->config.no_isolation,
        .dependent = supermaster->config.distance > 0,
        .first = supermaster->config.first,
        .ops = run_spec_learns(supermaster->config.spec) ? &learning_ops : &service_ops,
        .owner = supermaster,
    };
    int result = service_init(&supermaster->service, &config);
    service_set_source(&supermaster->service, SOURCE_IS_DRY);
    return result;
}

static int make_room_for_refill(struct supermaster *supermaster, unsigned m, unsigned chunks)
{
    const size_t bytes = ((size_t)chunks + 1) * CHUNK_RECORD_BYTES;
    unsigned char *records = realloc(supermaster->refilling.records[m], bytes);
    if (records != NULL)
        supermaster->refilling.records[m] = records;
    return records != NULL ? 0 : -1;
}

static unsigned largest_refill(const struct supermaster *supermaster)
{
    unsigned most = 0;
    for (unsigned m = 0; m < supermaster->config.topology->masters; m++) {
        const unsigned size = supermaster_refill_size(supermaster, m);
        most = size > most ? size : most;
    }
    return most;
}

/* Makes room for one refill of each master. If actions go to a sink at once, all refills use the first buffer. So this
 * buffer has room for the largest refill. */
static int make_room_for_refills(struct supermaster *supermaster)
{
    for (unsigned m = 0; m < supermaster->config.topology->masters; m++) {
        const unsigned size = m > 0 ? supermaster_refill_size(supermaster, m) : largest_refill(supermaster);
        if (make_room_for_refill(supermaster, m, size) < 0)
            return -1;
        supermaster->refilling.largest = m > 0 ? supermaster->refilling.largest : size;
    }
    return 0;
}

static int make_room_here(struct supermaster *supermaster, const struct room *room)
{
    const size_t m = room->masters.before, masters = room->masters.now;
    const size_t w = room->workers.before, workers = room->workers.now;
    const bool complete =
        grow_to(&supermaster->speeds.levels, w, workers, sizeof *supermaster->speeds.levels) == 0 &&
        grow_to(&supermaster->speeds.measured.mean_s, w, workers, sizeof *supermaster->speeds.measured.mean_s) == 0 &&
        grow_to(&supermaster->speeds.powers, w, workers, sizeof *supermaster->speeds.powers) == 0 &&
        grow_to(&supermaster->technique.seat, w, workers, sizeof *supermaster->technique.seat) == 0 &&
        grow_to(&supermaster->statistics, w, workers, sizeof *supermaster->statistics) == 0 &&
        grow_to(&supermaster->refilling.parked, m, masters, sizeof *supermaster->refilling.parked) == 0 &&
        grow_to(&supermaster->refilling.busy, m, masters, sizeof *supermaster->refilling.busy) == 0 &&
        grow_to(&supermaster->refilling.reported, m, masters, sizeof *supermaster->refilling.reported) == 0 &&
        grow_to(&supermaster->refilling.records, m, masters, sizeof *supermaster->refilling.records) == 0;
    return complete ? 0 : -1;
}

static int make_room(struct supermaster *supermaster, const struct room *room)
{
    const bool complete =
        make_room_here(supermaster, room) == 0 && supermaster_losses_make_room(supermaster, room) == 0 &&
        supermaster_recalls_make_room(supermaster, room) == 0 && supermaster_joins_make_room(supermaster, room) == 0;
    return complete ? 0 : -1;
}

static void note_room(struct supermaster *supermaster, const struct room *room)
{
    supermaster->room.masters = room->masters.now;
    supermaster->room.workers = room->workers.now;
    supermaster->room.nodes = room->nodes.now;
}

static int supermaster_allocate(struct supermaster *supermaster)
{
    const struct topology *topology = supermaster->config.topology;
    const struct room room = {{0, topology->masters}, {0, topology->workers}, {0, topology->nodes}};
    if (supermaster_record_init(supermaster) < 0 || make_room(supermaster, &room) < 0)
        return -1;
    note_room(supermaster, &room);
    return make_room_for_refills(supermaster) == 0 ? supermaster_chooser_init(supermaster) : -1;
}

/* Returns more room than is needed now. Otherwise the arrays would be copied for each pod if pods join one after the
 * other. */
static unsigned roomy(unsigned before, unsigned now)
{
    return now <= before ? before : now + now / 2;
}

int supermaster_reserve(struct supermaster *supermaster, unsigned workers)
{
    const struct topology *topology = supermaster->config.topology;
    const unsigned m = topology->masters;
    const unsigned size = workers * supermaster->config.spec->refill_chunks;
    const struct room room = {
        {supermaster->room.masters, roomy(supermaster->room.masters, m + 1)},
        {supermaster->room.workers, roomy(supermaster->room.workers, topology->workers + workers)},
        {supermaster->room.nodes, roomy(supermaster->room.nodes, topology->nodes + 1)}};
    if (make_room(supermaster, &room) < 0 || service_reserve(&supermaster->service, room.workers.now) < 0 ||
        supermaster_chooser_make_room(supermaster, &room) < 0 || supermaster_steps_make_room(supermaster, &room) < 0 ||
        supermaster_nodes_make_room(supermaster, &room) < 0)
        return -1;
    note_room(supermaster, &room);
    if (make_room_for_refill(supermaster, m, size) < 0)
        return -1;
    if (size > supermaster->refilling.largest && make_room_for_refill(supermaster, 0, size) < 0)
        return -1;
    if (size > supermaster->refilling.largest)
        supermaster->refilling.largest = size;
    return ledger_reserve(&supermaster->ledger, m + 2);
}

/* Checks the parameters of the technique with equal powers and plausible measured values. A bad parameter thus ends the
 * run before it begins. */
static int supermaster_check_technique(const struct supermaster *supermaster, struct error *error)
{
    const struct supermaster_config *config = &supermaster->config;
    struct sched sched;
    const struct sched_config trial = {
        .iterations = supermaster_step_free(supermaster),
        .workers = config->topology->workers > 0 ? config->topology->workers : 1,
        .min_chunk = config->spec->min_chunk,
        .max_chunk = config->spec->max_chunk,
        .weighting = config->spec->weighting,
        .loads = true,
        .overhead_s = 1e-6,
        .swr = 0.5,
    };
    if (sched_init(&sched, &config->spec->technique, &trial, error) < 0)
        return -1;
    sched_fini(&sched);
    return 0;
}

static int init_ledger(struct supermaster *supermaster)
{
    const struct supermaster_config *config = &supermaster->config;
    struct ledger *ledger = &supermaster->ledger;
    if (ledger_init(ledger, config->first, config->count, supermaster->holders) < 0 ||
        (config->done != NULL && ledger_restore(ledger, config->done, config->done_digest) < 0))
        return -1;
    ledger->grows = config->grows;
    service_note_growth(&supermaster->service, config->grows);
    supermaster->resumed = ledger->done;
    return 0;
}

int supermaster_init(struct supermaster *supermaster, const struct supermaster_config *config, struct error *error)
{
    assert(config->spec->refill_chunks > 0 && config->spec->min_chunk >= config->distance);
    assert((config->precedence == NULL ||
            (!config->grows && (config->step_iterations == 0 || config->step_iterations >= config->count))) &&
           "where iterations wait for others, all are known, and of one time step");
    assert(((!config->grows && config->precedence == NULL) ||
            (config->distance == 0 && !config->spec->technique_auto && config->spec->technique.technique->may_grow)) &&
           "a loop that grows, or is held back in part, is one that can");
    *supermaster = (struct supermaster){
        .config = *config,
        .is_central = topology_is_central(config->topology),
        .speeds = {.missing = config->probe ? config->topology->workers : 0, .due_ns = NEVER},
        .joins.due_ns = NEVER,
        .losses.look_ns = NEVER,
        .cut.first_ns = NEVER,
        .last_commit_ns = NEVER,
    };
    supermaster->config.no_speculation |= config->spec->copies == RUN_COPIES_OFF;
    supermaster->holders = is_central(supermaster) ? config->topology->workers : config->topology->masters + 1;
    if (supermaster_allocate(supermaster) < 0 || init_service(supermaster) < 0 || init_ledger(supermaster) < 0 ||
        supermaster_deaths_init(supermaster) < 0 || supermaster_steps_init(supermaster) < 0 ||
        supermaster_waits_init(supermaster) < 0 || supermaster_nodes_init(supermaster) < 0) {
        supermaster_fini(supermaster);
        return error_set(error, "out of memory for %u workers", config->topology->workers);
    }
    if (supermaster_check_technique(supermaster, error) < 0) {
        supermaster_fini(supermaster);
        return -1;
    }
    supermaster_points_init(supermaster);
    for (unsigned w = 0; config->speeds != NULL && w < config->topology->workers; w++)
        supermaster->statistics[w].speed = config->speeds[w];
    return 0;
}

void supermaster_fini(struct supermaster *supermaster)
{
    for (unsigned m = 0; m < supermaster->room.masters; m++)
        free(supermaster->refilling.records[m]);
    free(supermaster->refilling.records);
    free(supermaster->refilling.parked);
    free(supermaster->refilling.busy);
    free(supermaster->refilling.reported);
    supermaster_chooser_fini(supermaster);
    supermaster_record_fini(supermaster);
    supermaster_deaths_fini(supermaster);
    supermaster_losses_fini(supermaster);
    supermaster_recalls_fini(supermaster);
    supermaster_places_fini(supermaster);
    supermaster_joins_fini(supermaster);
    supermaster_failures_fini(supermaster);
    supermaster_verified_fini(supermaster);
    supermaster_steps_fini(supermaster);
    supermaster_waits_fini(supermaster);
    supermaster_nodes_fini(supermaster);
    ranges_fini(&supermaster->done_failed);
    boundary_list_fini(&supermaster->boundaries);
    free(supermaster->speeds.levels);
    free(supermaster->speeds.measured.mean_s);
    free(supermaster->speeds.powers);
    free(supermaster->technique.seat);
    free(supermaster->statistics);
    service_fini(&supermaster->service);
    ledger_fini(&supermaster->ledger);
    if (supermaster->technique.is_ready)
        sched_fini(&supermaster->technique.sched);
    *supermaster = (struct supermaster){0};
}

void supermaster_refuse(struct supermaster *supermaster, const char *text)
{
    error_set(&supermaster->step.refusal, "%s", text);
    actions_drop(supermaster->step.actions, supermaster->step.from, supermaster->step.refusal.text);
}

bool supermaster_speaks_for(const struct supermaster *supermaster, unsigned rank)
{
    const struct topology *topology = supermaster->config.topology;
    unsigned w = topology_worker(topology, rank), m = topology_master(topology, supermaster->step.from);
    return rank == supermaster->step.from ||
           (w < topology->workers && m < topology->masters && topology->master_of[w] == m);
}

static void receive_fatal(struct supermaster *supermaster, const struct fatal *problem)
{
    if (!supermaster_speaks_for(supermaster, problem->rank)) {
        supermaster_refuse(supermaster, "told of a problem of a rank that it does not serve");
        return;
    }
    char text[TEXT_MAX + 1];
    memcpy(text, problem->text, problem->length);
    text[problem->length] = '\0';
    const unsigned m = topology_master(supermaster->config.topology, supermaster->step.from);
    if (!supermaster_leave_out(supermaster, m, problem->rank, text))
        supermaster_fail(supermaster, problem->rank, text);
}

static void receive_threads(struct supermaster *supermaster, const struct threads *threads)
{
    if (supermaster_speaks_for(supermaster, threads->worker))
        supermaster->statistics[topology_worker(supermaster->config.topology, threads->worker)].threads = *threads;
    else
        supermaster_refuse(supermaster, "told of the threads of a rank that it does not serve");
}

void supermaster_receive_common(struct supermaster *supermaster, const struct message *message)
{
    switch (message->type) {
    case MESSAGE_SPEED: supermaster_receive_speed(supermaster, message); break;
    case MESSAGE_FATAL: receive_fatal(supermaster, &message->fatal); break;
    case MESSAGE_THREADS: receive_threads(supermaster, &message->threads); break;
    case MESSAGE_DRAIN: supermaster_end(supermaster); break;
    case MESSAGE_BOUNDARY: supermaster_receive_boundary(supermaster, message); break;
    default: supermaster_refuse(supermaster, "sent a message that is not for it to send");
    }
}

static void look_at_own_line(struct supermaster *supermaster)
{
    if (!is_central(supermaster) && supermaster->service.line.count > 0)
        supermaster_note_waiting(supermaster);
}

static void receive_stolen(struct supermaster *supermaster, const struct event *event)
{
    struct error error;
    const unsigned w = service_find(&supermaster->service, event->from);
    if (service_stolen(&supermaster->service, w, event->now_ns, &event->stolen, supermaster->step.actions, &error) < 0)
        supermaster_refuse(supermaster, error.text);
    supermaster_take_own_counts(supermaster);
    look_at_own_line(supermaster);
}

static void receive_from_worker(struct supermaster *supermaster, unsigned w, const struct event *event)
{
    struct error error;
    switch (event->message->type) {
    case MESSAGE_REQUEST:
    case MESSAGE_RESULT:
    case MESSAGE_ITERATIONS_FAILED:
    case MESSAGE_GOODBYE:
    case MESSAGE_ECHO:
    case MESSAGE_RETURNED:
        if (service_message(&supermaster->service, w, event->now_ns, event->message, supermaster->step.actions,
                            &error) < 0)
            supermaster_refuse(supermaster, error.text);
        if (event->message->type == MESSAGE_RETURNED)
            supermaster_take_own_counts(supermaster);
        look_at_own_line(supermaster);
        break;
    default: supermaster_receive_common(supermaster, event->message);
    }
}

static void supermaster_receive(struct supermaster *supermaster, const struct event *event)
{
    const struct topology *topology = supermaster->config.topology;
    unsigned m = topology_master(topology, event->from);
    if (m < topology->masters) {
        supermaster_receive_from_master(supermaster, m, event->message);
        return;
    }
    unsigned w = service_find(&supermaster->service, event->from);
    const bool is_worker = w < topology->workers;
    const enum worker_status status = is_worker ? supermaster->losses.worker[w] : WORKER_IS_ALIVE;
    if (is_worker && supermaster->service.workers[w].present)
        receive_from_worker(supermaster, w, event);
    else if (status == WORKER_IS_LOST || status == WORKER_HAS_LEFT)
        REASON(supermaster->reasons, "rank %u is not listened to: it was taken for lost", event->from);
    else if (is_worker && event->message->type == MESSAGE_ADOPT)
        supermaster_receive_adopt(supermaster, w, &event->message->adopt);
    else
        supermaster_refuse(supermaster, "sent a message to the supermaster, which does not serve it");
}

/* Handles all deadlines. The service must hand out work only once in a step. If service_expire() does so here,
 * iterations that have become free are handed out only in the next step. */
static void look_after_time(struct supermaster *supermaster)
{
    const bool serves = service_deadline(&supermaster->service) <= supermaster->step.now_ns;
    service_expire(&supermaster->service, supermaster->step.now_ns, supermaster->step.actions);
    supermaster_expire_orphans(supermaster);
    supermaster_expire_speeds(supermaster);
    supermaster_expire_joins(supermaster);
    supermaster_look_at_masters(supermaster);
    supermaster_look_for_growth(supermaster);
    if (!serves)
        supermaster_serve_set_free(supermaster);
}

static void trace_resumed(const struct supermaster *supermaster)
{
    const struct ranges *done = supermaster->config.done;
    struct trace_sink *trace = supermaster->service.trace;
    for (size_t i = 0; trace != NULL && done != NULL && i < ranges_length(done); i++) {
        const struct range *range = ranges_at(done, i);
        *trace_next(trace) = (struct trace_record){
            .at_ns = supermaster->step.now_ns, .first = range->first, .count = range->count, .kind = CHUNK_RESUMED};
        trace_note(trace);
    }
}

static void supermaster_handle(struct supermaster *supermaster, const struct event *event)
{
    switch (event->type) {
    case EVENT_START:
        supermaster->started_ns = supermaster->grown_look_ns = event->now_ns;
        trace_resumed(supermaster);
        if (ledger_is_complete(&supermaster->ledger))
            supermaster_end(supermaster);
        else
            supermaster_end_if_hopeless(supermaster);
        break;
    case EVENT_MESSAGE: supermaster_receive(supermaster, event); break;
    case EVENT_STOLEN: receive_stolen(supermaster, event); break;
    case EVENT_STORED:
        service_stored(&supermaster->service, event, supermaster->step.actions);
        if (supermaster_has_no_worker(supermaster))
            supermaster_recheck(supermaster);
        if (event->text != NULL && !event->lost)
            supermaster_fail(supermaster, supermaster->config.topology->supermaster, event->text);
        break;
    case EVENT_DRAIN: supermaster_drain(supermaster, event->now); break;
    case EVENT_RANK_LOST: supermaster_receive_loss(supermaster, event->from); break;
    case EVENT_JOINED: supermaster_receive_joined(supermaster); break;
    case EVENT_LEAVING: supermaster_receive_leaving(supermaster, event->from, event->now); break;
    case EVENT_TIMER: look_after_time(supermaster); break;
    case EVENT_GROWN: supermaster_receive_growth(supermaster, &event->growth); break;
    case EVENT_MORE: supermaster_look_at_once(supermaster); break;
    case EVENT_FATAL: supermaster_fail(supermaster, supermaster->config.topology->supermaster, event->text); break;
    default: break;
    }
}

static void look_at_time_step(struct supermaster *supermaster)
{
    if (supermaster->ledger.done + ranges_total(&supermaster->ledger.failed) >= supermaster->steps.end)
        supermaster_next_step(supermaster);
}

/* Earlier runs may have given up the last iterations of a time step. The next time step must then begin here: all
 * workers are waiting, so no message would start it later. */
static void begin(struct supermaster *supermaster)
{
    supermaster_begin(supermaster, supermaster->step.now_ns);
    look_at_time_step(supermaster);
    if (supermaster->losses.look_again)
        supermaster_handle_losses(supermaster, 0);
}

void supermaster_step(struct supermaster *supermaster, const struct event *event, struct actions *actions)
{
    if (supermaster->state == SUPERMASTER_GONE)
        return;
    supermaster->step.actions = actions;
    actions->event = event;
    supermaster->step.now_ns = event->now_ns;
    supermaster->step.from = event->from;
    uint64_t done = supermaster->ledger.done;
    supermaster_handle(supermaster, event);
    look_at_time_step(supermaster);
    if (supermaster->nodes.has_suspect)
        supermaster_look_at_suspect(supermaster);
    const unsigned news = service_take_news(&supermaster->service);
    if (news != 0 || supermaster->losses.look_again)
        supermaster_handle_losses(supermaster, news);
    if (supermaster->ledger.done != done)
        supermaster->last_commit_ns = event->now_ns;
    if (supermaster->state == SUPERMASTER_GATHERING && supermaster->speeds.missing == 0 &&
        !supermaster_has_no_worker(supermaster))
        begin(supermaster);
    if (is_central(supermaster) && supermaster->cut.first_ns == NEVER)
        supermaster->cut.first_ns = supermaster->service.first_assign_ns;
    if (ledger_is_complete(&supermaster->ledger))
        supermaster_end(supermaster);
    if (supermaster->recalls.has_more)
        supermaster_look_at_recalls(supermaster);
    if (supermaster->points.due_ns <= event->now_ns)
        supermaster_ask_for_point(supermaster);
    supermaster_record_if_due(supermaster, event->now_ns, false);
    if (supermaster->state == SUPERMASTER_ENDING)
        supermaster_leave(supermaster, event->now_ns);
    supermaster->traffic.messages_sent = actions->messages;
    supermaster->traffic.bytes_sent = actions->bytes;
}

unsigned supermaster_busy(const struct supermaster *supermaster)
{
    unsigned busy = supermaster->service.count.busy;
    for (unsigned m = 0; m < supermaster->config.topology->masters; m++)
        busy += supermaster->refilling.busy[m];
    return busy;
}

const char *supermaster_state_name(const struct supermaster *supermaster)
{
    return supermaster_state_names[supermaster->state];
}

static void supermaster_step_any(void *self, const struct event *event, struct actions *actions)
{
    supermaster_step(self, event, actions);
#ifdef HDSS_CHECKS
    supermaster_check(self);
#endif
}

static uint64_t supermaster_deadline_any(const void *self)
{
    const struct supermaster *supermaster = self;
    uint64_t service = service_deadline(&supermaster->service), record = supermaster->record.due_ns;
    uint64_t due = service < record ? service : record;
    if (supermaster->ledger.grows && supermaster_growth_due_ns(supermaster) < due)
        due = supermaster_growth_due_ns(supermaster);
    if (supermaster->joins.due_ns < due)
        due = supermaster->joins.due_ns;
    if (supermaster->state == SUPERMASTER_GATHERING)
        return supermaster->speeds.due_ns < due ? supermaster->speeds.due_ns : due;
    if (supermaster->state == SUPERMASTER_SERVING && supermaster->waits.serve_due_ns < due)
        due = supermaster->waits.serve_due_ns;
    if (supermaster->state == SUPERMASTER_SERVING && supermaster->losses.look_ns < due)
        return supermaster->losses.look_ns;
    bool awaits = supermaster->state == SUPERMASTER_ENDING && supermaster->losses.orphans > 0;
    return awaits && supermaster->losses.orphans_due_ns < due ? supermaster->losses.orphans_due_ns : due;
}

static const char *supermaster_state_any(const void *self)
{
    return supermaster_state_name(self);
}

static void check_any(const void *self)
{
    supermaster_check(self);
}

static void explain_any(void *self, const struct reason_sink *sink)
{
    struct supermaster *supermaster = self;
    supermaster->reasons = supermaster->service.reasons = sink;
}

static void trace_any(void *self, struct trace_sink *sink)
{
    struct supermaster *supermaster = self;
    supermaster->service.trace = sink;
}

static bool needs_any(const void *self, unsigned rank)
{
    const struct supermaster *supermaster = self;
    return service_needs(&supermaster->service, rank);
}

struct machine supermaster_machine(struct supermaster *supermaster)
{
    return (struct machine){supermaster,
                            supermaster_step_any,
                            supermaster_deadline_any,
                            supermaster_state_any,
                            check_any,
                            explain_any,
                            trace_any,
                            needs_any};
}
