/* SPDX-License-Identifier: MIT */
/* The worker of DCA: see machine.h. */
#include "common/dca/machine.h"

#include "common/machine/state.h"
#include "common/sched/bounds.h"
#include "common/sched/sched.h"
#include "common/sched/technique.h"

#include <assert.h>
#include <stdio.h>

/* Functions that are always inlined, so that an action stays in registers. If the action passes through memory, a draw
 * takes 20 ns longer. */
#define PART static inline __attribute__((always_inline))

#define STATE(state) (1u << (state))

static const unsigned dca_moves[DCA_STATES] = {
    [DCA_IDLE] = STATE(DCA_EXCHANGING) | STATE(DCA_FETCHING) | STATE(DCA_DRAWING) | STATE(DCA_ENDED),
    [DCA_EXCHANGING] = STATE(DCA_FETCHING),
    [DCA_FETCHING] = STATE(DCA_TAKING) | STATE(DCA_COMPUTING) | STATE(DCA_PUBLISHING) | STATE(DCA_ENDED),
    [DCA_TAKING] = STATE(DCA_COMPUTING) | STATE(DCA_PUBLISHING) | STATE(DCA_ENDED),
    [DCA_DRAWING] = STATE(DCA_FETCHING) | STATE(DCA_PUBLISHING) | STATE(DCA_AWAITING) | STATE(DCA_STARVING) |
                    STATE(DCA_COMPUTING) | STATE(DCA_ENDED),
    [DCA_AWAITING] = STATE(DCA_DRAWING) | STATE(DCA_ENDED),
    [DCA_STARVING] = STATE(DCA_DRAWING) | STATE(DCA_ENDED),
    [DCA_PUBLISHING] = STATE(DCA_DRAWING) | STATE(DCA_ENDED),
    [DCA_COMPUTING] =
        STATE(DCA_EXCHANGING) | STATE(DCA_FETCHING) | STATE(DCA_DRAWING) | STATE(DCA_CLAIMING) | STATE(DCA_ENDED),
    [DCA_CLAIMING] = STATE(DCA_COMPUTING) | STATE(DCA_CUTTING),
    [DCA_CUTTING] = STATE(DCA_COMPUTING),
    [DCA_ENDED] = 0,
};

static const char *const dca_state_names[DCA_STATES] = {
    "IDLE",     "EXCHANGING", "FETCHING",  "TAKING",   "DRAWING", "AWAITING",
    "STARVING", "PUBLISHING", "COMPUTING", "CLAIMING", "CUTTING", "ENDED",
};

/* The event that each state waits for. STOP may come in any state, and WANTED in COMPUTING. */
static const enum dca_event_type dca_awaited[DCA_STATES] = {
    [DCA_IDLE] = DCA_EVENT_START,           [DCA_EXCHANGING] = DCA_EVENT_EXCHANGED, [DCA_FETCHING] = DCA_EVENT_FETCHED,
    [DCA_TAKING] = DCA_EVENT_FETCHED,       [DCA_DRAWING] = DCA_EVENT_DREW,         [DCA_AWAITING] = DCA_EVENT_REFILLED,
    [DCA_PUBLISHING] = DCA_EVENT_PUBLISHED, [DCA_COMPUTING] = DCA_EVENT_FINISHED,   [DCA_ENDED] = DCA_EVENT_STOP,
    [DCA_STARVING] = DCA_EVENT_REFILLED,    [DCA_CLAIMING] = DCA_EVENT_CLAIMED,     [DCA_CUTTING] = DCA_EVENT_CUT,
};

static void dca_write_event_name(const void *type, char *text, size_t size)
{
    static const char *const names[] = {
        [DCA_EVENT_START] = "START",
        [DCA_EVENT_FETCHED] = "FETCHED",
        [DCA_EVENT_EXCHANGED] = "EXCHANGED",
        [DCA_EVENT_DREW] = "DREW",
        [DCA_EVENT_PUBLISHED] = "PUBLISHED",
        [DCA_EVENT_REFILLED] = "REFILLED",
        [DCA_EVENT_FINISHED] = "FINISHED",
        [DCA_EVENT_STOP] = "STOP",
        [DCA_EVENT_WANTED] = "WANTED",
        [DCA_EVENT_CLAIMED] = "CLAIMED",
        [DCA_EVENT_CUT] = "CUT",
    };
    snprintf(text, size, "%s", names[*(const enum dca_event_type *)type]);
}

