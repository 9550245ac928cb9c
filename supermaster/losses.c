/* SPDX-License-Identifier: MIT */
/* Ranks that die. A worker's master hands its chunks to the other workers of it and tells of it; the workers of a dead
 * master come here, where they are served as in the central topology, and what the master had not reported is free
 * again.
 *
 * In a loop with dependencies boundary data that others need go with a worker, and what is known of whose chunks meet
 * goes with a master. So the loss of one that was given chunks ends the run; its journal has a boundary from which the
 * next run goes on (points.c).
 *
 * `serve_due` is set by whatever may set work free or leave nobody to do it; the standing rules then look, once, at the
 * end of the step. A master that has left, for whatever reason, is not listened to: what it reported would be of
 * iterations that others compute. */
#include "supermaster/core.h"

#include "common/service/poison.h"
#include "common/util/grow.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>

int supermaster_losses_make_room(struct supermaster *supermaster, const struct room *room)
{
    struct losses *losses = &supermaster->losses;
    const size_t before = room->masters.before, now = room->masters.now;
    const bool complete =
        grow_to(&losses->worker, room->workers.before, room->workers.now, sizeof *losses->worker) == 0 &&
        grow_to(&losses->master_left, before, now, sizeof *losses->master_left) == 0 &&
        grow_to(&losses->dismissed, before, now, sizeof *losses->dismissed) == 0 &&
        grow_to(&losses->was_given, before, now, sizeof *losses->was_given) == 0 &&
        grow_to(&losses->heard_ns, before, now, sizeof *losses->heard_ns) == 0;
    return complete ? 0 : -1;
}

void supermaster_losses_fini(struct supermaster *supermaster)
{
    free(supermaster->losses.worker);
    free(supermaster->losses.master_left);
    free(supermaster->losses.dismissed);
    free(supermaster->losses.was_given);
    free(supermaster->losses.heard_ns);
    free(supermaster->losses.list);
}

bool supermaster_is_degraded(const struct supermaster *supermaster)
{
    return supermaster->losses.of_launch > 0 || supermaster->losses.orphans > 0;
}

bool supermaster_is_late(const struct supermaster *supermaster)
{
    return supermaster_is_degraded(supermaster) || supermaster->losses.count > 0 || supermaster->losses.reissued > 0 ||
           supermaster->losses.late;
}

static void supermaster_losses_fail_without_memory(struct supermaster *supermaster)
{
    supermaster_fail(supermaster, supermaster->config.topology->supermaster, "out of memory for what was lost");
}

/* Writes which iterations have lost a worker so often that they are given up. False if there are none. */
static bool find_deadly(const struct supermaster *supermaster, struct error *text)
{
    const struct poison_set *known = &supermaster->service.poisons;
    char what[RANGE_TEXT_MAX];
    size_t i = 0;
    while (i < known->count && known->items[i].deaths < DEPENDENT_DEATHS_MAX)
        i++;
    if (i == known->count)
        return false;
    const struct range range = {known->items[i].first, known->items[i].count};
    supermaster_describe_range(&range, false, what);
    error_set(text,
              "%u workers were lost while they computed %s, and what depends on %s cannot be computed; --overwrite "
              "begins anew",
              known->items[i].deaths, what, range.count == 1 ? "it" : "them");
    return true;
}

/* Ends a loop with dependencies that has lost a rank: nobody else has the boundary data that others need of it. */
static void end_loop(struct supermaster *supermaster, unsigned rank)
{
    const struct topology *topology = supermaster->config.topology;
    const unsigned w = topology_worker(topology, rank);
    struct error text;
    if (!find_deadly(supermaster, &text)) {
        const char *later = supermaster->config.journal ? "; its last recovery point is kept"
                                                        : ", and without a journal nothing is left of it";
        supermaster->losses.failed_by = LOSS_OF_BOUNDARIES;
        if (topology_master(topology, rank) < topology->masters)
            error_set(&text, "master rank %u was lost, without which the loop cannot go on: the run ends%s", rank,
                      later);
        else
            error_set(&text,
                      "worker rank %u on node %u was lost, and with it boundary data that others need: the run ends%s",
                      rank, topology->worker_node[w], later);
    }
    supermaster_fail(supermaster, topology->supermaster, text.text);
}

/* True if the loss ends the run: the rank was given chunks, or the master of the rank was. In a set a rank may have
 * been lost before the job began. */
