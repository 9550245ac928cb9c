/* SPDX-License-Identifier: MIT */
/* Two subjects: nodes that are put aside because tasks fail there, and ranks that die. */
#include "supermaster/core.h"

#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/metrics/report.h"
#include "common/service/poison.h"
#include "common/service/service.h"
#include "common/util/error.h"
#include "common/util/grow.h"
#include "supermaster/supermaster.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

/* A node is put aside if one task after another fails on it while tasks succeed on other nodes. Such a node may finish
 * tasks faster than any other node, and would then get most of the list.
 *
 * A node is blamed if --node-failures of its tasks have failed without a success in between, while tasks on other nodes
 * worked. The failed tasks are compared with recent tasks of other nodes. Only tasks whose numbers lie between the
 * lowest and the highest failed task are compared. Of these, at least --node-failures and at least nine tenths must
 * have worked. So if a stretch of tasks fails on all nodes, no node is blamed. A node is not blamed either if its
 * failed tasks may be every n-th task of the list for a small n: if nodes take turns, one node may get all of these
 * tasks.
 *
 * If a worker of the supermaster's own service is put aside, its work that has not begun is recalled. A master of a
 * node that is put aside gets no more refills. The master hands out the work that it has, or that work is recalled for
 * idle workers. If a master serves workers of several nodes, this is not possible, so these nodes are not judged.
 *
 * Failed tasks stay failed. If all workers on other nodes are lost, the nodes that were put aside get work again. */

#define NO_NODE UINT_MAX

/* If every n-th task fails, no node is blamed. This is recognised for n up to PERIOD_MAX. PERIOD_MAX must be at most
 * 64, because a set of remainders is a word of 64 bits. */
#define PERIOD_MAX 16

static void find_nodes_of_masters(struct supermaster *supermaster)
{
    const struct topology *topology = supermaster->config.topology;
    struct nodes *nodes = &supermaster->nodes;
    for (unsigned m = 0; m < topology->masters; m++) {
        const unsigned *served = &topology->served[topology_first(topology, m)];
        const unsigned count = topology_count(topology, m);
        unsigned node = count > 0 ? topology->worker_node[served[0]] : NO_NODE;
        for (unsigned i = 1; i < count; i++)
            node = topology->worker_node[served[i]] == node ? node : NO_NODE;
        nodes->master_node[m] = node;
        for (unsigned i = 0; i < count; i++)
            nodes->list[topology->worker_node[served[i]]].is_mixed |= node == NO_NODE;
    }
}

static bool judges(const struct supermaster *supermaster, unsigned nodes)
{
    return supermaster->config.are_tasks && supermaster->config.spec->node_failures > 0 && nodes > 1 &&
           supermaster->config.distance == 0;
}

int supermaster_nodes_make_room(struct supermaster *supermaster, const struct room *room)
{
    struct nodes *nodes = &supermaster->nodes;
    const bool is_first = nodes->list == NULL;
    const size_t before = is_first ? 0 : room->masters.before, now = room->masters.now;
    const size_t few = is_first ? 0 : room->nodes.before, count = room->nodes.now;
    if (!judges(supermaster, room->nodes.now))
        return 0;
    if (nodes->recent == NULL)
        nodes->recent = calloc(OUTCOMES_KEPT, sizeof *nodes->recent);
    if (nodes->recent == NULL || grow_to(&nodes->events, 2 * few, 2 * count, sizeof *nodes->events) < 0 ||
        grow_to(&nodes->master_node, before, now, sizeof *nodes->master_node) < 0 ||
        grow_to(&nodes->refills_kept, before, now, sizeof *nodes->refills_kept) < 0 ||
        grow_to(&nodes->list, few, count, sizeof *nodes->list) < 0)
        return -1;
    if (is_first)
        find_nodes_of_masters(supermaster);
    return 0;
}

int supermaster_nodes_init(struct supermaster *supermaster)
{
    const struct topology *topology = supermaster->config.topology;
    const struct room room = {{0, topology->masters}, {0, topology->workers}, {0, topology->nodes}};
    return supermaster_nodes_make_room(supermaster, &room);
}

void supermaster_nodes_add(struct supermaster *supermaster)
{
    const struct topology *topology = supermaster->config.topology;
    if (supermaster_judges_nodes(supermaster))
        supermaster->nodes.master_node[topology->masters - 1] = topology->worker_node[topology->workers - 1];
}

