/* SPDX-License-Identifier: MIT */
/* The workers: their speeds, the loads of their cores, and workers that join during the run. */
#include "supermaster/core.h"

#include "common/machine/probe.h"
#include "common/predict/choose.h"
#include "common/util/grow.h"
#include "supermaster/choose.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void supermaster_note_joiner(struct supermaster *supermaster, unsigned w);

/* Speeds, virtual powers and other results of the probes. All workers probe the same iterations: they time the first 1,
 * 2, 4, .. iterations until the time for the probe is used up. To compare two workers, their times for the largest
 * number of iterations that both have timed are used. */

/* After a speed has arrived, the supermaster waits for the missing speeds. The wait lasts SPEED_FACTOR times as long as
 * it took until that speed arrived, and at least SPEED_PATIENCE_NS. A worker whose speed is still missing then counts
 * as hanging, and the others compute the loop. */
#define SPEED_FACTOR      10
#define SPEED_PATIENCE_NS 10000000000u

static void gather_cells(struct supermaster *supermaster, const struct speed *speed)
{
    struct gathered *gathered = &supermaster->speeds.gathered;
    struct measured *measured = &supermaster->speeds.measured;
    uint64_t timed = 0;
    for (unsigned i = 0; i < SPEED_CELLS; i++) {
        const struct speed_cell *cell = &speed->cells[i];
        timed += cell->count;
        gathered->cells[i].sum += cell->mean_ns / speed->mean_ns * cell->count;
        gathered->cells[i].count += cell->count;
        if (cell->count > measured->cells[i].count)
            measured->cells[i].count = cell->count;
    }
    if (timed < 2)
        return;
    double cov = speed->deviation_ns / speed->mean_ns;
    gathered->squares += cov * cov * (double)(timed - 1);
    gathered->freedom += timed - 1;
    measured->iterations = timed > measured->iterations ? timed : measured->iterations;
}

static void gather(struct supermaster *supermaster, unsigned w, const struct speed *speed)
{
    supermaster->speeds.has_one = true;
    supermaster->speeds.levels[w] = speed_levels_of(speed);
    supermaster->speeds.gathered.round_trip_s += seconds_of(speed->round_trip_ns);
    supermaster->speeds.gathered.swr += speed->swr;
    supermaster->speeds.gathered.swr_workers += speed->swr > 0;
    if (speed->mean_ns > 0)
        gather_cells(supermaster, speed);
}

static uint64_t patience_ns(uint64_t taken_ns)
{
    uint64_t patience = SPEED_FACTOR * taken_ns;
    return patience > SPEED_PATIENCE_NS ? patience : SPEED_PATIENCE_NS;
}

void supermaster_expire_speeds(struct supermaster *supermaster)
{
    if (supermaster->state != SUPERMASTER_GATHERING || supermaster->speeds.due_ns > supermaster->step.now_ns)
        return;
    supermaster->losses.late = true;
    for (unsigned w = 0; w < supermaster->config.topology->workers; w++)
        supermaster_waive_speed(supermaster, w);
}

/* Returns true if the speed of worker `w` is no longer expected. This is so if the worker is lost, if its master was
 * dismissed, or if the run began without this speed. */
static bool is_too_late(const struct supermaster *supermaster, unsigned w)
{
    const struct topology *topology = supermaster->config.topology;
    const bool is_sent_away = !is_central(supermaster) && supermaster->losses.dismissed[topology->master_of[w]];
    return is_sent_away || supermaster->losses.worker[w] != WORKER_IS_ALIVE ||
           (supermaster->state > SUPERMASTER_GATHERING && !supermaster_is_joiner(supermaster, w) &&
            supermaster_is_late(supermaster));
}