static bool is_fatal(const struct supermaster *supermaster, unsigned rank)
{
    const struct topology *topology = supermaster->config.topology;
    const unsigned w = topology_worker(topology, rank);
    unsigned m = topology_master(topology, rank);
    if (supermaster->config.distance == 0 || supermaster->state != SUPERMASTER_SERVING)
        return false;
    if (m == topology->masters && supermaster->service.workers[w].present)
        return supermaster->service.workers[w].chunks_assigned > 0;
    m = m < topology->masters ? m : topology->master_of[w];
    assert(m < topology->masters && "a worker that is absent has a master");
    return supermaster->losses.was_given[m];
}

static void supermaster_losses_note(struct supermaster *supermaster, unsigned rank, uint64_t chunks, bool is_late)
{
    struct losses *losses = &supermaster->losses;
    struct trace_sink *trace = supermaster->service.trace;
    losses->of_launch += !topology_has_joined(supermaster->config.topology, rank);
    if (trace != NULL) {
        *trace_next(trace) =
            (struct trace_record){.at_ns = supermaster->now_ns, .worker = rank, .kind = CHUNK_RANK_LOST};
        trace_note(trace);
    }
    if (is_fatal(supermaster, rank)) {
        end_loop(supermaster, rank);
        return;
    }
    struct supermaster_loss *list = grow(losses->list, losses->count, &losses->capacity, sizeof *list);
    if (list == NULL) {
        supermaster_losses_fail_without_memory(supermaster);
        return;
    }
    losses->list = list;
    losses->list[losses->count++] = (struct supermaster_loss){rank, chunks, is_late};
}

/* --- workers --- */

/* Notes that nobody expects anything of a worker from now on. */
static void strike_worker(struct supermaster *supermaster, unsigned w, bool is_late)
{
    struct losses *losses = &supermaster->losses;
    losses->orphans -= losses->worker[w] == WORKER_IS_ORPHAN;
    losses->worker[w] = WORKER_IS_LOST;
    supermaster->statistics[w].left_ns = supermaster->now_ns;
    losses->workers_lost++;
    losses->workers_late += is_late;
    assert(losses->workers_lost <= supermaster->config.topology->workers && "a worker is lost once");
    supermaster_recheck(supermaster);
    supermaster_waive_speed(supermaster, w);
}

/* Notes that a worker is lost. */
static void note_worker(struct supermaster *supermaster, unsigned w, uint64_t chunks)
{
    struct losses *losses = &supermaster->losses;
    /* nothing was heard of an orphan since its master was lost */
    bool is_late = supermaster->state >= SUPERMASTER_ENDING && ledger_is_complete(&supermaster->ledger) &&
                   !supermaster->config.is_patient && losses->worker[w] != WORKER_IS_ORPHAN;
    if (losses->worker[w] == WORKER_IS_LOST)
        return;
    strike_worker(supermaster, w, is_late);
    /* chunks of the last worker go to nobody */
    supermaster_losses_note(supermaster, supermaster->config.topology->worker_rank[w],
                            supermaster_has_no_worker(supermaster) ? 0 : chunks, is_late);
}

/* Takes a worker for lost. At the end a worker of a master, or an orphan, that has ended has just left. */
static void lose_worker(struct supermaster *supermaster, unsigned w)
{
    struct losses *losses = &supermaster->losses;
    bool ending = supermaster->state >= SUPERMASTER_ENDING;
    if (supermaster->service.workers[w].present) {
        service_lost(&supermaster->service, w, supermaster->now_ns);
    } else if (losses->worker[w] == WORKER_IS_ORPHAN) {
        if (!ending)
            note_worker(supermaster, w, 0);
        else {
            losses->worker[w] = WORKER_IS_DEAD;
            losses->orphans--;
        }
    } else if (losses->worker[w] == WORKER_IS_ALIVE && !ending) {
        losses->worker[w] = WORKER_IS_DEAD;
    }
}

void supermaster_receive_worker_lost(struct supermaster *supermaster, unsigned m, const struct worker_lost *lost)
{
    const struct topology *topology = supermaster->config.topology;
    unsigned w = topology_worker(topology, lost->rank);
    if (w == topology->workers || topology->master_of[w] != m)
        supermaster_refuse(supermaster, "told of the loss of a rank that it does not serve");
    else {
        const struct poison more = {.first = lost->first, .count = lost->count, .deaths = lost->count > 0};
        service_poison(&supermaster->service, &more);
        supermaster_note_deaths(supermaster, &more, false);
        note_worker(supermaster, w, lost->chunks);
    }
}