void supermaster_nodes_fini(struct supermaster *supermaster)
{
    free(supermaster->nodes.list);
    free(supermaster->nodes.recent);
    free(supermaster->nodes.master_node);
    free(supermaster->nodes.refills_kept);
    free(supermaster->nodes.events);
}

static void look_beside(const struct nodes *nodes, unsigned node, struct report_aside *found)
{
    const struct judged_node *failing = &nodes->list[node];
    const uint64_t kept = nodes->recent_count < OUTCOMES_KEPT ? nodes->recent_count : OUTCOMES_KEPT;
    for (uint64_t i = 0; i < kept; i++) {
        const struct task_outcome *other = &nodes->recent[i];
        if (other->node == node || other->task < failing->first || other->task > failing->last)
            continue;
        found->beside++;
        found->worked += !other->failed;
    }
}

/* Returns true if the node's failed tasks may be periodic. This is so if there is a period for which no failed task has
 * the same remainder as a task that worked on another node. */
static bool may_be_periodic(const struct nodes *nodes, unsigned node)
{
    const struct judged_node *failing = &nodes->list[node];
    const uint64_t kept = nodes->recent_count < OUTCOMES_KEPT ? nodes->recent_count : OUTCOMES_KEPT;
    const uint64_t latest = failing->failed < STREAK_KEPT ? failing->failed : STREAK_KEPT;
    for (unsigned period = 2; period <= PERIOD_MAX; period++) {
        uint64_t failed = 0, worked = 0;
        for (uint64_t i = 0; i < latest; i++)
            failed |= UINT64_C(1) << failing->latest[i] % period;
        for (uint64_t i = 0; i < kept; i++) {
            const struct task_outcome *other = &nodes->recent[i];
            if (other->node != node && !other->failed && other->task >= failing->first && other->task <= failing->last)
                worked |= UINT64_C(1) << other->task % period;
        }
        if ((failed & worked) == 0)
            return true;
    }
    return false;
}

static void remember(struct nodes *nodes, uint64_t task, unsigned node, bool failed)
{
    nodes->recent[nodes->recent_count++ % OUTCOMES_KEPT] = (struct task_outcome){task, node, failed};
}

static void note_failed(struct judged_node *node, uint64_t task)
{
    if (node->failed == 0)
        node->first = node->last = task;
    node->first = task < node->first ? task : node->first;
    node->last = task > node->last ? task : node->last;
    node->latest[node->failed++ % STREAK_KEPT] = task;
}

/* Records the outcomes of tasks. After a node has enough failures, its further failures are not added to the recent
 * outcomes, because they would displace the tasks of other nodes. */
static void note_outcome(struct supermaster *supermaster, unsigned n, const struct done_record *done)
{
    struct nodes *nodes = &supermaster->nodes;
    struct judged_node *node = &nodes->list[n];
    const unsigned limit = supermaster->config.spec->node_failures;
    if (node->is_aside)
        return;
    for (uint64_t task = done->first; task < done->first + done->count; task++) {
        if (!done->has_failed || node->failed < limit)
            remember(nodes, task, n, done->has_failed);
        if (done->has_failed)
            note_failed(node, task);
        else
            node->failed = 0;
    }
    if (node->failed >= limit && !node->is_mixed) {
        nodes->suspect = n;
        nodes->has_suspect = true;
    }
}

void supermaster_note_outcome(struct supermaster *supermaster, unsigned w, const struct done_record *done)
{
    note_outcome(supermaster, supermaster->config.topology->worker_node[w], done);
}

void supermaster_note_outcome_of_master(struct supermaster *supermaster, unsigned m, const struct done_record *done)
{
    if (supermaster->nodes.master_node[m] != NO_NODE)
        note_outcome(supermaster, supermaster->nodes.master_node[m], done);
}

void supermaster_note_failed_try(struct supermaster *supermaster, const struct iterations_failed *failure)
{
    const unsigned w = topology_worker(supermaster->config.topology, failure->id);
    if (supermaster_judges_nodes(supermaster) && w < supermaster->config.topology->workers)
        supermaster_note_outcome(supermaster, w, &(struct done_record){failure->first, failure->count, 0, true});
}

