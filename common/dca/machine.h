/* SPDX-License-Identifier: MIT */
/* A worker of DCA as a pure step function: an event goes in, one action comes out.
 *
 * A draw is a fetch-and-add on a counter, or two of them (core.h has the three ways), each an action whose answer comes
 * back as an event. With --dca node a worker draws from the queue of its node; who finds the queue empty draws the
 * node's next big chunk from the counters and publishes it in the queue, while the others wait:
 *
 *     START, FINISHED, PUBLISHED, REFILLED ---> DRAWING --chunk--> COMPUTING          (with --dca node)
 *                                                 |  \--another refills--> AWAITING
 *                                                 v
 *     START, FINISHED ---> [EXCHANGING] ---> FETCHING ---> [TAKING] ---> COMPUTING    (with --dca node: PUBLISHING)
 *
 * With recall a worker of a node that finds nothing left is hungry, and another one cuts its running chunk between two
 * iterations and gives up the rest, which is drawn from the queue as a big chunk is (core_queue.h says why so):
 *
 *     DRAWING ---nothing but what others compute---> STARVING ---REFILLED---> DRAWING
 *     COMPUTING ---WANTED---> CLAIMING ---first to do so---> CUTTING ---CUT---> COMPUTING, and GIVE
 *
 * Who drives the machine owns the counters, the queue and the time: MPI windows, messages to rank 0 and shared memory
 * (rma.c, two_sided.c, node.c), or a model of them (deploy/simulate/dca). A delay that is injected passes where an
 * action says so: `calculated` before the action, `assigns` within it.
 *
 * Invariants (dca_machine_check): at most one answer is awaited; a chunk lies within the loop; a worker that has ended
 * does nothing any more. That no iteration is drawn twice follows from the counters alone, see core.h. */
#pragma once

#include "common/dca/core.h"
#include "common/dca/core_queue.h"
#include "common/util/ranges.h"

enum dca_state {
    DCA_IDLE,       /* not started */
    DCA_EXCHANGING, /* waits for what the others have measured */
    DCA_FETCHING,   /* waits for the first counter of a draw */
    DCA_TAKING,     /* waits for DCA_START, from which it takes `size` iterations */
    DCA_DRAWING,    /* waits for the queue of its node */
    DCA_AWAITING,   /* waits until another worker has refilled that queue */
    DCA_STARVING,   /* waits until another worker gives up some of its chunk, or all of the node wait so */
    DCA_PUBLISHING, /* the worker's big chunk is on its way into the queue */
    DCA_COMPUTING,
    DCA_CLAIMING, /* waits whether it is the one that gives up some of its chunk */
    DCA_CUTTING,  /* waits for what is cut off its chunk */
    DCA_ENDED,
    DCA_STATES,
};

enum dca_event_type {
    DCA_EVENT_START,
    DCA_EVENT_FETCHED,   /* a FETCH_ADD is done: the counter was `value` before */
    DCA_EVENT_EXCHANGED, /* an EXCHANGE is done: core->fresh is filled */
    DCA_EVENT_DREW,      /* a DRAW is done: `drawn` */
    DCA_EVENT_PUBLISHED, /* a PUBLISH is done */
    DCA_EVENT_REFILLED,  /* the queue may have been refilled */
    DCA_EVENT_FINISHED,  /* the chunk is computed */
    DCA_EVENT_WANTED,    /* another worker of the node is hungry, and the chunk may be cut; COMPUTING only */
    DCA_EVENT_CLAIMED,   /* a CLAIM is done: `claimed` */
    DCA_EVENT_CUT,       /* a CUT is done: `cut` was the end of the running chunk, count 0: all of it has begun */
    DCA_EVENT_STOP,      /* the run is to end: chunks that are drawn are computed, and no more are drawn */
};

struct dca_event {
    enum dca_event_type type;
    union {
        uint64_t value;
        bool claimed;
        struct range cut;
        struct {
            enum dca_drawn result;
            struct range range; /* DRAWN: the chunk; REFILL: what is left of the last big chunk, count 0: nothing */
        } drawn;
    };
};

enum dca_action_type {
    DCA_ACTION_NONE,
    DCA_ACTION_FETCH_ADD, /* add `amount` to `counter`; FETCHED answers */
    DCA_ACTION_EXCHANGE,  /* publish machine->own, and fill core->fresh; EXCHANGED answers */
    DCA_ACTION_DRAW,      /* draw from the node's queue; DREW answers */
    DCA_ACTION_PUBLISH,   /* put the big chunk `range` into the queue, or end it where the count is 0; PUBLISHED answers
                           */
    DCA_ACTION_AWAIT,     /* wait for another worker's PUBLISH; REFILLED answers, also when it is too early */
    DCA_ACTION_STARVE,    /* wait until the queue is no longer drained; REFILLED answers, also when it is too early */
    DCA_ACTION_COMPUTE,   /* compute the chunk `range`; FINISHED answers */
    DCA_ACTION_CLAIM,     /* claim the node's queue; CLAIMED answers, before any other event */
    DCA_ACTION_CUT,       /* give up what has not begun of the running chunk; CUT answers, before any other event */
    DCA_ACTION_GIVE,      /* put `range` into the queue that is claimed, count 0: leave it drained; nothing answers */
    DCA_ACTION_STOP,      /* add `amount` to each counter of `counters`, and stop the node's queue; nothing answers */
    DCA_ACTION_END,       /* the worker draws no more */
};