/* --- masters --- */

/* Frees the unreported work of a lost master. */
static void supermaster_losses_release(struct supermaster *supermaster, unsigned m)
{
    const struct topology *topology = supermaster->config.topology;
    struct ledger *ledger = &supermaster->ledger;
    uint64_t released, chunks = ranges_length(&ledger->granted[m]);
    if (ledger_release(ledger, m, &released) < 0)
        supermaster_losses_fail_without_memory(supermaster);
    if (supermaster->sched_ready)
        sched_give_back(&supermaster->sched, released);
    if (supermaster->state < SUPERMASTER_ENDING && !(m >= topology->launched && supermaster->losses.dismissed[m]))
        supermaster->losses.reissued += chunks;
}

void supermaster_master_left(struct supermaster *supermaster, unsigned m)
{
    assert(!supermaster->losses.master_left[m] && "a master leaves once");
    supermaster->losses.master_left[m] = true;
    supermaster->losses.masters_left++;
    supermaster_recheck(supermaster);
    supermaster->busy[m] = 0;
    supermaster->refills_parked[m] = 0;
    supermaster_forget_recall(supermaster, m);
    supermaster_forget_joining(supermaster, m);
    supermaster_losses_release(supermaster, m);
}

static void supermaster_losses_lose_master(struct supermaster *supermaster, unsigned m)
{
    const struct topology *topology = supermaster->config.topology;
    struct losses *losses = &supermaster->losses;
    if (losses->master_left[m])
        return;
    supermaster_master_left(supermaster, m);
    losses->masters_lost++;
    losses->orphans_due_ns = supermaster->now_ns + LEAVE_NS;
    supermaster_losses_note(supermaster, topology->master_rank[m], 0, false);
    for (unsigned i = 0; i < topology_count(topology, m); i++) {
        unsigned w = topology->served[topology_first(topology, m) + i];
        if (topology->worker_rank[w] == topology->master_rank[m]) { /* the same process: one loss is told */
            if (losses->worker[w] != WORKER_IS_LOST)
                strike_worker(supermaster, w, false);
            continue;
        }
        if (losses->worker[w] == WORKER_IS_DEAD)
            note_worker(supermaster, w, 0);
        if (losses->worker[w] != WORKER_IS_ALIVE)
            continue;
        if (topology_is_in_pod(topology, w)) {
            note_worker(supermaster, w, 0);
            continue;
        }
        losses->worker[w] = WORKER_IS_ORPHAN;
        losses->orphans++;
    }
    if (m >= topology->launched)
        supermaster_note_pod_left(supermaster);
}

void supermaster_receive_loss(struct supermaster *supermaster, unsigned rank)
{
    const struct topology *topology = supermaster->config.topology;
    unsigned m = topology_master(topology, rank), w = topology_worker(topology, rank);
    if (m < topology->masters)
        supermaster_losses_lose_master(supermaster, m);
    else if (w < topology->workers)
        lose_worker(supermaster, w);
}

/* --- orphans --- */

/* True if the results of the chunk that the orphan computes count: no other worker has any of it. */
static bool claim_running(struct supermaster *supermaster, const struct range *running)
{
    int claimed = supermaster->sched_ready ? ledger_claim(&supermaster->ledger, supermaster->config.topology->masters,
                                                          running->first, running->count)
                                           : 0;
    if (claimed < 0)
        supermaster_losses_fail_without_memory(supermaster);
    if (claimed > 0)
        sched_claim(&supermaster->sched, running->count);
    return claimed > 0;
}

