/* SPDX-License-Identifier: MIT */
/* A worker of DCA as a pure step function: an event goes in, one action comes out.
 *
 * A draw is one or two fetch-and-adds on counters (core.h). Each of them is an action, and its result comes back as an
 * event. With --dca node a worker draws from the queue of its node. If a worker finds the queue empty, it draws the
 * node's next big chunk from the counters and publishes it in the queue. The other workers wait meanwhile.
 *
 *     START, FINISHED, PUBLISHED, REFILLED ---> DRAWING --chunk--> COMPUTING          (with --dca node)
 *                                                 |  \--another refills--> AWAITING
 *                                                 v
 *     START, FINISHED ---> [EXCHANGING] ---> FETCHING ---> [TAKING] ---> COMPUTING    (with --dca node: PUBLISHING)
 *
 * With recall, a worker that finds no undrawn iterations is hungry. Another worker of the node then cuts its running
 * chunk between two iterations, and gives up the iterations after the cut. They are drawn from the queue like a big
 * chunk (see core_queue.h).
 *
 *     DRAWING ---only running chunks are left---> STARVING ---REFILLED---> DRAWING
 *     COMPUTING ---WANTED---> CLAIMING ---first to do so---> CUTTING ---CUT---> COMPUTING, and GIVE
 *
 * The driver of the machine owns the counters, the queue and the time. They are MPI windows, messages to rank 0 and
 * shared memory (rma.c, two_sided.c, node.c), or a model of these (deploy/simulate/dca). The driver also waits for
 * injected delays: before an action with `calculated`, and within an action with `assigns`.
 *
 * Invariants (dca_machine_check): at most one result is awaited; a chunk lies within the loop; an ended worker does
 * nothing. The counters ensure that no iteration is drawn twice: see core.h. */
#pragma once

#include "common/dca/core.h"
#include "common/dca/core_queue.h"
#include "common/util/ranges.h"

enum dca_state {
    DCA_IDLE,
    DCA_EXCHANGING,
    DCA_FETCHING,
    DCA_TAKING,
    DCA_DRAWING,
    DCA_AWAITING,
    DCA_STARVING,
    DCA_PUBLISHING,
    DCA_COMPUTING,
    DCA_CLAIMING,
    DCA_CUTTING,
    DCA_ENDED,
    DCA_STATES,
};

enum dca_event_type {
    DCA_EVENT_START,
    DCA_EVENT_FETCHED, /* `value`: the value that the counter had before the FETCH_ADD */
    DCA_EVENT_EXCHANGED,
    DCA_EVENT_DREW,
    DCA_EVENT_PUBLISHED,
    DCA_EVENT_REFILLED,
    DCA_EVENT_FINISHED,
    /* comes in COMPUTING only: another worker of the node is hungry, so this worker may cut its chunk */
    DCA_EVENT_WANTED,
    DCA_EVENT_CLAIMED,
    /* `cut`: the iterations that were cut off the end of the running chunk; count 0: all iterations had begun */
    DCA_EVENT_CUT,
    DCA_EVENT_STOP,
};

struct dca_event {
    enum dca_event_type type;
    union {
        uint64_t value;
        bool claimed;
        struct range cut;
        struct {
            enum dca_drawn result;
            /* if `result` is DRAWN: the chunk; if `result` is REFILL: the rest of a big chunk that was too long for the
             * queue, or count 0 */
            struct range range;
        } drawn;
    };
};

enum dca_action_type {
    DCA_ACTION_NONE,
    DCA_ACTION_FETCH_ADD,
    DCA_ACTION_EXCHANGE,
    DCA_ACTION_DRAW,
    DCA_ACTION_PUBLISH, /* put the big chunk `range` into the queue; if its count is 0, end the queue */
    DCA_ACTION_AWAIT,
    DCA_ACTION_STARVE,
    DCA_ACTION_COMPUTE,
    DCA_ACTION_CLAIM,
    DCA_ACTION_CUT,
    /* put `range` into the queue that this worker has claimed; if its count is 0, leave the queue drained */
    DCA_ACTION_GIVE,
    /* add `amount` to each counter of the set `counters`, and stop the node's queue; no event follows */
    DCA_ACTION_STOP,
    DCA_ACTION_END,
};

