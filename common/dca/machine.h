/* SPDX-License-Identifier: MIT */
/* A worker of DCA as a pure step function: an event goes in, one action comes out.
 *
 * A draw is one or two fetch-and-adds on counters (core.h), each an action whose result comes back as an event. With
 * --dca node a worker draws from the queue of its node; a worker that finds it empty draws the node's next big chunk
 * from the counters and publishes it in the queue, while the others wait:
 *     START, FINISHED, PUBLISHED, REFILLED ---> DRAWING --chunk--> COMPUTING          (with --dca node)
 *                                                 |  \--another refills--> AWAITING
 *                                                 v
 *     START, FINISHED ---> [EXCHANGING] ---> FETCHING ---> [TAKING] ---> COMPUTING    (with --dca node: PUBLISHING)
 *
 * With recall, a worker that finds nothing left is hungry; another worker of the node cuts its running chunk between
 * two iterations and gives up the rest, which is drawn from the queue like a big chunk (see core_queue.h):
 *     DRAWING ---only running chunks are left---> STARVING ---REFILLED---> DRAWING
 *     COMPUTING ---WANTED---> CLAIMING ---first to do so---> CUTTING ---CUT---> COMPUTING, and GIVE
 *
 * The driver of the machine owns the counters, the queue and the time: MPI windows, messages to rank 0 and shared
 * memory (rma.c, two_sided.c, node.c), or a model of them (deploy/simulate/dca). An injected delay passes where an
 * action says so: `calculated` before the action, `assigns` within it.
 *
 * Invariants (dca_machine_check): at most one result is awaited; a chunk lies within the loop; an ended worker does
 * nothing. That no iteration is drawn twice follows from the counters: see core.h. */
#pragma once

#include "common/dca/core.h"
#include "common/dca/core_queue.h"
#include "common/util/ranges.h"

enum dca_state {
    DCA_IDLE,
    DCA_EXCHANGING, /* waits for the others' measurements */
    DCA_FETCHING,
    DCA_TAKING, /* waits for DCA_START, from which it takes `size` iterations */
    DCA_DRAWING,
    DCA_AWAITING, /* waits until another worker has refilled that queue */
    DCA_STARVING, /* waits until another worker gives up iterations, or all workers of the node wait like this */
    DCA_PUBLISHING,
    DCA_COMPUTING,
    DCA_CLAIMING,
    DCA_CUTTING,
    DCA_ENDED,
    DCA_STATES,
};

enum dca_event_type {
    DCA_EVENT_START,
    DCA_EVENT_FETCHED,   /* FETCH_ADD: the counter was `value` before */
    DCA_EVENT_EXCHANGED, /* EXCHANGE: core->fresh is filled */
    DCA_EVENT_DREW,
    DCA_EVENT_PUBLISHED,
    DCA_EVENT_REFILLED,
    DCA_EVENT_FINISHED,
    DCA_EVENT_WANTED, /* another worker of the node is hungry, and the chunk may be cut; COMPUTING only */
    DCA_EVENT_CLAIMED,
    DCA_EVENT_CUT,  /* CUT: `cut` was the end of the running chunk; count 0: all of it has begun */
    DCA_EVENT_STOP, /* end the run: drawn chunks are computed, and no more are drawn */
};

struct dca_event {
    enum dca_event_type type;
    union {
        uint64_t value;
        bool claimed;
        struct range cut;
        struct {
            enum dca_drawn result;
            struct range range; /* DRAWN: the chunk; REFILL: rest of the last big chunk, count 0: none */
        } drawn;
    };
};

enum dca_action_type {
    DCA_ACTION_NONE,
    DCA_ACTION_FETCH_ADD, /* add `amount` to `counter`; result: FETCHED */
    DCA_ACTION_EXCHANGE,  /* publish machine->own and fill core->fresh; result: EXCHANGED */
    DCA_ACTION_DRAW,      /* draw from the node's queue; result: DREW */
    DCA_ACTION_PUBLISH,   /* put the big chunk `range` into the queue, or end it if the count is 0; result: PUBLISHED */
    DCA_ACTION_AWAIT,     /* wait for another worker's PUBLISH; result: REFILLED, possibly too early */
    DCA_ACTION_STARVE,    /* wait until the queue is not drained; result: REFILLED, possibly too early */
    DCA_ACTION_COMPUTE,   /* compute the chunk `range`; result: FINISHED */
    DCA_ACTION_CLAIM,     /* claim the node's queue; result: CLAIMED, before any other event */
    DCA_ACTION_CUT,       /* give up what of the running chunk has not begun; result: CUT, before any other event */
    DCA_ACTION_GIVE,      /* put `range` into the claimed queue; count 0: leave it drained; no result */
    DCA_ACTION_STOP,      /* add `amount` to each of `counters`, and stop the node's queue; no result */
    DCA_ACTION_END,
};

