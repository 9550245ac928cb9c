/* SPDX-License-Identifier: MIT */
/* Nodes that are put aside: tasks fail there one after another, and work elsewhere. Such a node may end tasks faster
 * than any other, and would get most of the list.
 *
 * A node is held to be the reason where so many of its tasks as --node-failures says have failed without one that
 * worked between them, and tasks beside them did work: of those that ended on other nodes lately, with a number between
 * the lowest and the highest of the failed ones, as many worked at least, and nine in ten. Lists have stretches of
 * tasks that fail wherever they run, and a node that takes a whole stretch has no such tasks beside it. Neither is it
 * held against a node where all failed tasks, and none that worked, are of the same classes modulo some small number:
 * in such a list every n-th task may fail, and equal nodes take turns.
 *
 * Workers of the supermaster's service are put aside one by one, and asked for what they have not begun. Masters get no
 * more refills; what a master has it hands out, or is asked for when others are idle. So a node is judged only where no
 * master serves its workers together with those of others.
 *
 * Failed tasks stay failed. When all workers elsewhere are lost, those put aside get work again. */
#include "supermaster/core.h"

#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/metrics/report.h"
#include "common/service/service.h"
#include "common/util/error.h"
#include "common/util/grow.h"
#include "supermaster/supermaster.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#define NO_NODE UINT_MAX

/* Lists in which every n-th task fails are looked for with n up to this, at most 64. */
#define PERIOD_MAX 16

/* --- at first --- */

/* Finds the node of each master, and which nodes can be judged. */
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

/* --- what becomes of tasks --- */

/* Looks at what ended on other nodes, with numbers among those of the node's failed tasks. */
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

/* True if there is a number modulo which no task that worked beside them is equal to one of the failed tasks. */
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

/* Further failed tasks of a node with enough of them are not remembered: they would push out the ends of others. */
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

/* --- nodes are put aside, and taken back --- */

/* True if a worker of another node than this one is there, or will be, and gets work. */
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
            service_put_aside(&supermaster->service, w, supermaster->now_ns, supermaster->actions);
    for (unsigned m = 0; m < topology->masters; m++) {
        if (nodes->master_node[m] != node || supermaster->losses.master_left[m])
            continue;
        nodes->refills_kept[m] = supermaster->refills_parked[m];
        supermaster->refills_parked[m] = 0;
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

void supermaster_note_adopted(struct supermaster *supermaster, unsigned w)
{
    const struct nodes *nodes = &supermaster->nodes;
    if (nodes->aside > 0 && nodes->list[supermaster->config.topology->worker_node[w]].is_aside)
        service_put_aside(&supermaster->service, w, supermaster->now_ns, supermaster->actions);
}

static void take_node_back(struct supermaster *supermaster, unsigned node)
{
    const struct topology *topology = supermaster->config.topology;
    struct nodes *nodes = &supermaster->nodes;
    nodes->list[node].is_aside = false;
    nodes->list[node].is_mixed = true; /* there is nobody to compare it with */
    nodes->aside--;
    nodes->events[nodes->event_count++] = (struct report_aside){.node = node, .is_back = true};
    for (unsigned w = 0; w < topology->workers; w++)
        if (topology->worker_node[w] == node && supermaster->service.workers[w].present)
            service_take_back(&supermaster->service, w);
    for (unsigned m = 0; m < topology->masters; m++)
        if (nodes->master_node[m] == node && !supermaster->losses.master_left[m]) {
            supermaster->refills_parked[m] += nodes->refills_kept[m];
            nodes->refills_kept[m] = 0;
        }
}

void supermaster_take_back_if_alone(struct supermaster *supermaster)
{
    struct nodes *nodes = &supermaster->nodes;
    if (nodes->aside == 0 || supermaster->state != SUPERMASTER_SERVING || has_workers_beside(supermaster, NO_NODE))
        return;
    for (unsigned node = 0; node < supermaster->config.topology->nodes; node++)
        if (nodes->list[node].is_aside)
            take_node_back(supermaster, node);
}

/* --- for people --- */

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

/* --- invariants --- */

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
            assert(supermaster->refills_parked[m] == 0 && "a master that is put aside waits for nothing");
    if (aside > 0 && supermaster->state == SUPERMASTER_SERVING)
        assert(has_workers_beside(supermaster, NO_NODE) && "the last node is not put aside");
}