static void take_speed(struct supermaster *supermaster, unsigned w, const struct speed *speed)
{
    struct speed_levels *levels = &supermaster->speeds.levels[w];
    if (levels->count == SPEED_WAIVED) {
        supermaster->speeds.missing++;
        levels->count = 0;
    }
    if (supermaster->speeds.missing == 0 || levels->count > 0) {
        supermaster_refuse(supermaster, "sent a speed that was not asked for");
        return;
    }
    gather(supermaster, w, speed);
    supermaster->speeds.missing--;
    supermaster->speeds.due_ns =
        supermaster->step.now_ns + patience_ns(supermaster->step.now_ns - supermaster->started_ns);
}

void supermaster_receive_speed(struct supermaster *supermaster, const struct message *message)
{
    const struct topology *topology = supermaster->config.topology;
    struct speed speed;
    speed_get(message, &speed);
    const unsigned w = topology_worker(topology, speed.worker);
    if (w == topology->workers || !supermaster_speaks_for(supermaster, speed.worker))
        supermaster_refuse(supermaster, "sent a speed of a rank that it does not serve");
    else if (is_too_late(supermaster, w))
        return;
    else if (supermaster_is_joiner(supermaster, w)) {
        supermaster->speeds.levels[w] = speed_levels_of(&speed);
        supermaster_note_joiner(supermaster, w);
    } else
        take_speed(supermaster, w, &speed);
}

void supermaster_waive_speed(struct supermaster *supermaster, unsigned w)
{
    struct speed_levels *levels = &supermaster->speeds.levels[w];
    if (supermaster_is_joiner(supermaster, w))
        supermaster_note_joiner(supermaster, w);
    if (supermaster->speeds.missing == 0 || levels->count > 0)
        return;
    levels->count = SPEED_WAIVED;
    supermaster->speeds.missing--;
    /* Sets a limit for the wait: if the remaining workers hang, their speeds never arrive. */
    if (supermaster->speeds.due_ns == NEVER)
        supermaster->speeds.due_ns =
            supermaster->step.now_ns + patience_ns(supermaster->step.now_ns - supermaster->started_ns);
}

/* Gives workers whose speeds are missing the speed of another worker. Returns how many speeds were known, or 1 if none
 * was known. */
static unsigned fill_in_missing(struct supermaster *supermaster)
{
    unsigned workers = supermaster->config.topology->workers, came = 0;
    struct speed_levels known = {.count = 1, .elapsed_ns = {1}};
    for (unsigned w = workers; w-- > 0;)
        if (supermaster->speeds.levels[w].count != SPEED_WAIVED) {
            known = supermaster->speeds.levels[w];
            came++;
        }
    for (unsigned w = 0; w < workers; w++)
        if (supermaster->speeds.levels[w].count == SPEED_WAIVED)
            supermaster->speeds.levels[w] = known;
    return came > 0 ? came : 1;
}

static void compare_speeds(struct supermaster *supermaster)
{
    unsigned workers = supermaster->config.topology->workers;
    fill_in_missing(supermaster);
    probe_compare(supermaster->speeds.levels, workers, supermaster->speeds.measured.mean_s);
    for (unsigned w = 0; supermaster->config.speeds == NULL && w < workers; w++)
        supermaster->statistics[w].speed = 1 / supermaster->speeds.measured.mean_s[w];
    service_note_speeds(&supermaster->service, supermaster->speeds.measured.mean_s);
}

static void finish_measured(struct supermaster *supermaster)
{
    const struct gathered *gathered = &supermaster->speeds.gathered;
    struct measured *measured = &supermaster->speeds.measured;
    const unsigned came = fill_in_missing(supermaster);
    measured->round_trip_s = gathered->round_trip_s / came;
    measured->swr = gathered->swr_workers > 0 ? gathered->swr / gathered->swr_workers : 0;
    measured->cov = gathered->freedom > 0 ? sqrt(gathered->squares / (double)gathered->freedom) : 0;
    for (unsigned i = 0; i < SPEED_CELLS; i++)
        if (gathered->cells[i].count > 0)
            measured->cells[i].mean = gathered->cells[i].sum / (double)gathered->cells[i].count;
    compare_speeds(supermaster);
}