struct dca_action {
    uint8_t type;     /* enum dca_action_type */
    uint8_t counter;  /* FETCH_ADD: enum dca_counter */
    uint8_t counters; /* STOP: bit n for counter n */
    bool calculated;  /* a chunk was calculated before this action */
    bool assigns;     /* FETCH_ADD: the synchronised part of a draw ([DCA]) */
    union {
        uint64_t amount;    /* FETCH_ADD, STOP */
        struct range range; /* COMPUTE, PUBLISH, GIVE: counted from the loop's beginning */
    };
};

struct dca_machine {
    struct dca_core *core; /* borrowed; several machines of one process may share it */
    unsigned state;        /* enum dca_state */
    bool by_node;          /* draws from its node's queue */
    bool stopped;
    unsigned worker;    /* index for drawing: of the worker, 0 .. P-1; with by_node of its node */
    double weight;      /* by step: what a chunk is multiplied with, the latest where it is learned; 0: not weighted */
    double load;        /* by step: and divided by */
    double carry;       /* by step: what rounding has cut off, for the next chunk; below 1 */
    uint64_t rest;      /* remaining work, as last seen */
    uint64_t size;      /* TAKING */
    struct range chunk; /* COMPUTING, CLAIMING, CUTTING: counted from the loop's beginning */
    struct dca_measured own;
};

/* `power` is that of the worker, or of its node, as the core was given it; 1 where it was given none. */
void dca_machine_init(struct dca_machine *machine, struct dca_core *core, unsigned worker, double power, bool by_node);

struct dca_action dca_machine_step(struct dca_machine *machine, const struct dca_event *event);

/* Returns NULL, or the invariant that does not hold. */
const char *dca_machine_check(const struct dca_machine *machine);
const char *dca_state_name(enum dca_state state);

/* Sets the load, with weighting acp: the number of runnable processes, at least 1, that compete for this worker's core
 * from now on, itself included. */
void dca_machine_set_load(struct dca_machine *machine, double load);

/* Takes the measurements of an own chunk, where the technique learns: with the time that the worker had nothing to
 * compute before it. */
void dca_machine_measure(struct dca_machine *machine, uint64_t iterations, uint64_t compute_ns, uint64_t wait_ns,
                         double deviation_ns, unsigned samples);

/* Takes FINISHED (or START) and the FETCHED of its FETCH_ADD in one, for a worker that has drawn `step` already: the
 * commonest draw, by place, from the counters and not delayed. False when there is none, for ever. */
static inline bool dca_machine_draw_step(struct dca_machine *machine, uint64_t step, struct range *chunk)
{
    bool is_drawn = dca_draw_step(machine->core, step, &machine->chunk);
    machine->state = is_drawn ? DCA_COMPUTING : DCA_ENDED;
    *chunk = machine->chunk;
    return is_drawn;
}

/* --- the synchronous driver: each action is done before the next event --- */

/* Access of a rank to the shared counters: each function does one action, and returns when that is done. */
struct dca_counters {
    void *self;
    /* Adds to the counter and returns what it was; with 0 it reads. `assigns` as in the action. */
    uint64_t (*fetch_add)(void *self, enum dca_counter counter, uint64_t amount, bool assigns);
    /* Publishes `own` and fills `all`, one for each worker. Only for techniques that learn. */
    void (*share)(void *self, const struct dca_measured *own, struct dca_measured *all);
    /* Called when a chunk was calculated, for --inject-delay. NULL: no delay. */
    void (*calculating)(void *self);
    /* Draws from the node's queue; NULL where there is none. Fills `range` as the event has it. */
    enum dca_drawn (*draw)(void *self, struct range *range);
    void (*publish)(void *self, const struct range *big);
    void (*await)(void *self);
    void (*stop_queue)(void *self);
    /* With recall: waits while the queue is drained, claims it for giving, and gives. */
    void (*starve)(void *self);
    bool (*claim)(void *self);
    void (*give)(void *self, const struct range *cut);
};

/* Draws the next chunk, counted from the loop's beginning: START, or FINISHED of the chunk before. False when there is
 * none, for ever. */
bool dca_machine_draw(struct dca_machine *machine, const struct dca_counters *counters, struct range *chunk);

/* Gives up what has not begun of the running chunk, as another worker of the node is hungry. `cut` returns what it has
 * cut off, counted from the loop's beginning. Returns how many iterations were given up. */
uint64_t dca_machine_give(struct dca_machine *machine, const struct dca_counters *counters,
                          struct range (*cut)(void *context), void *context);

/* Stops the run: nobody draws from now on. At most once for each rank. */
void dca_machine_stop(struct dca_machine *machine, const struct dca_counters *counters);

/* True if some rank has stopped the run. */
bool dca_is_stopped(const struct dca_core *core, const struct dca_counters *counters);