static bool has_workers_beside(const struct supermaster *supermaster, unsigned node)
{
    const struct topology *topology = supermaster->config.topology;
    for (unsigned w = 0; w < topology->workers; w++) {
        const unsigned status = supermaster->losses.worker[w], other = topology->worker_node[w];
        if (other != node && !supermaster->nodes.list[other].is_aside &&
            (status == WORKER_IS_ALIVE || status == WORKER_IS_ORPHAN))
            return true;
    }
    return false;
}

static void put_node_aside(struct supermaster *supermaster, unsigned node)
{
    const struct topology *topology = supermaster->config.topology;
    struct nodes *nodes = &supermaster->nodes;
    nodes->list[node].is_aside = true;
    nodes->aside++;
    for (unsigned w = 0; w < topology->workers; w++)
        if (topology->worker_node[w] == node)
            service_put_aside(&supermaster->service, w, supermaster->step.now_ns, supermaster->step.actions);
    for (unsigned m = 0; m < topology->masters; m++) {
        if (nodes->master_node[m] != node || supermaster->losses.master[m] != MASTER_SERVES)
            continue;
        nodes->refills_kept[m] = supermaster->refilling.parked[m];
        supermaster->refilling.parked[m] = 0;
        supermaster_recall_no_more(supermaster, m);
    }
}

void supermaster_look_at_suspect(struct supermaster *supermaster)
{
    struct nodes *nodes = &supermaster->nodes;
    struct report_aside found = {.node = nodes->suspect};
    nodes->has_suspect = false;
    found.failed = nodes->list[found.node].failed;
    look_beside(nodes, found.node, &found);
    if (supermaster->state != SUPERMASTER_SERVING || ledger_is_complete(&supermaster->ledger) ||
        found.worked < supermaster->config.spec->node_failures || (found.beside - found.worked) * 10 > found.beside ||
        may_be_periodic(nodes, found.node) || !has_workers_beside(supermaster, found.node))
        return;
    REASON(supermaster->reasons, "node %u is put aside: %" PRIu64 " tasks failed there, and %u of %u worked elsewhere",
           found.node, found.failed, found.worked, found.beside);
    nodes->events[nodes->event_count++] = found;
    put_node_aside(supermaster, found.node);
}

void supermaster_keep_refill(struct supermaster *supermaster, unsigned m)
{
    supermaster->nodes.refills_kept[m]++;
}

static void supermaster_note_adopted(struct supermaster *supermaster, unsigned w)
{
    const struct nodes *nodes = &supermaster->nodes;
    if (nodes->aside > 0 && nodes->list[supermaster->config.topology->worker_node[w]].is_aside)
        service_put_aside(&supermaster->service, w, supermaster->step.now_ns, supermaster->step.actions);
}

static void take_node_back(struct supermaster *supermaster, unsigned node)
{
    const struct topology *topology = supermaster->config.topology;
    struct nodes *nodes = &supermaster->nodes;
    nodes->list[node].is_aside = false;
    /* no other node remains for a comparison with this node, so this node is not judged again */
    nodes->list[node].is_mixed = true;
    nodes->aside--;
    nodes->events[nodes->event_count++] = (struct report_aside){.node = node, .is_back = true};
    for (unsigned w = 0; w < topology->workers; w++)
        if (topology->worker_node[w] == node && supermaster->service.workers[w].present)
            service_take_back(&supermaster->service, w);
    for (unsigned m = 0; m < topology->masters; m++)
        if (nodes->master_node[m] == node && supermaster->losses.master[m] == MASTER_SERVES) {
            supermaster->refilling.parked[m] += nodes->refills_kept[m];
            nodes->refills_kept[m] = 0;
        }
}

static void supermaster_take_back_if_alone(struct supermaster *supermaster)
{
    struct nodes *nodes = &supermaster->nodes;
    if (nodes->aside == 0 || supermaster->state != SUPERMASTER_SERVING || has_workers_beside(supermaster, NO_NODE))
        return;
    for (unsigned node = 0; node < supermaster->config.topology->nodes; node++)
        if (nodes->list[node].is_aside)
            take_node_back(supermaster, node);
}

unsigned supermaster_aside_count(const struct supermaster *supermaster)
{
    return supermaster->nodes.event_count;
}

