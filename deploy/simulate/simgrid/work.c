/* SPDX-License-Identifier: MIT */
/* See work.h. Computing and other work of the worker overlap, as in deploy/simulate/virtual: the chunk makes progress
 * while the worker does other work. */
#include "deploy/simulate/simgrid/work.h"

#include "common/config/run_spec.h"
#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/machine/probe.h"
#include "common/machine/spread.h"
#include "common/machine/topology.h"
#include "common/util/ranges.h"
#include "deploy/simulate/simgrid/rank.h"
#include "deploy/simulate/virtual/breaks.h"
#include "deploy/simulate/virtual/cluster.h"
#include "deploy/simulate/virtual/machines.h"
#include "deploy/simulate/virtual/perturb.h"
#include "proto/record.h"
#include "worker/kernels/costs/costs.h"

#include <smpi/smpi.h>

/* Length of a turn. It may be longer than a real turn, because a message ends the turn early, except near the end of a
 * chunk: see simulated_come_to(). The worker checks its timers every LOOK_NS. */
#define TURN_NS 2e6
#define LOOK_NS 1e9
/* Length of a turn while a message waits. After a shorter turn the driver might not check for messages. */
#define SOON_NS 3e3

static struct simulated_work *work_of(struct executor *executor)
{
    return (struct simulated_work *)executor;
}

static double slowed_ns(const struct simulated_work *work, double from_ns, double ns)
{
    return perturbed_ns(work->run->perturbations, work->rank, from_ns, ns);
}

double simulated_part_ns(const struct simulated_work *work, double from_ns, uint64_t count, uint64_t parts)
{
    double cost_ns = virtual_cost_ns(work->run->config, costs_ns(work->run->costs, work->first, count), count);
    double core_ns = (cost_ns + work->call_ns * (double)parts) / work->speed;
    return slowed_ns(work, from_ns, core_ns * work->load / (double)parts);
}

double simulated_range_ns(const struct simulated_work *work, double from_ns, double call_ns, uint64_t first,
                          uint64_t count)
{
    double cost_ns = virtual_cost_ns(work->run->config, costs_ns(work->run->costs, first, count), count);
    return slowed_ns(work, from_ns, (cost_ns + call_ns) / work->speed * work->load);
}

static double time_ns(const struct simulated_work *work, uint64_t count)
{
    return simulated_part_ns(work, (double)work->started_ns, count, 1);
}

void simulated_compute_until(double at_ns)
{
    struct simulated_rank *self = simulated_self();
    simulated_clear(self);
    self->computed = true;
    simulated_execute(self, at_ns - (double)simulated_now());
}

bool simulated_probe(struct executor *executor, struct speed *speed)
{
    const struct simulated_work *work = work_of(executor);
    const struct virtual_config *config = work->run->config;
    struct probe probe;
    double began_ns = (double)simulated_now(), all_ns = 0;
    machines_begin_probe(config, &probe);
    for (uint64_t count; (count = probe_next(&probe)) > 0;) {
        double sum_ns = 0;
        for (uint64_t k = probe.done; k < probe.done + count; k++) {
            double cost_ns = virtual_probed_ns(config, costs_ns(work->run->costs, probe_iteration(&probe, k), 1));
            double iteration_ns = slowed_ns(work, began_ns + all_ns, cost_ns / work->speed);
            probe_add_single(&probe, k, iteration_ns);
            sum_ns += iteration_ns;
            all_ns += iteration_ns;
        }
        probe_add(&probe, count, (uint64_t)sum_ns);
    }
    simulated_compute_until(began_ns + (double)probe.elapsed_ns);
    probe_finish(&probe, speed);
    return true;
}

void simulated_begin(struct executor *executor, uint64_t first, uint64_t count, uint64_t mark, bool isolated)
{
    struct simulated_work *work = work_of(executor);
    (void)isolated;
    const double before_ns = work->count > 0 ? (double)work->started_ns : -1;
    work->running = true;
    work->first = first;
    work->count = count;
    work->done = work->sliced = work->looked_at = 0;
    work->left_ns = 0;
    work->mark = mark;
    work->started_ns = simulated_now() + (uint64_t)simulated_core_ns(simulated_self(), simulated_self()->owed_ns);
    work->call_ns = virtual_call_ns(work->run->config, before_ns, (double)work->started_ns);
}

void simulated_set_mark(struct executor *executor, uint64_t mark)
{
    work_of(executor)->mark = mark;
}

static uint64_t simulated_begun(const struct simulated_work *work)
{
    const double passed_ns = (double)simulated_now() - (double)work->started_ns;
    uint64_t over = work->done, not_over = work->count;
    while (not_over - over > 1) {
        uint64_t middle = over + (not_over - over) / 2;
        *(time_ns(work, middle) <= passed_ns ? &over : &not_over) = middle;
    }
    return over < work->count ? over + 1 : over;
}

static struct range simulated_cut(struct executor *executor, unsigned waiting)
{
    struct simulated_work *work = work_of(executor);
    if (!work->running)
        return (struct range){0};
    uint64_t given = recall_share(work->count - simulated_begun(work), 1, waiting);
    work->count -= given;
    if (work->mark >= work->count)
        work->mark = 0;
    return (struct range){work->first + work->count, given};
}

static void time_pieces(const struct simulated_work *work, struct chunk_event *chunk)
{
    struct spread spread = {0};
    double iteration_ns = (double)chunk->compute_ns / (double)work->count, before_ns = 0;
    for (uint64_t done = 0, piece; done < work->count; done += piece) {
        piece = spread_piece(work->count, work->count - done, iteration_ns);
        double now_ns = time_ns(work, done + piece);
        spread_add(&spread, piece, now_ns - before_ns);
        before_ns = now_ns;
    }
    chunk->deviation_ns = spread_deviation_ns(&spread);
    chunk->samples = (uint32_t)spread.pieces;
}