void supermaster_receive_adopt(struct supermaster *supermaster, unsigned w, const struct adopt *adopt)
{
    const struct topology *topology = supermaster->config.topology;
    const struct range running = {adopt->first, adopt->count};
    struct losses *losses = &supermaster->losses;
    if (is_central(supermaster) || supermaster->service.workers[w].present || topology_is_in_pod(topology, w)) {
        supermaster_refuse(supermaster, "looks for a new master, which it does not need");
        return;
    }
    if (supermaster->config.distance > 0 && adopt->count > 0) {
        supermaster_refuse(supermaster, "goes on with a chunk that depends on others");
        return;
    }
    supermaster_losses_lose_master(supermaster, topology->master_of[w]); /* the worker may know first */
    if (losses->worker[w] == WORKER_IS_LOST)
        return;
    losses->orphans -= losses->worker[w] == WORKER_IS_ORPHAN;
    losses->worker[w] = WORKER_IS_ALIVE;
    supermaster_recheck(supermaster);
    supermaster_waive_speed(supermaster, w);
    service_adopt(&supermaster->service, w, &running, claim_running(supermaster, &running), supermaster->now_ns,
                  supermaster->actions);
    supermaster_note_adopted(supermaster, w);
    if (supermaster->state < SUPERMASTER_ENDING)
        return;
    losses->orphans_due_ns = supermaster->now_ns + supermaster_orphans_wait_ns(supermaster);
    const bool drains = !ledger_is_complete(&supermaster->ledger);
    const struct end end = {.drain = drains, .degraded = true, .now = drains && supermaster->ends_now};
    actions_send(supermaster->actions, topology->worker_rank[w], &(struct message){.type = MESSAGE_END, .end = end});
}

void supermaster_expire_orphans(struct supermaster *supermaster)
{
    struct losses *losses = &supermaster->losses;
    if (supermaster->state < SUPERMASTER_ENDING || losses->orphans == 0 || losses->orphans_due_ns > supermaster->now_ns)
        return;
    for (unsigned w = 0; w < supermaster->config.topology->workers; w++)
        if (losses->worker[w] == WORKER_IS_ORPHAN)
            note_worker(supermaster, w, 0);
}

/* --- the standing rules --- */

void supermaster_take_own_counts(struct supermaster *supermaster)
{
    const struct recovery_counts counts = service_take_counts(&supermaster->service);
    supermaster->losses.reissued += counts.reissued;
    supermaster->losses.duplicates += counts.duplicates;
    supermaster_count_recalls(supermaster, &counts);
}

/* In the central topology the service hands out again what was requeued. Else most workers are with masters, and it is
 * free for all. */
static void supermaster_losses_take_news(struct supermaster *supermaster, unsigned news)
{
    const unsigned masters = supermaster->config.topology->masters;
    struct service *service = &supermaster->service;
    struct range range;
    unsigned count;
    supermaster->losses.serve_due |= (news & SERVICE_RETURNED) != 0;
    while (news & SERVICE_RETURNED && !is_central(supermaster) && service_take_away(service, &range)) {
        if (ledger_return(&supermaster->ledger, masters, range.first, range.count) < 0)
            supermaster_losses_fail_without_memory(supermaster);
        else
            sched_give_back(&supermaster->sched, range.count);
    }
    if (service->out_of_memory)
        supermaster_losses_fail_without_memory(supermaster);
    for (const struct loss *loss; (loss = service_take_loss(service)) != NULL;) {
        const struct poison more = {.first = loss->running.first, .count = loss->running.count, .deaths = 1};
        supermaster_note_deaths(supermaster, &more, false);
        note_worker(supermaster, loss->worker, loss->chunks);
    }
    supermaster_take_own_counts(supermaster);
    if (news & SERVICE_DIFFERED)
        supermaster_take_own_mismatches(supermaster);
    const unsigned char *records = service_take_given_up(service, UINT_MAX, &count);
    if (count > 0)
        supermaster_receive_iterations_given_up(supermaster, records, count);
}

/* True where no worker is left that could do the rest, and all that was done is known. */
static bool nobody_is_left(const struct supermaster *supermaster)
{
    const struct topology *topology = supermaster->config.topology;
    if (!supermaster_has_no_worker(supermaster) || supermaster->service.parts_on_way > 0)
        return false;
    for (unsigned m = 0; m < topology->masters; m++)
        if (!supermaster->losses.master_left[m] && topology_count(topology, m) > 0)
            return false;
    return true;
}

/* Serves the master's parked refills, all in one step: their records need room beside one another, unless a sink takes
 * each at once. */
void supermaster_serve_parked(struct supermaster *supermaster, unsigned m)
{
    size_t most = (size_t)supermaster->refills_parked[m] * supermaster_refill_size(supermaster, m) + 1;
    if (supermaster->actions->sink == NULL) {
        unsigned char *grown = realloc(supermaster->refill_records[m], most * CHUNK_RECORD_BYTES);
        if (grown == NULL) {
            supermaster_losses_fail_without_memory(supermaster);
            return;
        }
        supermaster->refill_records[m] = grown;
    }
    for (unsigned place = 0, chunks; supermaster->refills_parked[m] > 0; place += chunks)
        if ((chunks = supermaster_serve_refill(supermaster, m, place)) == 0)
            break;
}