void supermaster_aside_text(const struct supermaster *supermaster, unsigned i, struct error *text)
{
    const struct report_aside *event = &supermaster->nodes.events[i];
    if (event->is_back)
        error_set(text, "node %u gets tasks again: all workers of other nodes are lost", event->node);
    else
        error_set(text,
                  "node %u is put aside: the last %" PRIu64
                  " tasks failed there, while %u of %u beside them worked on other nodes; it gets no more%s "
                  "(--node-failures off keeps it)",
                  event->node, event->failed, event->worked, event->beside,
                  supermaster->config.journal ? ", and --resume failed tries the failed ones again" : "");
}

void supermaster_check_nodes(const struct supermaster *supermaster)
{
    const struct topology *topology = supermaster->config.topology;
    const struct nodes *nodes = &supermaster->nodes;
    unsigned aside = 0;
    for (unsigned n = 0; nodes->list != NULL && n < topology->nodes; n++)
        aside += nodes->list[n].is_aside;
    assert(aside == nodes->aside && "as many nodes are put aside as are counted");
    for (unsigned w = 0; w < topology->workers; w++) {
        const struct served *worker = &supermaster->service.workers[w];
        if (worker->present && !worker->gone && supermaster->state == SUPERMASTER_SERVING)
            assert(worker->is_aside == (aside > 0 && nodes->list[topology->worker_node[w]].is_aside) &&
                   "a worker is put aside with its node");
    }
    for (unsigned m = 0; aside > 0 && m < topology->masters; m++)
        if (nodes->master_node[m] != NO_NODE && nodes->list[nodes->master_node[m]].is_aside)
            assert(supermaster->refilling.parked[m] == 0 && "a master that is put aside waits for nothing");
    if (aside > 0 && supermaster->state == SUPERMASTER_SERVING)
        assert(has_workers_beside(supermaster, NO_NODE) && "the last node is not put aside");
}

/* Ranks that die. A master hands the chunks of a lost worker to its other workers, and reports the loss. If a master
 * dies, its workers contact the supermaster, which then serves them as in the central topology. The iterations that the
 * dead master had not reported are free again.
 *
 * In a loop with dependencies a worker has boundary data that others need, and a master knows which of its chunks are
 * adjacent. So if a rank that was given chunks is lost, the run ends. It can be resumed from its recovery point
 * (dependencies.c).
 *
 * `serve_due` is set by all events that may free work, and by all events after which possibly no worker remains. The
 * standing rules then handle both cases once, at the end of the step. Messages of a master that has left are ignored,
 * because other ranks may already compute the iterations in them. */

int supermaster_losses_make_room(struct supermaster *supermaster, const struct room *room)
{
    struct losses *losses = &supermaster->losses;
    const size_t before = room->masters.before, now = room->masters.now;
    const bool complete =
        grow_to(&losses->worker, room->workers.before, room->workers.now, sizeof *losses->worker) == 0 &&
        grow_to(&losses->master, before, now, sizeof *losses->master) == 0 &&
        grow_to(&losses->dismissed, before, now, sizeof *losses->dismissed) == 0 &&
        grow_to(&losses->was_given, before, now, sizeof *losses->was_given) == 0 &&
        grow_to(&losses->heard_ns, before, now, sizeof *losses->heard_ns) == 0;
    return complete ? 0 : -1;
}