/* Returns the shortest time of an iteration divided by the longest. If the technique needs this ratio, workers time
 * five iterations for it. If no worker has timed two iterations, the loop has only one iteration, and the ratio is
 * 1. */
static double swr(const struct supermaster *supermaster)
{
    return supermaster->config.probe && supermaster->speeds.measured.swr == 0 ? 1 : supermaster->speeds.measured.swr;
}

static bool counts(const struct supermaster *supermaster, unsigned w)
{
    const enum worker_status status = supermaster->losses.worker[w];
    const bool is_there = status != WORKER_IS_LOST && status != WORKER_HAS_LEFT;
    return is_there && (is_central(supermaster) ||
                        !supermaster_is_joining(supermaster, supermaster->config.topology->master_of[w]));
}

/* Says which workers get a seat in a technique that is being prepared. These are the workers that may be given chunks.
 * If no worker may be given chunks, all workers get a seat (`all`). */
struct seating {
    const struct supermaster *supermaster;
    bool all;
};

static struct seating seating_now(const struct supermaster *supermaster)
{
    for (unsigned w = 0; w < supermaster->config.topology->workers; w++)
        if (counts(supermaster, w))
            return (struct seating){supermaster, false};
    return (struct seating){supermaster, true};
}

static bool has_seat(const struct seating *seating, unsigned w)
{
    return seating->all || counts(seating->supermaster, w);
}

static unsigned gather_speeds(const struct seating *seating, double *powers)
{
    unsigned seats = 0;
    for (unsigned w = 0; w < seating->supermaster->config.topology->workers; w++)
        if (has_seat(seating, w))
            powers[seats++] = seating->supermaster->statistics[w].speed;
    return seats;
}

static void put_powers_back(const struct seating *seating, unsigned seats, double *powers)
{
    for (unsigned w = seating->supermaster->config.topology->workers; w-- > 0;)
        powers[w] = has_seat(seating, w) ? powers[--seats] : 0;
}

static void take_seats(const struct seating *seating, unsigned *seat)
{
    unsigned seats = 0;
    for (unsigned w = 0; w < seating->supermaster->config.topology->workers; w++)
        seat[w] = has_seat(seating, w) ? seats++ : NO_SEAT;
}

static int prepare_technique(struct supermaster *supermaster, const struct sched_spec *technique, uint64_t iterations,
                             struct error *error)
{
    const struct supermaster_config *config = &supermaster->config;
    const struct seating seating = seating_now(supermaster);
    double *powers = supermaster->speeds.powers;
    const unsigned seats = gather_speeds(&seating, powers);
    sched_powers_from_speeds(technique->technique, config->spec->weighting, powers, seats, powers);
    const struct sched_config sched = {
        .iterations = iterations,
        .workers = seats,
        .powers = powers,
        .min_chunk = config->spec->min_chunk,
        .max_chunk = config->spec->max_chunk,
        .weighting = config->spec->weighting,
        .loads = true,
        .overhead_s = supermaster->speeds.measured.round_trip_s,
        .swr = swr(supermaster),
    };
    const int result = sched_init(&supermaster->technique.sched, technique, &sched, error);
    put_powers_back(&seating, seats, powers);
    if (result == 0)
        take_seats(&seating, supermaster->technique.seat);
    return result;
}

static const struct sched_spec *wanted_technique(struct supermaster *supermaster)
{
    const struct run_spec *spec = supermaster->config.spec;
    bool is_known = !spec->chosen_late || supermaster->technique.chooser->choice.times > 0;
    return spec->technique_auto && is_known ? supermaster_choose(supermaster) : &spec->technique;
}

