/* SPDX-License-Identifier: MIT */
/* The smallest runtime: a supermaster and two workers in one process, messages in a queue, a clock that counts steps.
 * docs/ADDING.md explains by it what a runtime does; as a test it shows that no more is needed. Nothing is computed: a
 * chunk is over as soon as all messages are delivered. No rank is lost, no result is stored, and nobody drains. */
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/util/error.h"
#include "proto/message.h"
#include "supermaster/supermaster.h"
#include "worker/worker.h"

#include <inttypes.h>
#include <stdio.h>

enum { RANKS = 3, ITERATIONS = 1000, SENT_MAX = 1000, STEP_NS = 100, ACTIONS = 16 };

struct sent {
    unsigned from, to;
    size_t size;
    unsigned char bytes[MESSAGE_MAX];
};

static struct sent queue[SENT_MAX]; /* [sent], of which `delivered` are delivered */
static size_t sent, delivered;
static uint64_t now_ns, computed;

static struct rank {
    struct machine machine;
    struct actions actions;
    uint64_t running; /* iterations of the chunk that it computes; 0: none */
    bool has_left;
} ranks[RANKS];

static void apply(unsigned rank, const struct action *action)
{
    switch (action->type) {
    case ACTION_SEND: /* encoded now, as what the message borrows is there for this step only */
        queue[sent].from = rank;
        queue[sent].to = action->send.to;
        queue[sent].size = message_encode(&action->send.message, FIRST_JOB, queue[sent].bytes);
        sent++;
        break;
    case ACTION_RUN: ranks[rank].running = action->run.count; break;
    case ACTION_EXIT: ranks[rank].has_left = true; break;
    default: printf("# rank %u wants action %d\n", rank, (int)action->type);
    }
}

static void step(unsigned rank, struct event event)
{
    struct rank *r = &ranks[rank];
    if (r->has_left)
        return;
    now_ns += STEP_NS;
    event.now_ns = now_ns;
    actions_clear(&r->actions);
    r->machine.step(r->machine.self, &event, &r->actions);
    for (size_t i = 0; i < r->actions.length; i++)
        apply(rank, &r->actions.items[i]);
}

static bool deliver(void)
{
    if (delivered == sent)
        return false;
    const struct sent *next = &queue[delivered++];
    struct message message;
    if (message_decode(&message, next->bytes, next->size) != DECODE_OK)
        printf("# from rank %u: no message\n", next->from);
    else
        step(next->to, (struct event){.type = EVENT_MESSAGE, .from = next->from, .message = &message});
    return true;
}

static bool compute(void)
{
    for (unsigned rank = 0; rank < RANKS; rank++) {
        uint64_t count = ranks[rank].running;
        if (count == 0)
            continue;
        ranks[rank].running = 0;
        computed += count;
        step(rank, (struct event){.type = EVENT_FINISHED,
                                  .chunk = {.done = count, .count = count, .compute_ns = count * STEP_NS}});
        return true;
    }
    return false;
}

/* With nothing else to do, time goes on to the first deadline. */
static bool wait(void)
{
    unsigned first = 0;
    uint64_t due_ns = NEVER;
    for (unsigned rank = 0; rank < RANKS; rank++) {
        uint64_t deadline = ranks[rank].has_left ? NEVER : ranks[rank].machine.deadline(ranks[rank].machine.self);
        if (deadline < due_ns)
            first = rank, due_ns = deadline;
    }
    if (due_ns == NEVER)
        return false;
    now_ns = due_ns > now_ns ? due_ns : now_ns;
    step(first, (struct event){.type = EVENT_TIMER});
    return true;
}

int main(void)
{
    static struct supermaster supermaster;
    static struct worker workers[RANKS - 1];
    const double speeds[RANKS - 1] = {1, 2};
    struct hello hellos[RANKS];
    struct topology topology;
    struct error error;
    for (unsigned rank = 0; rank < RANKS; rank++)
        hellos[rank] = (struct hello){.protocol = PROTOCOL_VERSION, .role = rank == 0 ? ROLE_SUPERMASTER : ROLE_WORKER};
    struct run_spec spec;
    run_spec_init(&spec);
    spec.min_chunk = 1;
    struct supermaster_config config = {.topology = &topology, .spec = &spec, .count = ITERATIONS, .speeds = speeds};
    if (topology_init(&topology, hellos, RANKS, false) < 0 || run_spec_set_technique(&spec, "gss", &error) < 0 ||
        supermaster_init(&supermaster, &config, &error) < 0)
        return 1;
    ranks[0].machine = supermaster_machine(&supermaster);
    for (unsigned w = 0; w < RANKS - 1; w++) {
        worker_init(&workers[w],
                    &(struct worker_config){.spec = &spec, .rank = w + 1, .end = ITERATIONS, .topology = &topology});
        ranks[w + 1].machine = worker_machine(&workers[w]);
    }
    for (unsigned rank = 0; rank < RANKS; rank++)
        if (actions_init(&ranks[rank].actions, ACTIONS) < 0)
            return 1;
    for (unsigned rank = 0; rank < RANKS; rank++)
        step(rank, (struct event){.type = EVENT_START});
    while (deliver() || compute() || wait()) {
    }
    bool all_left = ranks[0].has_left && ranks[1].has_left && ranks[2].has_left;
    printf("1..1\n%s 1 - %" PRIu64 " iterations are computed in %zu messages, and all ranks leave\n",
           computed == ITERATIONS && all_left ? "ok" : "not ok", computed, sent);
    for (unsigned rank = 0; rank < RANKS; rank++)
        actions_fini(&ranks[rank].actions);
    supermaster_fini(&supermaster);
    topology_fini(&topology);
    return 0;
}