void supermaster_losses_fini(struct supermaster *supermaster)
{
    free(supermaster->losses.worker);
    free(supermaster->losses.master);
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

/* Returns true if the loss ends the run. This is so if the rank, or its master, was given chunks. In a set a rank may
 * have been lost before the job began. Such a loss is harmless. */
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

static void note_loss(struct supermaster *supermaster, unsigned rank, uint64_t chunks, bool is_late)
{
    struct losses *losses = &supermaster->losses;
    struct trace_sink *trace = supermaster->service.trace;
    losses->of_launch += !topology_has_joined(supermaster->config.topology, rank);
    if (trace != NULL) {
        *trace_next(trace) =
            (struct trace_record){.at_ns = supermaster->step.now_ns, .worker = rank, .kind = CHUNK_RANK_LOST};
        trace_note(trace);
    }
    if (is_fatal(supermaster, rank)) {
        end_loop(supermaster, rank);
        return;
    }
    struct supermaster_loss *list = grow(losses->list, losses->count, &losses->capacity, sizeof *list);
    if (list == NULL) {
        supermaster_fail_for_memory(supermaster, "what was lost");
        return;
    }
    losses->list = list;
    losses->list[losses->count++] = (struct supermaster_loss){rank, chunks, is_late};
}

static void strike_worker(struct supermaster *supermaster, unsigned w, bool is_late)
{
    struct losses *losses = &supermaster->losses;
    losses->orphans -= losses->worker[w] == WORKER_IS_ORPHAN;
    losses->worker[w] = WORKER_IS_LOST;
    supermaster->statistics[w].left_ns = supermaster->step.now_ns;
    losses->workers_lost++;
    losses->workers_late += is_late;
    assert(losses->workers_lost <= supermaster->config.topology->workers && "a worker is lost once");
    supermaster_recheck(supermaster);
    supermaster_waive_speed(supermaster, w);
}

static void note_worker(struct supermaster *supermaster, unsigned w, uint64_t chunks)
{
    struct losses *losses = &supermaster->losses;
    /* An orphan counts as lost, not as late: since the loss of its master the supermaster has heard nothing from it. */
    bool is_late = supermaster->state >= SUPERMASTER_ENDING && ledger_is_complete(&supermaster->ledger) &&
                   !supermaster->config.is_patient && losses->worker[w] != WORKER_IS_ORPHAN;
    if (losses->worker[w] == WORKER_IS_LOST)
        return;
    strike_worker(supermaster, w, is_late);
    note_loss(supermaster, supermaster->config.topology->worker_rank[w],
              supermaster_has_no_worker(supermaster) ? 0 : chunks, is_late);
}

/* A worker of a master, or an orphan, may end while the run is ending. The worker then counts as having left, not as
 * lost. */
static void lose_worker(struct supermaster *supermaster, unsigned w)
{
    struct losses *losses = &supermaster->losses;
    bool ending = supermaster->state >= SUPERMASTER_ENDING;
    if (supermaster->service.workers[w].present) {
        service_lost(&supermaster->service, w, supermaster->step.now_ns);
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

static void release_master(struct supermaster *supermaster, unsigned m)
{
    const struct topology *topology = supermaster->config.topology;
    struct ledger *ledger = &supermaster->ledger;
    uint64_t released, chunks = ranges_length(&ledger->granted[m]);
    if (ledger_release(ledger, m, &released) < 0)
        supermaster_fail_for_memory(supermaster, "what was lost");
    if (supermaster->technique.is_ready)
        sched_give_back(&supermaster->technique.sched, released);
    if (supermaster->state < SUPERMASTER_ENDING && !(m >= topology->launched && supermaster->losses.dismissed[m]))
        supermaster->losses.reissued += chunks;
}

void supermaster_master_left(struct supermaster *supermaster, unsigned m)
{
    assert(supermaster->losses.master[m] == MASTER_SERVES && "a master leaves once");
    supermaster->losses.master[m] = MASTER_HAS_LEFT;
    supermaster->losses.masters_left++;
    supermaster_recheck(supermaster);
    supermaster->refilling.busy[m] = 0;
    supermaster->refilling.parked[m] = 0;
    supermaster_forget_recall(supermaster, m);
    supermaster_forget_joining(supermaster, m);
    release_master(supermaster, m);
}

static void lose_master(struct supermaster *supermaster, unsigned m)
{
    const struct topology *topology = supermaster->config.topology;
    struct losses *losses = &supermaster->losses;
    if (losses->master[m] != MASTER_SERVES)
        return;
    supermaster_master_left(supermaster, m);
    losses->master[m] = MASTER_IS_LOST;
    losses->masters_lost++;
    losses->orphans_due_ns = supermaster->step.now_ns + LEAVE_NS;
    note_loss(supermaster, topology->master_rank[m], 0, false);
    for (unsigned i = 0; i < topology_count(topology, m); i++) {
        unsigned w = topology->served[topology_first(topology, m) + i];
        /* If the master and this worker are one process, note_loss() above has already counted the loss of this
         * process. */
        if (topology->worker_rank[w] == topology->master_rank[m]) {
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
        lose_master(supermaster, m);
    else if (w < topology->workers)
        lose_worker(supermaster, w);
}

static bool claim_running(struct supermaster *supermaster, const struct range *running)
{
    int claimed =
        supermaster->technique.is_ready
            ? ledger_claim(&supermaster->ledger, supermaster->config.topology->masters, running->first, running->count)
            : 0;
    if (claimed < 0)
        supermaster_fail_for_memory(supermaster, "what was lost");
    if (claimed > 0)
        sched_claim(&supermaster->technique.sched, running->count);
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
    /* the worker may notice the loss of its master before the supermaster does */
    lose_master(supermaster, topology->master_of[w]);
    if (losses->worker[w] == WORKER_IS_LOST)
        return;
    losses->orphans -= losses->worker[w] == WORKER_IS_ORPHAN;
    losses->worker[w] = WORKER_IS_ALIVE;
    supermaster_recheck(supermaster);
    supermaster_waive_speed(supermaster, w);
    service_adopt(&supermaster->service, w, &running, claim_running(supermaster, &running), supermaster->step.now_ns,
                  supermaster->step.actions);
    supermaster_note_adopted(supermaster, w);
    if (supermaster->state < SUPERMASTER_ENDING)
        return;
    losses->orphans_due_ns = supermaster->step.now_ns + supermaster_orphans_wait_ns(supermaster);
    const bool drains = !ledger_is_complete(&supermaster->ledger);
    const struct end end = {.drain = drains, .degraded = true, .now = drains && supermaster->ends_now};
    actions_send(supermaster->step.actions, topology->worker_rank[w],
                 &(struct message){.type = MESSAGE_END, .end = end});
}

void supermaster_expire_orphans(struct supermaster *supermaster)
{
    struct losses *losses = &supermaster->losses;
    if (supermaster->state < SUPERMASTER_ENDING || losses->orphans == 0 ||
        losses->orphans_due_ns > supermaster->step.now_ns)
        return;
    for (unsigned w = 0; w < supermaster->config.topology->workers; w++)
        if (losses->worker[w] == WORKER_IS_ORPHAN)
            note_worker(supermaster, w, 0);
}

void supermaster_take_own_counts(struct supermaster *supermaster)
{
    const struct recovery_counts counts = service_take_counts(&supermaster->service);
    supermaster->losses.reissued += counts.reissued;
    supermaster->losses.duplicates += counts.duplicates;
    supermaster_count_recalls(supermaster, &counts);
}

/* Handles news of the supermaster's own service. In the central topology the service itself hands out requeued work. If
 * there are masters, requeued work becomes free instead, because most workers belong to masters. */
static void take_news(struct supermaster *supermaster, unsigned news)
{
    const unsigned masters = supermaster->config.topology->masters;
    struct service *service = &supermaster->service;
    struct range range;
    unsigned count;
    supermaster->losses.serve_due |= (news & SERVICE_RETURNED) != 0;
    while (news & SERVICE_RETURNED && !is_central(supermaster) && service_take_away(service, &range)) {
        if (ledger_return(&supermaster->ledger, masters, range.first, range.count) < 0)
            supermaster_fail_for_memory(supermaster, "what was lost");
        else
            sched_give_back(&supermaster->technique.sched, range.count);
    }
    if (service->out_of_memory)
        supermaster_fail_for_memory(supermaster, "what was lost");
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

static bool nobody_is_left(const struct supermaster *supermaster)
{
    const struct topology *topology = supermaster->config.topology;
    if (!supermaster_has_no_worker(supermaster) || supermaster->service.parts_on_way > 0)
        return false;
    for (unsigned m = 0; m < topology->masters; m++)
        if (supermaster->losses.master[m] == MASTER_SERVES && topology_count(topology, m) > 0)
            return false;
    return true;
}

/* Serves the parked refill requests of master `m`. If actions do not go to a sink at once, the records of all these
 * refills must exist at the same time. Then the buffer needs room for all of them. */
void supermaster_serve_parked(struct supermaster *supermaster, unsigned m)
{
    size_t most = (size_t)supermaster->refilling.parked[m] * supermaster_refill_size(supermaster, m) + 1;
    if (supermaster->step.actions->sink == NULL) {
        unsigned char *grown = realloc(supermaster->refilling.records[m], most * CHUNK_RECORD_BYTES);
        if (grown == NULL) {
            supermaster_fail_for_memory(supermaster, "what was lost");
            return;
        }
        supermaster->refilling.records[m] = grown;
    }
    for (unsigned place = 0, chunks; supermaster->refilling.parked[m] > 0; place += chunks)
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
    take_news(supermaster, news);
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
        if (supermaster->refilling.parked[m] > 0)
            supermaster_serve_parked(supermaster, m);
    service_serve(&supermaster->service, supermaster->step.now_ns, supermaster->step.actions);
}

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