int supermaster_renew_technique(struct supermaster *supermaster, struct error *error)
{
    const struct sched_spec *technique = wanted_technique(supermaster);
    if (technique->technique == supermaster->technique.sched.technique)
        return sched_again(&supermaster->technique.sched, supermaster_step_free(supermaster), error);
    sched_fini(&supermaster->technique.sched);
    supermaster->technique.is_ready =
        prepare_technique(supermaster, technique, supermaster_step_free(supermaster), error) == 0;
    return supermaster->technique.is_ready ? 0 : -1;
}

/* Prepares the technique for the rest of the loop. The rest includes iterations that are granted but not done, because
 * their holders may return them. If the technique cannot be prepared, the old state is kept, except for the powers. */
static bool prepare_for_rest(struct supermaster *supermaster, const struct sched_spec *technique)
{
    const struct ledger *ledger = &supermaster->ledger;
    uint64_t over = ledger->done + ranges_total(&ledger->failed) + ranges_total(&ledger->free) + ledger->held;
    uint64_t granted = ledger->loop.count - over;
    struct sched before = supermaster->technique.sched;
    struct error refused;
    if (prepare_technique(supermaster, technique, supermaster_step_free(supermaster) + granted, &refused) < 0) {
        supermaster->technique.sched = before;
        return false;
    }
    sched_fini(&before);
    sched_claim(&supermaster->technique.sched, granted);
    return true;
}

void supermaster_change_technique(struct supermaster *supermaster, const struct sched_spec *technique)
{
    if (technique->technique != supermaster->technique.sched.technique && prepare_for_rest(supermaster, technique))
        REASON(supermaster->reasons, "goes on with %s", technique->technique->name);
}

static void keep_learned(struct supermaster *supermaster)
{
    const struct sched *sched = &supermaster->technique.sched;
    const unsigned workers = supermaster->config.topology->workers;
    double sum = 0;
    for (unsigned w = 0; w < workers; w++)
        sum += supermaster->technique.seat[w] != NO_SEAT ? supermaster->statistics[w].speed : 0;
    for (unsigned w = 0; sched->technique->weight != NULL && w < workers; w++)
        if (supermaster->technique.seat[w] != NO_SEAT)
            supermaster->statistics[w].speed =
                sched_weight(sched, supermaster->technique.seat[w]) * sum / sched->workers;
}

/* Restarts the technique for the rest of the loop, with the present workers and with what the technique has learned. If
 * the technique cannot be restarted, it continues unchanged. Then workers without a seat share the seats of others. */
static void supermaster_recount_workers(struct supermaster *supermaster)
{
    const struct sched_spec same = supermaster->technique.sched.spec;
    keep_learned(supermaster);
    if (prepare_for_rest(supermaster, &same)) {
        REASON(supermaster->reasons, "goes on with %u workers", supermaster->technique.sched.workers);
        return;
    }
    for (unsigned w = 0; w < supermaster->config.topology->workers; w++)
        if (supermaster->technique.seat[w] == NO_SEAT)
            supermaster->technique.seat[w] = w % supermaster->technique.sched.workers;
}

void supermaster_begin(struct supermaster *supermaster, uint64_t now_ns)
{
    struct error error;
    if (supermaster->config.probe)
        finish_measured(supermaster);
    if (prepare_technique(supermaster, wanted_technique(supermaster), supermaster_step_free(supermaster), &error) < 0) {
        supermaster_fail(supermaster, supermaster->config.topology->supermaster, error.text);
        return;
    }
    supermaster->technique.is_ready = true;
    supermaster_move(supermaster, SUPERMASTER_SERVING);
    for (unsigned m = 0; m < supermaster->config.topology->masters; m++)
        if (supermaster->refilling.parked[m] > 0)
            supermaster_serve_refill(supermaster, m, 0);
    service_serve(&supermaster->service, now_ns, supermaster->step.actions);
    supermaster->losses.serve_due = false;
}

/* Loads of the workers' cores. With --weighting acp the sizes of chunks depend on these loads. The loads come in
 * REQUESTs of workers, or from the masters. If a worker has reported no load, it is assumed to be alone on its core. */