struct dca_action {
    uint8_t type;
    uint8_t counter;
    uint8_t counters;
    bool calculated; /* a chunk was calculated before this action */
    bool assigns;    /* FETCH_ADD: the synchronised part of a draw ([DCA]) */
    union {
        uint64_t amount;    /* FETCH_ADD, STOP */
        struct range range; /* COMPUTE, PUBLISH, GIVE: relative to the loop's beginning */
    };
};

struct dca_machine {
    struct dca_core *core; /* borrowed; several machines of one process may share it */
    unsigned state;
    bool by_node;
    bool stopped;
    unsigned worker; /* index in the technique, 0 .. P-1: of the worker, or with by_node of its node */
    double weight;   /* by step: factor for chunks, the latest if learned; 0: not weighted */
    double load;     /* by step: the sizes of chunks are divided by it */
    double carry;    /* by step: fraction carried to the next chunk; below 1 */
    uint64_t rest;
    uint64_t size;
    struct range chunk; /* COMPUTING, CLAIMING, CUTTING: relative to the loop's beginning */
    struct dca_measured own;
};

/* `power`: of the worker or its node, as given to the core; 1 if none was given. */
void dca_machine_init(struct dca_machine *machine, struct dca_core *core, unsigned worker, double power, bool by_node);

struct dca_action dca_machine_step(struct dca_machine *machine, const struct dca_event *event);

/* Returns NULL, or the violated invariant. */
const char *dca_machine_check(const struct dca_machine *machine);
const char *dca_state_name(enum dca_state state);

/* With --weighting acp: `load` is the number of runnable processes on this worker's core, itself included. */
void dca_machine_set_load(struct dca_machine *machine, double load);

/* If the technique learns: records a measured chunk; wait_ns: idle before it. */
void dca_machine_measure(struct dca_machine *machine, uint64_t iterations, uint64_t compute_ns, uint64_t wait_ns,
                         double deviation_ns, unsigned samples);

/* Handles FINISHED (or START) and FETCHED in one, after the caller has drawn `step`: the most frequent draw, by
 * position, from the counters and without delays. False if nothing is left. */
static inline bool dca_machine_draw_step(struct dca_machine *machine, uint64_t step, struct range *chunk)
{
    bool is_drawn = dca_draw_step(machine->core, step, &machine->chunk);
    machine->state = is_drawn ? DCA_COMPUTING : DCA_ENDED;
    *chunk = machine->chunk;
    return is_drawn;
}

/* A rank's access to the shared counters, for a synchronous driver: each function executes one action, which is done
 * before the next event. */
struct dca_counters {
    void *self;
    /* Adds to the counter and returns its previous value; 0 reads it. `assigns` as in the action. */
    uint64_t (*fetch_add)(void *self, enum dca_counter counter, uint64_t amount, bool assigns);
    /* Publishes `own` and fills `all`, one per worker; only for techniques that learn. */
    void (*share)(void *self, const struct dca_measured *own, struct dca_measured *all);
    /* A chunk was calculated, for --inject-delay; may be NULL. */
    void (*calculating)(void *self);
    /* Draws from the node's queue; NULL if there is none. `range` as in the event. */
    enum dca_drawn (*draw)(void *self, struct range *range);
    void (*publish)(void *self, const struct range *big);
    void (*await)(void *self);
    void (*stop_queue)(void *self);
    /* With recall: waits while the queue is drained; claims it; gives. */
    void (*starve)(void *self);
    bool (*claim)(void *self);
    void (*give)(void *self, const struct range *cut);
};

/* Draws the next chunk, relative to the loop's beginning, and finishes the previous one. False if nothing is left. */
bool dca_machine_draw(struct dca_machine *machine, const struct dca_counters *counters, struct range *chunk);

/* Gives up what of the running chunk has not begun. `cut` cuts the chunk and returns what was cut off, relative to the
 * loop's beginning. Returns the number of iterations given up. */
uint64_t dca_machine_give(struct dca_machine *machine, const struct dca_counters *counters,
                          struct range (*cut)(void *context), void *context);

/* Stops the run; at most once per rank. */
void dca_machine_stop(struct dca_machine *machine, const struct dca_counters *counters);

/* True if a rank has stopped the run. */
bool dca_is_stopped(const struct dca_core *core, const struct dca_counters *counters);