static const struct state_table dca_states = {"DCA worker", DCA_STATES, dca_state_names, dca_moves,
                                              dca_write_event_name};

const char *dca_state_name(enum dca_state state)
{
    return dca_state_names[state];
}

static inline void dca_move(struct dca_machine *machine, enum dca_state to)
{
    state_move(&dca_states, &machine->state, to, &dca_awaited[machine->state]);
}

void dca_machine_init(struct dca_machine *machine, struct dca_core *core, unsigned worker, double power, bool by_node)
{
    *machine = (struct dca_machine){.core = core,
                                    .by_node = by_node,
                                    .worker = worker,
                                    .weight = dca_weight(core, power),
                                    .load = 1,
                                    .rest = core->iterations};
}

const char *dca_machine_check(const struct dca_machine *machine)
{
    const struct dca_core *core = machine->core;
    const struct range *chunk = &machine->chunk;
    const unsigned computes = STATE(DCA_COMPUTING) | STATE(DCA_CLAIMING) | STATE(DCA_CUTTING);
    const unsigned of_node = STATE(DCA_DRAWING) | STATE(DCA_AWAITING) | STATE(DCA_STARVING) | STATE(DCA_PUBLISHING) |
                             STATE(DCA_CLAIMING) | STATE(DCA_CUTTING);
    if ((of_node & STATE(machine->state)) != 0 && !machine->by_node)
        return "a worker without a queue waits for one";
    if (machine->state == DCA_EXCHANGING && !dca_learns(core))
        return "a worker waits for measurements that its technique does not want";
    if (machine->state == DCA_TAKING && (core->way == DCA_BY_POSITION || (machine->size == 0 && core->iterations > 0)))
        return "a worker takes iterations without a size";
    if (machine->size > core->iterations || machine->rest > core->iterations)
        return "a chunk or the rest is longer than the loop";
    if (machine->carry < 0 || machine->carry >= 1)
        return "rounding has cut off a whole iteration";
    if ((computes & STATE(machine->state)) != 0 &&
        (chunk->count == 0 || chunk->first >= core->iterations || chunk->count > core->iterations - chunk->first))
        return "a worker computes what is not in the loop";
    return NULL;
}

void dca_machine_set_load(struct dca_machine *machine, double load)
{
    if (machine->core->sched.loads == NULL)
        return;
    machine->load = load;
    sched_set_load(&machine->core->sched, machine->worker, load);
    if (machine->core->weights.technique != NULL)
        sched_set_load(&machine->core->weights, machine->worker, load);
}

void dca_machine_measure(struct dca_machine *machine, uint64_t iterations, uint64_t compute_ns, uint64_t wait_ns,
                         double deviation_ns, unsigned samples)
{
    struct dca_measured *own = &machine->own;
    if (!dca_learns(machine->core))
        return;
    own->chunks++;
    own->iterations += iterations;
    own->compute_ns += compute_ns;
    own->wait_ns += wait_ns;
    if (samples > 1) {
        own->freedom += samples - 1;
        own->squares += (samples - 1) * deviation_ns * deviation_ns;
    }
}

/* Multiplies the size by the worker's weight: K' = floor(K V_j / Q_j), [SW] eq 2; K w_j for wf, [RMA] Table 2. The
 * fraction that is lost by rounding is added to this worker's next chunk. Otherwise the lost fractions would remain at
 * the end and be drawn in tiny chunks. */
static uint64_t dca_weighted(struct dca_machine *machine, uint64_t size)
{
    const struct dca_core *core = machine->core;
    double share = (double)size * machine->weight / machine->load + machine->carry;
    if (share >= (double)core->iterations)
        return core->iterations;
    uint64_t whole = (uint64_t)(share + ROUNDING_GUARD);
    double rest = share - (double)whole;
    machine->carry = whole > 0 && rest > 0 ? rest : 0;
    return whole > core->sched.min_chunk ? whole : core->sched.min_chunk;
}