static double processes(uint16_t load)
{
    return load > LOAD_ONE ? (double)load / LOAD_ONE : 1;
}

void supermaster_weigh_load(struct supermaster *supermaster, unsigned w)
{
    const struct served *served = &supermaster->service.workers[w];
    struct worker_statistics *statistics = &supermaster->statistics[w];
    uint16_t told = served->load > 0 ? served->load : statistics->load;
    double load = processes(told);
    sched_set_load(&supermaster->technique.sched, supermaster->technique.seat[w], load);
    statistics->load_sum += told > 0 ? load : 0;
    statistics->load_chunks += told > 0;
}

void supermaster_receive_loads(struct supermaster *supermaster, const struct message *message)
{
    const struct topology *topology = supermaster->config.topology;
    struct load_record record;
    for (unsigned i = 0; i < message->record_count; i++) {
        load_record_get(message->records, i, &record);
        unsigned w = topology_worker(topology, record.worker);
        if (w == topology->workers || !supermaster_speaks_for(supermaster, record.worker)) {
            supermaster_refuse(supermaster, "sent the load of a rank that it does not serve");
            return;
        }
        supermaster->statistics[w].load = record.load;
    }
}

/* Masters that join during the run with their workers. All arrays grow at their ends, so existing ranks and indices
 * stay valid. If workers probe, a master that joins during the loop gets work only after the speeds of its workers are
 * known. The technique then restarts for the rest of the loop, with all workers and with what it has learned. A loop
 * with dependencies accepts no joining masters: they are told to leave at once.
 *
 * A pod may be unfit for a job, for example if its node lacks a file. Such a pod is told to leave, and the other pods
 * continue. */

int supermaster_joins_make_room(struct supermaster *supermaster, const struct room *room)
{
    struct joins *joins = &supermaster->joins;
    const size_t before = room->masters.before, now = room->masters.now;
    const bool complete =
        grow_to(&joins->missing, before, now, sizeof *joins->missing) == 0 &&
        grow_to(&joins->refills_kept, before, now, sizeof *joins->refills_kept) == 0 &&
        grow_to(&joins->is_missing, room->workers.before, room->workers.now, sizeof *joins->is_missing) == 0;
    return complete ? 0 : -1;
}

void supermaster_joins_fini(struct supermaster *supermaster)
{
    free(supermaster->joins.missing);
    free(supermaster->joins.refills_kept);
    free(supermaster->joins.is_missing);
    free(supermaster->joins.unfit);
}

void supermaster_keep_joiners_refill(struct supermaster *supermaster, unsigned m)
{
    supermaster->joins.refills_kept[m]++;
}

static void assume_speeds(struct supermaster *supermaster, unsigned first)
{
    struct worker_statistics *statistics = supermaster->statistics;
    double sum = 0;
    for (unsigned w = 0; w < first; w++)
        sum += statistics[w].speed;
    for (unsigned w = first; w < supermaster->config.topology->workers; w++)
        statistics[w].speed = first > 0 ? sum / first : 1;
}

static void take_up(struct supermaster *supermaster, unsigned m)
{
    struct joins *joins = &supermaster->joins;
    if (supermaster->state != SUPERMASTER_SERVING)
        return;
    if (supermaster->config.probe)
        compare_speeds(supermaster);
    supermaster_recount_workers(supermaster);
    supermaster->refilling.parked[m] += joins->refills_kept[m];
    joins->refills_kept[m] = 0;
    supermaster->recalls.has_no_giver = false;
    if (supermaster->refilling.parked[m] > 0)
        supermaster_serve_parked(supermaster, m);
}

static void close_joining(struct supermaster *supermaster)
{
    if (--supermaster->joins.open == 0)
        supermaster->joins.due_ns = NEVER;
}

/* Notes that the supermaster no longer waits for the speed of joined worker `w`: the speed has arrived, or was given
 * up. If it was the last missing speed of a master, this master now gets work. */