struct dca_action {
    uint8_t type;
    uint8_t counter;
    uint8_t counters;
    bool calculated;
    bool assigns; /* this FETCH_ADD is the synchronised part of a draw ([DCA]) */
    union {
        uint64_t amount;
        struct range range; /* the first iteration is counted from the beginning of the loop */
    };
};

struct dca_machine {
    struct dca_core *core; /* borrowed; several machines of one process may share it */
    unsigned state;
    bool by_node;
    bool stopped;
    /* number of the worker, 0 .. P-1, as the technique counts workers; with by_node, the number of the worker's node */
    unsigned worker;
    double weight; /* if chunks are drawn by step: present factor for their sizes; 0: sizes are not weighted */
    double load;   /* if chunks are drawn by step: divisor for their sizes */
    double carry;  /* if chunks are drawn by step: fraction of an iteration that is carried to the next chunk */
    uint64_t rest;
    uint64_t size;
    struct range chunk; /* the first iteration is counted from the beginning of the loop */
    struct dca_measured own;
};

/* `power`: the given power of the worker (or of its node, with by_node); 1 if no powers were given. */
void dca_machine_init(struct dca_machine *machine, struct dca_core *core, unsigned worker, double power, bool by_node);

struct dca_action dca_machine_step(struct dca_machine *machine, const struct dca_event *event);

/* Returns NULL, or the violated invariant. */
const char *dca_machine_check(const struct dca_machine *machine);
const char *dca_state_name(enum dca_state state);

/* Called with --weighting acp. `load`: how many runnable processes this worker's core has, the worker included. */
void dca_machine_set_load(struct dca_machine *machine, double load);

/* If the technique learns, records the measured times of a chunk. `wait_ns`: how long the worker was idle before the
 * chunk. */
void dca_machine_measure(struct dca_machine *machine, uint64_t iterations, uint64_t compute_ns, uint64_t wait_ns,
                         double deviation_ns, unsigned samples);

/* A shortcut for the most frequent draw: by position, from the counters, without delays. The caller has drawn `step`.
 * This function has the same effect as the events FINISHED (or START) and FETCHED. Returns false if all iterations are
 * drawn. */
static inline bool dca_machine_draw_step(struct dca_machine *machine, uint64_t step, struct range *chunk)
{
    bool is_drawn = dca_draw_step(machine->core, step, &machine->chunk);
    machine->state = is_drawn ? DCA_COMPUTING : DCA_ENDED;
    *chunk = machine->chunk;
    return is_drawn;
}

/* How a synchronous driver accesses the shared counters. Each function carries out one action and waits for its result.
 */
struct dca_counters {
    void *self;
    /* Returns the value that the counter had before the addition. If `amount` is 0, only reads the counter. `assigns`:
     * see struct dca_action. */
    uint64_t (*fetch_add)(void *self, enum dca_counter counter, uint64_t amount, bool assigns);
    /* Publishes `own`, and fills `all` with one record per worker. For techniques that learn only. */
    void (*share)(void *self, const struct dca_measured *own, struct dca_measured *all);
    void (*calculating)(void *self);
    /* Draws from the queue of the node. If the result is DRAWN or REFILL, sets `range` as in struct dca_event. The
     * member is NULL if the node has no queue. */
    enum dca_drawn (*draw)(void *self, struct range *range);
    void (*publish)(void *self, const struct range *big);
    void (*await)(void *self);
    void (*stop_queue)(void *self);
    void (*starve)(void *self);
    bool (*claim)(void *self);
    void (*give)(void *self, const struct range *cut);
};

/* Finishes the previous chunk and draws the next one. The chunk's first iteration is counted from the beginning of the
 * loop. Returns false if all iterations are drawn. */
bool dca_machine_draw(struct dca_machine *machine, const struct dca_counters *counters, struct range *chunk);

/* Gives up the iterations of the running chunk that have not begun. `cut` cuts the chunk and returns the range that it
 * has cut off, counted from the beginning of the loop. Returns how many iterations were given up. */
uint64_t dca_machine_give(struct dca_machine *machine, const struct dca_counters *counters,
                          struct range (*cut)(void *context), void *context);

void dca_machine_stop(struct dca_machine *machine, const struct dca_counters *counters);

bool dca_is_stopped(const struct dca_core *core, const struct dca_counters *counters);