uint64_t simulated_next_slice(const struct simulated_work *work)
{
    uint64_t record_bytes = work->run->config->phantom_bytes;
    uint64_t slice = record_bytes == 0 ? UINT64_MAX : record_bytes < SLICE_MAX ? SLICE_MAX / record_bytes : 1;
    return work->count - work->sliced > slice ? work->sliced + slice : work->count;
}

void simulated_attach_results(struct simulated_work *work, struct chunk_event *chunk, uint64_t count)
{
    chunk->count = count;
    chunk->bytes = count * work->run->config->phantom_bytes;
    if (chunk->bytes > 0)
        chunk->data = chunk->bytes <= INLINE_MAX ? work->small + SIMULATED_HEADROOM : work->run->results;
}

void simulated_hand_over(struct simulated_work *work, struct chunk_event *chunk)
{
    simulated_attach_results(work, chunk, work->done - work->sliced);
    work->sliced = work->done;
}

void simulated_finish(struct simulated_work *work, struct chunk_event *chunk)
{
    chunk->began_ns = work->started_ns;
    work->running = false;
    if (run_spec_learns(&work->run->config->spec))
        time_pieces(work, chunk);
}

bool simulated_come_to(double end_ns, double deaf_ns)
{
    const double now_ns = (double)simulated_now();
    if (end_ns - now_ns > 2 * deaf_ns) {
        double until_ns = end_ns - now_ns > LOOK_NS ? now_ns + LOOK_NS : end_ns - deaf_ns;
        mailbox_idle(NULL, NULL, (uint64_t)now_ns, (uint64_t)until_ns, false, NULL, NULL);
        if (simulated_now() == (uint64_t)now_ns)
            simulated_compute_until(now_ns + SOON_NS);
        return false;
    }
    simulated_compute_until(end_ns);
    return true;
}

/* Moves the start of the running chunk to a later time, because the chunk made no progress while the worker served
 * others. */
static void leave_out_service(struct simulated_work *work)
{
    if (!work->serves)
        return;
    simulated_work(simulated_self(), 0);
    if (work->left_ns > 0 && work->left_ns > work->started_ns)
        work->started_ns += simulated_now() - work->left_ns;
    else if (work->started_ns < simulated_now())
        work->started_ns = simulated_now();
}

static enum turn leave_off(struct simulated_work *work, enum turn turn)
{
    work->left_ns = simulated_now();
    return turn;
}

static double next_break_ns(struct simulated_work *work)
{
    const double iteration_ns = time_ns(work, work->count) / (double)work->count;
    const uint64_t stride = break_stride(iteration_ns, work->run->config->spec.break_after);
    const uint64_t next = break_next(work->looked_at, simulated_begun(work), stride);
    work->looked_at = next < work->count ? next : work->count;
    return (double)work->started_ns + time_ns(work, work->looked_at);
}

static bool compute_to_break(struct simulated_work *work, double end_ns)
{
    const double now_ns = (double)simulated_now();
    if (end_ns - now_ns <= BREAK_NS)
        return false;
    mailbox_idle(NULL, NULL, (uint64_t)now_ns, (uint64_t)(end_ns - BREAK_NS), false, NULL, NULL);
    const double break_ns = next_break_ns(work);
    simulated_compute_until(break_ns < end_ns ? break_ns : end_ns);
    return true;
}

static enum turn simulated_advance(struct executor *executor, struct event *event)
{
    struct simulated_work *work = work_of(executor);
    if (!work->running || simulated_self()->is_gone)
        return TURN_BLOCKED;
    leave_out_service(work);
    uint64_t slice = simulated_next_slice(work);
    bool marked = work->mark > work->done && work->mark < work->count && work->mark <= slice;
    uint64_t next = marked ? work->mark : slice;
    const double end_ns = (double)work->started_ns + time_ns(work, next);
    if (work->serves && compute_to_break(work, end_ns))
        return leave_off(work, TURN_WORKED);
    if (!simulated_come_to(end_ns, TURN_NS))
        return TURN_WORKED;
    work->done = next;
    if (simulated_self()->is_gone)
        return TURN_BLOCKED;
    event->now_ns = simulated_now();
    event->type = marked ? EVENT_MARK : work->done < work->count ? EVENT_SLICE : EVENT_FINISHED;
    event->chunk.done = work->done;
    event->chunk.compute_ns = event->now_ns - work->started_ns;
    if (marked)
        work->mark = 0;
    else
        simulated_hand_over(work, &event->chunk);
    if (event->type == EVENT_FINISHED)
        simulated_finish(work, &event->chunk);
    return leave_off(work, TURN_EVENT);
}

void simulated_sent(struct executor *executor, const void *data)
{
    (void)executor, (void)data;
}

void simulated_fini(struct executor *executor)
{
    (void)executor;
}

static const struct executor_ops simulated_work_ops = {
    .probe = simulated_probe,
    .begin = simulated_begin,
    .set_mark = simulated_set_mark,
    .cut = simulated_cut,
    .advance = simulated_advance,
    .sent = simulated_sent,
    .fini = simulated_fini,
};

void simulated_work_init(struct simulated_work *work, struct simulated_run *run, unsigned w)
{
    const struct virtual_config *config = run->config;
    *work = (struct simulated_work){
        .executor.ops = &simulated_work_ops,
        .run = run,
        .rank = run->topology->worker_rank[w],
        .flops_per_ns = simulated_speed(),
        .speed = config->speeds != NULL ? config->speeds[w] : 1,
        .load = machines_load(config, w),
    };
}