static void supermaster_note_joiner(struct supermaster *supermaster, unsigned w)
{
    const unsigned m = supermaster->config.topology->master_of[w];
    struct joins *joins = &supermaster->joins;
    joins->is_missing[w] = false;
    joins->due_ns = supermaster->step.now_ns + patience_ns(supermaster->step.now_ns - joins->since_ns);
    if (--joins->missing[m] > 0)
        return;
    close_joining(supermaster);
    take_up(supermaster, m);
}

void supermaster_forget_joining(struct supermaster *supermaster, unsigned m)
{
    const struct topology *topology = supermaster->config.topology;
    struct joins *joins = &supermaster->joins;
    joins->refills_kept[m] = 0;
    if (!supermaster_is_joining(supermaster, m))
        return;
    for (unsigned i = 0; i < topology_count(topology, m); i++)
        joins->is_missing[topology->served[topology_first(topology, m) + i]] = false;
    joins->missing[m] = 0;
    close_joining(supermaster);
}

void supermaster_expire_joins(struct supermaster *supermaster)
{
    if (supermaster->joins.due_ns > supermaster->step.now_ns)
        return;
    supermaster->losses.late = true;
    for (unsigned w = 0; w < supermaster->config.topology->workers; w++)
        if (supermaster_is_joiner(supermaster, w))
            supermaster_note_joiner(supermaster, w);
}

static void send_away(struct supermaster *supermaster, unsigned m, bool now)
{
    const struct end end = {.drain = true, .now = now};
    supermaster->losses.dismissed[m] = true;
    supermaster->refilling.parked[m] = 0;
    supermaster_forget_recall(supermaster, m);
    supermaster_forget_joining(supermaster, m);
    actions_send(supermaster->step.actions, supermaster->config.topology->master_rank[m],
                 &(struct message){.type = MESSAGE_END, .end = end});
}

static void waive_speeds(struct supermaster *supermaster, unsigned m)
{
    const struct topology *topology = supermaster->config.topology;
    for (unsigned i = 0; i < topology_count(topology, m); i++)
        supermaster_waive_speed(supermaster, topology->served[topology_first(topology, m) + i]);
}

void supermaster_receive_leaving(struct supermaster *supermaster, unsigned rank, bool now)
{
    const struct topology *topology = supermaster->config.topology;
    const unsigned m = topology_master(topology, rank);
    if (m >= topology->masters || supermaster->losses.master[m] != MASTER_SERVES)
        return;
    const bool ends = supermaster->state >= SUPERMASTER_ENDING;
    if (ends ? !now || !supermaster->drains : supermaster->losses.dismissed[m] && !now)
        return;
    REASON(supermaster->reasons, "rank %u is to leave with its workers", rank);
    send_away(supermaster, m, now);
    waive_speeds(supermaster, m);
}

static bool is_there_without(const struct supermaster *supermaster, unsigned m)
{
    const struct topology *topology = supermaster->config.topology;
    const struct losses *losses = &supermaster->losses;
    for (unsigned w = 0; w < topology->workers; w++)
        if (losses->worker[w] == WORKER_IS_ALIVE && topology->master_of[w] != m &&
            !losses->dismissed[topology->master_of[w]])
            return true;
    return supermaster->config.awaited > 0 && supermaster_may_somebody_come(supermaster);
}

static int note_unfit(struct supermaster *supermaster, unsigned m, unsigned rank, const char *text)
{
    struct joins *joins = &supermaster->joins;
    struct unfit *list = grow(joins->unfit, joins->unfit_count, &joins->unfit_capacity, sizeof *list);
    if (list == NULL)
        return -1;
    joins->unfit = list;
    struct unfit *unfit = &list[joins->unfit_count++];
    unfit->rank = rank;
    unfit->master = m;
    snprintf(unfit->text, sizeof unfit->text, "%s", text);
    return 0;
}