/* Multiplies the size by the worker's weight for variant=paper. No fraction is carried: K' = floor(K V_j / Q_j), [SW]
 * eq 2; K = ceil(K w_j) for wf, [RMA] Table 2. */
static uint64_t dca_weighted_to_the_letter(const struct dca_machine *machine, uint64_t size)
{
    const struct dca_core *core = machine->core;
    double weight = machine->weight / machine->load;
    uint64_t whole = core->rounds_up ? ceil_weighted((double)size, weight) : floor_real((double)size * weight);
    return whole > core->sched.min_chunk ? whole : core->sched.min_chunk;
}

/* Returns the size of the chunk of this step. The closed form has a fixed number of steps. Weighted chunks need not add
 * up to N within these steps. After these steps a chunk has at least 1/(2 P) of the iterations that remained after the
 * last draw. Otherwise these iterations would be drawn in chunks of the closed form's last size, which is often 1. */
static uint64_t dca_size_of_step(struct dca_machine *machine, uint64_t step)
{
    struct dca_core *core = machine->core;
    uint64_t size = sched_at(&core->sched, step);
    if (core->weights.technique != NULL)
        machine->weight =
            core->weights.technique->batch_weight(&core->weights, machine->worker, step / core->sched.workers + 1);
    if (!core->weighted)
        return size;
    if (core->to_the_letter)
        return dca_weighted_to_the_letter(machine, size);
    if (step >= core->bounds.count) {
        uint64_t half = machine->rest / (2 * (uint64_t)core->sched.workers);
        size = half > size ? half : size;
    }
    return dca_weighted(machine, size);
}

PART struct dca_action dca_fetch(struct dca_machine *machine, enum dca_state state, enum dca_counter counter,
                                 uint64_t amount)
{
    dca_move(machine, state);
    return (struct dca_action){.type = DCA_ACTION_FETCH_ADD,
                               .counter = (uint8_t)counter,
                               .amount = amount,
                               .assigns = amount > 0 && counter == dca_first_counter(machine->core)};
}

PART struct dca_action dca_fetch_first(struct dca_machine *machine)
{
    if (machine->core->way == DCA_BY_REMAINING)
        return dca_fetch(machine, DCA_FETCHING, DCA_START, 0);
    return dca_fetch(machine, DCA_FETCHING, DCA_STEP, 1);
}

PART struct dca_action dca_end(struct dca_machine *machine)
{
    dca_move(machine, DCA_ENDED);
    return (struct dca_action){.type = DCA_ACTION_END};
}

PART struct dca_action dca_begin_draw(struct dca_machine *machine)
{
    if (machine->stopped)
        return dca_end(machine);
    if (machine->by_node) {
        dca_move(machine, DCA_DRAWING);
        return (struct dca_action){.type = DCA_ACTION_DRAW};
    }
    if (!dca_learns(machine->core))
        return dca_fetch_first(machine);
    dca_seal(&machine->own);
    dca_move(machine, DCA_EXCHANGING);
    return (struct dca_action){.type = DCA_ACTION_EXCHANGE};
}

PART struct dca_action dca_take_range(struct dca_machine *machine, const struct range *range, bool calculated)
{
    if (machine->by_node) {
        dca_move(machine, DCA_PUBLISHING);
        return (struct dca_action){.type = DCA_ACTION_PUBLISH, .range = *range, .calculated = calculated};
    }
    if (range->count == 0)
        return dca_end(machine);
    dca_move(machine, DCA_COMPUTING);
    machine->chunk = *range;
    return (struct dca_action){.type = DCA_ACTION_COMPUTE, .range = *range, .calculated = calculated};
}

/* Handles the value of the counter that a draw reads first. If chunks are drawn by position, the value is a step and
 * determines the chunk. If they are drawn by step ([RMA]), the value is step i; calculates K_i and adds it to the
 * start. Without weights the steps below S cover the loop. If they are drawn by remaining work ([DCA] section 4, for
 * af), the value gives R; calculates K from R and adds K to the start. R may be slightly outdated by then. */