static void fail_without_workers(struct supermaster *supermaster)
{
    const bool probed = supermaster->config.probe && supermaster->state == SUPERMASTER_GATHERING;
    const bool counted = supermaster_note_probe_deaths(supermaster);
    const bool all_left = supermaster->losses.workers_left > 0 && supermaster->losses.workers_lost == 0;
    supermaster->losses.failed_by = LOSS_OF_ALL;
    supermaster_fail(supermaster, supermaster->config.topology->supermaster,
                     counted ? "all workers are lost before the loop has begun: where the kernel ends them, "
                               "--isolate on keeps them; --resume goes on without a probe"
                     : all_left && supermaster->config.journal ? "all pods have left: --resume goes on with the rest"
                     : all_left                                ? "all pods have left"
                     : probed ? "all workers are lost before the loop has begun: where the kernel ends them, "
                                "--isolate on keeps them, and --power equal leaves the probe out"
                     : supermaster->config.journal ? "all workers are lost: --resume goes on with the rest"
                                                   : "all workers are lost");
}

bool supermaster_may_somebody_come(const struct supermaster *supermaster)
{
    const struct supermaster_config *config = &supermaster->config;
    const unsigned joined = config->topology->masters - config->topology->launched;
    return config->is_elastic && (config->awaited == 0 || joined < config->awaited);
}

void supermaster_handle_losses(struct supermaster *supermaster, unsigned news)
{
    supermaster->losses.look_again = false;
    supermaster_losses_take_news(supermaster, news);
    supermaster_take_back_if_alone(supermaster);
    if (!supermaster->losses.serve_due)
        return;
    supermaster->losses.serve_due = false;
    if (ledger_is_complete(&supermaster->ledger) || supermaster->state >= SUPERMASTER_ENDING)
        return;
    if (nobody_is_left(supermaster)) {
        if (!supermaster_may_somebody_come(supermaster))
            fail_without_workers(supermaster);
        return;
    }
    if (supermaster->state != SUPERMASTER_SERVING)
        return;
    for (unsigned m = 0; m < supermaster->config.topology->masters; m++)
        if (supermaster->refills_parked[m] > 0)
            supermaster_serve_parked(supermaster, m);
    service_serve(&supermaster->service, supermaster->now_ns, supermaster->actions);
}

/* --- for people --- */

bool supermaster_is_deserted(const struct supermaster *supermaster)
{
    return supermaster->losses.failed_by == LOSS_OF_ALL;
}

bool supermaster_is_interrupted(const struct supermaster *supermaster)
{
    return supermaster->losses.failed_by == LOSS_OF_BOUNDARIES && supermaster->config.journal;
}

unsigned supermaster_loss_count(const struct supermaster *supermaster)
{
    return supermaster->losses.count;
}

void supermaster_loss_text(const struct supermaster *supermaster, unsigned i, struct error *text)
{
    const struct topology *topology = supermaster->config.topology;
    const struct supermaster_loss *loss = &supermaster->losses.list[i];
    unsigned w = topology_worker(topology, loss->rank);
    unsigned long long chunks = loss->chunks;
    if (topology->masters > 0 && topology_does_both(topology, loss->rank))
        error_set(text, "master rank %u, which computed as well, was lost; its workers go on with the supermaster",
                  loss->rank);
    else if (w == topology->workers && topology_has_joined(topology, loss->rank))
        error_set(text, "master rank %u was lost with its workers; others go on with their work", loss->rank);
    else if (w == topology->workers)
        error_set(text, "master rank %u was lost; its workers go on with the supermaster", loss->rank);
    else if (loss->is_late)
        error_set(text, "worker rank %u on node %u had not left when all was done, and is not waited for", loss->rank,
                  topology->worker_node[w]);
    else if (chunks == 0)
        error_set(text, "worker rank %u on node %u was lost", loss->rank, topology->worker_node[w]);
    else
        error_set(text, "worker rank %u on node %u was lost; its %llu %s to others", loss->rank,
                  topology->worker_node[w], chunks, chunks == 1 ? "chunk goes" : "chunks go");
}