static bool is_told_of(const struct joins *joins, unsigned m)
{
    for (unsigned i = 0; i < joins->unfit_count; i++)
        if (joins->unfit[i].master == m)
            return true;
    return false;
}

bool supermaster_leave_out(struct supermaster *supermaster, unsigned m, unsigned rank, const char *text)
{
    const struct topology *topology = supermaster->config.topology;
    const bool all_end = supermaster->state >= SUPERMASTER_ENDING;
    if (m >= topology->masters || m < topology->launched)
        return false;
    if (supermaster->losses.dismissed[m] || is_told_of(&supermaster->joins, m))
        return true; /* another rank of the pod has already given a reason, or the pod is leaving anyway */
    if ((!all_end && !is_there_without(supermaster, m)) || note_unfit(supermaster, m, rank, text) < 0)
        return false;
    if (all_end)
        return true;
    REASON(supermaster->reasons, "rank %u is left out with its workers: rank %u cannot take part",
           topology->master_rank[m], rank);
    send_away(supermaster, m, false);
    waive_speeds(supermaster, m);
    return true;
}

unsigned supermaster_unfit_count(const struct supermaster *supermaster)
{
    return supermaster->joins.unfit_count;
}

unsigned supermaster_unfit_rank(const struct supermaster *supermaster, unsigned i)
{
    return supermaster->config.topology->master_rank[supermaster->joins.unfit[i].master];
}

void supermaster_unfit_text(const struct supermaster *supermaster, unsigned i, struct error *text)
{
    const struct unfit *unfit = &supermaster->joins.unfit[i];
    error_set(text, "rank %u cannot take part, and its pod is left out: %s", unfit->rank, unfit->text);
}

void supermaster_note_pod_left(struct supermaster *supermaster)
{
    if (supermaster->state == SUPERMASTER_SERVING && !supermaster_has_no_worker(supermaster))
        supermaster_recount_workers(supermaster);
}

static void await_speeds(struct supermaster *supermaster, unsigned m, unsigned first)
{
    struct joins *joins = &supermaster->joins;
    const unsigned count = supermaster->config.topology->workers - first;
    if (supermaster->state == SUPERMASTER_GATHERING) {
        for (unsigned w = first; w < first + count; w++)
            supermaster->speeds.levels[w].count = 0;
        supermaster->speeds.missing += count;
        return;
    }
    for (unsigned w = first; w < first + count; w++)
        joins->is_missing[w] = true;
    joins->missing[m] = count;
    joins->open++;
    joins->since_ns = supermaster->step.now_ns;
}

void supermaster_receive_joined(struct supermaster *supermaster)
{
    const struct topology *topology = supermaster->config.topology;
    const unsigned m = topology->masters - 1, first = supermaster->service.worker_count;
    assert(!is_central(supermaster) && supermaster->ledger.holders == m + 1 && "one master has joined others");
    service_add_workers(&supermaster->service, topology->worker_rank, topology->workers);
    supermaster_nodes_add(supermaster);
    ledger_add_holder(&supermaster->ledger);
    supermaster->holders++;
    for (unsigned w = first; w < topology->workers; w++) {
        supermaster->technique.seat[w] = NO_SEAT;
        supermaster->speeds.levels[w].count = SPEED_WAIVED;
        supermaster->statistics[w].joined_ns = supermaster->step.now_ns;
    }
    supermaster->losses.heard_ns[m] = supermaster->step.now_ns;
    REASON(supermaster->reasons, "rank %u has joined with %u workers", topology->master_rank[m],
           topology->workers - first);
    if (supermaster->state >= SUPERMASTER_ENDING || supermaster->config.distance > 0)
        send_away(supermaster, m, false);
    else if (supermaster->config.probe)
        await_speeds(supermaster, m, first);
    else {
        assume_speeds(supermaster, first);
        take_up(supermaster, m);
    }
}