PART struct dca_action dca_take_first_answer(struct dca_machine *machine, uint64_t counter)
{
    struct dca_core *core = machine->core;
    struct range none = {0, 0}, chunk;
    if (dca_is_over(core, counter))
        return dca_take_range(machine, &none, false);
    if (core->way == DCA_BY_POSITION) {
        dca_draw_step(core, counter, &chunk);
        return dca_take_range(machine, &chunk, true);
    }
    uint64_t size = core->way == DCA_BY_REMAINING
                        ? sched_from_rest(&core->sched, machine->worker, core->iterations - counter)
                        : dca_size_of_step(machine, counter);
    machine->size = size < core->iterations ? size : core->iterations;
    struct dca_action action = dca_fetch(machine, DCA_TAKING, DCA_START, machine->size);
    action.calculated = true;
    return action;
}

PART struct dca_action dca_take_second_answer(struct dca_machine *machine, uint64_t start)
{
    const uint64_t iterations = machine->core->iterations;
    struct range chunk = {0, 0};
    if (start < iterations) {
        uint64_t left = iterations - start;
        chunk = (struct range){.first = start, .count = machine->size < left ? machine->size : left};
        machine->rest = left - chunk.count;
    }
    return dca_take_range(machine, &chunk, false);
}

PART struct dca_action dca_take_from_queue(struct dca_machine *machine, enum dca_drawn result,
                                           const struct range *range)
{
    switch (result) {
    case DCA_DRAWN:
        dca_move(machine, DCA_COMPUTING);
        machine->chunk = *range;
        return (struct dca_action){.type = DCA_ACTION_COMPUTE, .range = *range, .calculated = true};
    case DCA_REFILL: return range->count > 0 ? dca_take_range(machine, range, false) : dca_fetch_first(machine);
    case DCA_WAIT: dca_move(machine, DCA_AWAITING); return (struct dca_action){.type = DCA_ACTION_AWAIT};
    case DCA_HUNGRY: dca_move(machine, DCA_STARVING); return (struct dca_action){.type = DCA_ACTION_STARVE};
    case DCA_END:
    case DCA_BROKEN: break;
    }
    return dca_end(machine);
}

/* Claims the queue before the running chunk is cut. If the claim fails, no cut has to be undone. */
static struct dca_action dca_claim(struct dca_machine *machine)
{
    dca_move(machine, DCA_CLAIMING);
    return (struct dca_action){.type = DCA_ACTION_CLAIM};
}

static struct dca_action dca_take_claim(struct dca_machine *machine, bool claimed)
{
    dca_move(machine, claimed ? DCA_CUTTING : DCA_COMPUTING);
    return (struct dca_action){.type = claimed ? DCA_ACTION_CUT : DCA_ACTION_NONE};
}

static struct dca_action dca_take_cut(struct dca_machine *machine, const struct range *cut)
{
    const struct range *chunk = &machine->chunk;
    dca_move(machine, DCA_COMPUTING);
    assert(cut->count == 0 || (cut->count < chunk->count && cut->first + cut->count == chunk->first + chunk->count &&
                               "the end of the chunk is cut off"));
    machine->chunk.count -= cut->count;
    return (struct dca_action){.type = DCA_ACTION_GIVE, .range = *cut};
}

/* Stops the run: adds an amount to DCA_STEP that exceeds every step that can be drawn. Drawing by remaining work uses
 * DCA_START alone, so in that case adds the amount to DCA_START too. If a draw is in progress, the worker still
 * computes the chunk that it draws. */
static struct dca_action dca_stop(struct dca_machine *machine)
{
    const unsigned start = machine->core->way == DCA_BY_REMAINING ? 1u << DCA_START : 0;
    if (machine->stopped)
        return (struct dca_action){.type = DCA_ACTION_NONE};
    machine->stopped = true;
    return (struct dca_action){
        .type = DCA_ACTION_STOP, .counters = (uint8_t)(1u << DCA_STEP | start), .amount = machine->core->stop};
}

PART struct dca_action dca_take_answer(struct dca_machine *machine, uint64_t counter)
{
    return machine->state == DCA_FETCHING ? dca_take_first_answer(machine, counter)
                                          : dca_take_second_answer(machine, counter);
}

PART struct dca_action dca_take_measured(struct dca_machine *machine)
{
    dca_learn(machine->core);
    return dca_fetch_first(machine);
}

struct dca_action dca_machine_step(struct dca_machine *machine, const struct dca_event *event)
{
    bool wanted = event->type == DCA_EVENT_WANTED && machine->state == DCA_COMPUTING;
    if (event->type != DCA_EVENT_STOP && event->type != dca_awaited[machine->state] && !wanted)
        state_refuse_event(&dca_states, machine->state, &event->type);
    switch (event->type) {
    case DCA_EVENT_STOP: return dca_stop(machine);
    case DCA_EVENT_START:
    case DCA_EVENT_FINISHED:
    case DCA_EVENT_PUBLISHED:
    case DCA_EVENT_REFILLED: return dca_begin_draw(machine);
    case DCA_EVENT_EXCHANGED: return dca_take_measured(machine);
    case DCA_EVENT_FETCHED: return dca_take_answer(machine, event->value);
    case DCA_EVENT_DREW: return dca_take_from_queue(machine, event->drawn.result, &event->drawn.range);
    case DCA_EVENT_WANTED: return dca_claim(machine);
    case DCA_EVENT_CLAIMED: return dca_take_claim(machine, event->claimed);
    case DCA_EVENT_CUT: return dca_take_cut(machine, &event->cut);
    }
    return (struct dca_action){.type = DCA_ACTION_NONE};
}

bool dca_machine_draw(struct dca_machine *machine, const struct dca_counters *counters, struct range *chunk)
{
    if (machine->state == DCA_ENDED)
        return false;
    for (struct dca_action action = dca_begin_draw(machine);;) {
        if (action.calculated && counters->calculating != NULL)
            counters->calculating(counters->self);
        switch (action.type) {
        case DCA_ACTION_FETCH_ADD:
            action = dca_take_answer(machine, counters->fetch_add(counters->self, (enum dca_counter)action.counter,
                                                                  action.amount, action.assigns));
            break;
        case DCA_ACTION_EXCHANGE:
            counters->share(counters->self, &machine->own, machine->core->fresh);
            machine->core->fresh[machine->worker] = machine->own;
            action = dca_take_measured(machine);
            break;
        case DCA_ACTION_DRAW: {
            enum dca_drawn result = counters->draw(counters->self, chunk);
            action = dca_take_from_queue(machine, result, chunk);
            break;
        }
        case DCA_ACTION_PUBLISH: {
            const struct range big = action.range;
            counters->publish(counters->self, &big);
            action = dca_begin_draw(machine);
            break;
        }
        case DCA_ACTION_AWAIT:
            counters->await(counters->self);
            action = dca_begin_draw(machine);
            break;
        case DCA_ACTION_STARVE:
            counters->starve(counters->self);
            action = dca_begin_draw(machine);
            break;
        case DCA_ACTION_COMPUTE: *chunk = action.range; return true;
        default: return false;
        }
    }
}

uint64_t dca_machine_give(struct dca_machine *machine, const struct dca_counters *counters,
                          struct range (*cut)(void *context), void *context)
{
    dca_claim(machine);
    if (dca_take_claim(machine, counters->claim(counters->self)).type != DCA_ACTION_CUT)
        return 0;
    const struct range off = cut(context);
    const struct dca_action action = dca_take_cut(machine, &off);
    counters->give(counters->self, &action.range);
    return action.range.count;
}

void dca_machine_stop(struct dca_machine *machine, const struct dca_counters *counters)
{
    const struct dca_action action = dca_machine_step(machine, &(struct dca_event){.type = DCA_EVENT_STOP});
    if (action.type != DCA_ACTION_STOP)
        return;
    if (counters->stop_queue != NULL)
        counters->stop_queue(counters->self);
    for (unsigned counter = 0; counter < DCA_COUNTERS; counter++)
        if ((action.counters & 1u << counter) != 0)
            counters->fetch_add(counters->self, (enum dca_counter)counter, action.amount, false);
}

bool dca_is_stopped(const struct dca_core *core, const struct dca_counters *counters)
{
    return counters->fetch_add(counters->self, DCA_STEP, 0, false) >= core->stop;
}
