/* SPDX-License-Identifier: MIT */
/* The module for ranks that are workers, with the executors for loops with dependencies and for several threads. */
#include "deploy/simulate/simgrid/module.h"

#include "common/config/run_spec.h"
#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/machine/probe.h"
#include "common/machine/topology.h"
#include "common/mpi/runtime.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "deploy/simulate/simgrid/rank.h"
#include "deploy/simulate/simgrid/run.h"
#include "deploy/simulate/simgrid/work.h"
#include "deploy/simulate/virtual/cluster.h"
#include "deploy/simulate/virtual/columns.h"
#include "deploy/simulate/virtual/machines.h"
#include "deploy/simulate/virtual/thread_model.h"
#include "proto/record.h"
#include "worker/worker.h"

#include <stdlib.h>

/* An alarm may be late by up to this. */
#define LAST_MOMENT_NS 3000
#define DEAF_NS        50000.0

struct simulated_team {
    struct simulated_work work; /* must be the first member; the chunk in it is not used */
    struct thread_model model;
};

static struct simulated_team *simulated_team_of(struct executor *executor)
{
    return (struct simulated_team *)executor;
}

static double simulated_thread_ns(void *context, const struct thread_work *work)
{
    const struct simulated_team *team = context;
    const struct virtual_config *config = team->work.run->config;
    const double calls_ns =
        virtual_call_ns(config, work->before_ns, (double)work->start_ns) + config->call_ns * (double)(work->calls - 1);
    return simulated_range_ns(&team->work, (double)work->start_ns, calls_ns, work->first, work->count);
}

static bool simulated_team_probe(struct executor *executor, struct speed *speed)
{
    simulated_probe(executor, speed);
    speed_share(speed, simulated_team_of(executor)->model.threads);
    return true;
}

static void simulated_team_begin(struct executor *executor, uint64_t first, uint64_t count, uint64_t mark,
                                 bool isolated)
{
    const struct simulated_rank *self = simulated_self();
    (void)isolated;
    thread_model_begin(&simulated_team_of(executor)->model,
                       simulated_now() + (uint64_t)simulated_core_ns(self, self->owed_ns), first, count, mark);
}

static void simulated_team_set_mark(struct executor *executor, uint64_t mark)
{
    thread_model_set_mark(&simulated_team_of(executor)->model, mark);
}

static void simulated_team_forget(struct executor *executor)
{
    thread_model_forget(&simulated_team_of(executor)->model, simulated_now());
}

static struct range simulated_team_cut(struct executor *executor, unsigned waiting)
{
    return thread_model_cut(&simulated_team_of(executor)->model, simulated_now(), waiting);
}

static enum turn simulated_team_advance(struct executor *executor, struct event *event)
{
    struct simulated_team *team = simulated_team_of(executor);
    struct thread_model_event next;
    if (team->model.is_out_of_memory)
        simulated_give_up(team->work.run, team->work.rank, "out of memory");
    if (simulated_self()->is_gone || team->model.is_out_of_memory || !thread_model_next(&team->model, &next))
        return TURN_BLOCKED;
    if (!simulated_come_to((double)next.at_ns, DEAF_NS)) {
        const uint64_t hears_ns = thread_model_hears_ns(&team->model, simulated_now());
        simulated_compute_until((double)(hears_ns < next.at_ns ? hears_ns : next.at_ns));
        return TURN_WORKED;
    }
    if (simulated_self()->is_gone)
        return TURN_BLOCKED;
    event->now_ns = simulated_now();
    const struct range results = thread_model_take(&team->model, &next, event->now_ns, event);
    if (results.count > 0)
        simulated_attach_results(&team->work, &event->chunk, results.count);
    return TURN_EVENT;
}

static const struct executor_ops simulated_team_ops = {
    .probe = simulated_team_probe,
    .begin = simulated_team_begin,
    .set_mark = simulated_team_set_mark,
    .forget = simulated_team_forget,
    .cut = simulated_team_cut,
    .advance = simulated_team_advance,
    .sent = simulated_sent,
    .fini = simulated_fini,
};

static int simulated_team_init(struct simulated_team *team, struct simulated_run *run, unsigned w)
{
    const struct run_spec *spec = &run->config->spec;
    const uint64_t record_bytes = run->config->phantom_bytes;
    struct error error;
    simulated_work_init(&team->work, run, w);
    team->work.executor.ops = &simulated_team_ops;
    if (thread_model_init(&team->model, team->work.rank, spec->threads, &spec->thread_technique, simulated_thread_ns,
                          team, &error) < 0)
        return -1;
    team->model.slice = record_bytes == 0 ? 0 : record_bytes < SLICE_MAX ? SLICE_MAX / record_bytes : 1;
    team->model.spread = run_spec_learns(spec);
    return 0;
}

/* Loops with dependencies: a chunk is computed in steps. Each step begins after its boundary data have arrived, as in
 * deploy/simulate/virtual/dependent.c. No iteration is really computed. So boundary data have the right size but no
 * content, and all ranks share the same bytes. */

struct simulated_halo {
    uint64_t at;
    uint64_t bytes;
    uint64_t announced;
    unsigned awaited;
};

#define SIMULATED_BOUNDARIES_MAX (HALO_SENDS_MAX + HALO_RECEIVES_MAX)

struct simulated_pipeline {
    struct simulated_work work;
    struct boundaries boundaries;
    struct simulated_halo halos[SIMULATED_BOUNDARIES_MAX];
    unsigned halo_count;
    uint64_t step;
    uint64_t steps;
    double at_ns;
    double step_ns;
    double compute_ns;
    bool in_step;
    bool has_waited;
    bool ready_due;
};

static struct simulated_pipeline *simulated_pipeline_of(struct executor *executor)
{
    return (struct simulated_pipeline *)executor;
}

static const struct virtual_config *config_of(const struct simulated_pipeline *pipeline)
{
    return pipeline->work.run->config;
}

static struct simulated_halo *sim_pipeline_find_halo(struct simulated_pipeline *pipeline, uint64_t at)
{
    for (unsigned i = 0; i < pipeline->halo_count; i++)
        if (pipeline->halos[i].at == at)
            return &pipeline->halos[i];
    return NULL;
}

static struct simulated_halo *sim_pipeline_take_halo(struct simulated_pipeline *pipeline, uint64_t at)
{
    struct simulated_halo *boundary_at = sim_pipeline_find_halo(pipeline, at);
    if (boundary_at != NULL)
        return boundary_at;
    if (pipeline->halo_count == SIMULATED_BOUNDARIES_MAX)
        simulated_give_up(pipeline->work.run, pipeline->work.rank, "boundary data of more chunks than it can hold");
    boundary_at = &pipeline->halos[pipeline->halo_count++];
    *boundary_at = (struct simulated_halo){.at = at};
    return boundary_at;
}

/* Takes boundary data that came in a message. If earlier data were announced but are still on their way (`awaited`),
 * `bytes` must not grow yet. */
static void simulated_take_boundary(struct executor *executor, uint64_t first, uint64_t offset, const void *data,
                                    uint64_t bytes)
{
    struct simulated_halo *boundary_at = sim_pipeline_take_halo(simulated_pipeline_of(executor), first);
    (void)data;
    boundary_at->announced = offset + bytes;
    if (boundary_at->awaited == 0)
        boundary_at->bytes = boundary_at->announced;
}

static void *simulated_await_boundary(struct executor *executor, uint64_t first, uint64_t offset, uint64_t bytes)
{
    struct simulated_pipeline *pipeline = simulated_pipeline_of(executor);
    struct simulated_halo *boundary_at = sim_pipeline_take_halo(pipeline, first);
    boundary_at->announced = offset + bytes;
    boundary_at->awaited++;
    return pipeline->work.run->boundary + offset;
}

static void simulated_boundary_came(struct executor *executor, uint64_t first, uint64_t offset, uint64_t bytes)
{
    struct simulated_halo *boundary_at = sim_pipeline_take_halo(simulated_pipeline_of(executor), first);
    boundary_at->awaited--;
    boundary_at->bytes = boundary_at->awaited == 0 ? boundary_at->announced : offset + bytes;
}

static void simulated_inherit(struct executor *executor, uint64_t at)
{
    struct simulated_pipeline *pipeline = simulated_pipeline_of(executor);
    sim_pipeline_take_halo(pipeline, at)->bytes = machines_boundary_bytes(config_of(pipeline));
}

static void simulated_release(struct executor *executor, uint64_t at)
{
    (void)executor, (void)at;
}

static void simulated_begin_steps(struct executor *executor, uint64_t first, uint64_t count, uint64_t mark,
                                  bool isolated)
{
    struct simulated_pipeline *pipeline = simulated_pipeline_of(executor);
    simulated_begin(executor, first, count, mark, isolated);
    pipeline->work.started_ns = simulated_now();
    pipeline->work.call_ns = config_of(pipeline)->call_ns;
    pipeline->at_ns = (double)pipeline->work.started_ns;
    pipeline->compute_ns = 0;
    pipeline->step = 0;
    pipeline->steps = columns_steps(config_of(pipeline));
    pipeline->in_step = pipeline->has_waited = pipeline->ready_due = false;
}

static bool sim_pipeline_may_begin(struct simulated_pipeline *pipeline)
{
    const struct virtual_config *config = config_of(pipeline);
    const struct simulated_work *work = &pipeline->work;
    if (work->first == config->first)
        return true;
    const struct simulated_halo *boundary_at = sim_pipeline_find_halo(pipeline, work->first);
    return boundary_at != NULL && boundary_at->bytes >= columns_needed(config, pipeline->step, work->count);
}

static bool is_last_chunk(const struct simulated_pipeline *pipeline)
{
    const struct virtual_config *config = config_of(pipeline);
    return pipeline->work.first + pipeline->work.count == config->first + config->count;
}

/* Continues the step, and returns true at its end. Before the end it returns false, so that the rank can handle
 * messages. A message may announce the worker of the next chunk, which needs complete data. The last LAST_MOMENT_NS of
 * a step are computed without an alarm, because an alarm would come too late. */
static bool sim_pipeline_go_on(struct simulated_pipeline *pipeline)
{
    struct simulated_rank *self = simulated_self();
    double end_ns = pipeline->at_ns + pipeline->step_ns;
    self->look_ns = end_ns > LAST_MOMENT_NS ? (uint64_t)(end_ns - LAST_MOMENT_NS) : 0;
    if (self->look_ns > simulated_now())
        return false;
    self->look_ns = NEVER;
    simulated_compute_until(end_ns);
    pipeline->at_ns += pipeline->step_ns;
    pipeline->compute_ns += pipeline->step_ns;
    pipeline->step++;
    pipeline->in_step = false;
    pipeline->ready_due = !is_last_chunk(pipeline);
    return true;
}

static void sim_pipeline_tell_ready(struct simulated_pipeline *pipeline, struct event *event)
{
    const struct virtual_config *config = config_of(pipeline);
    const struct simulated_work *work = &pipeline->work;
    uint64_t bytes = columns_bytes(config, columns_behind(config, pipeline->step));
    pipeline->ready_due = false;
    event->type = EVENT_BOUNDARY_READY;
    event->ready = (struct boundary_ready){work->first + work->count, work->run->boundary, bytes};
}

static bool sim_pipeline_mark_is_due(struct simulated_pipeline *pipeline, struct event *event)
{
    struct simulated_work *work = &pipeline->work;
    uint64_t done = work->count * pipeline->step / pipeline->steps;
    if (work->mark == 0 || done < work->mark || pipeline->step == pipeline->steps)
        return false;
    work->mark = 0;
    event->type = EVENT_MARK;
    event->chunk.done = done;
    return true;
}

static void sim_pipeline_tell_results(struct simulated_pipeline *pipeline, struct event *event)
{
    struct simulated_work *work = &pipeline->work;
    work->done = simulated_next_slice(work);
    event->type = work->done < work->count ? EVENT_SLICE : EVENT_FINISHED;
    event->chunk.done = work->done;
    simulated_hand_over(work, &event->chunk);
    if (event->type == EVENT_SLICE)
        return;
    struct simulated_halo *boundary_at = sim_pipeline_find_halo(pipeline, work->first);
    if (boundary_at != NULL)
        *boundary_at = pipeline->halos[--pipeline->halo_count];
    simulated_finish(work, &event->chunk);
}

/* Reports the next event that is due. Boundary data come first, because another worker may wait for them. */
static bool sim_pipeline_event_is_due(struct simulated_pipeline *pipeline, struct event *event)
{
    event->now_ns = simulated_now();
    event->chunk.compute_ns = (uint64_t)pipeline->compute_ns;
    if (pipeline->ready_due)
        sim_pipeline_tell_ready(pipeline, event);
    else if (sim_pipeline_mark_is_due(pipeline, event))
        return true;
    else if (pipeline->step == pipeline->steps)
        sim_pipeline_tell_results(pipeline, event);
    else
        return false;
    return true;
}

static enum turn simulated_advance_step(struct executor *executor, struct event *event)
{
    struct simulated_pipeline *pipeline = simulated_pipeline_of(executor);
    if (!pipeline->work.running || simulated_self()->is_gone)
        return TURN_BLOCKED;
    if (!pipeline->in_step && sim_pipeline_event_is_due(pipeline, event))
        return TURN_EVENT;
    if (!pipeline->in_step && !sim_pipeline_may_begin(pipeline)) {
        pipeline->has_waited = true;
        return TURN_BLOCKED;
    }
    if (!pipeline->in_step) {
        const struct simulated_work *work = &pipeline->work;
        if (pipeline->has_waited)
            pipeline->at_ns = (double)simulated_now();
        pipeline->has_waited = false;
        pipeline->step_ns = simulated_part_ns(work, pipeline->at_ns, work->count, pipeline->steps);
        pipeline->in_step = true;
    }
    if (!sim_pipeline_go_on(pipeline) || simulated_self()->is_gone)
        return TURN_BLOCKED;
    return sim_pipeline_event_is_due(pipeline, event) ? TURN_EVENT : TURN_WORKED;
}

static const struct executor_ops simulated_pipeline_ops = {
    .probe = simulated_probe,
    .begin = simulated_begin_steps,
    .set_mark = simulated_set_mark,
    .advance = simulated_advance_step,
    .sent = simulated_sent,
    .fini = simulated_fini,
    .take_boundary = simulated_take_boundary,
    .await_boundary = simulated_await_boundary,
    .boundary_came = simulated_boundary_came,
    .reuse = simulated_inherit,
    .release = simulated_release,
};

static void simulated_pipeline_init(struct simulated_pipeline *pipeline, struct simulated_run *run, unsigned w)
{
    *pipeline = (struct simulated_pipeline){.halo_count = 0};
    simulated_work_init(&pipeline->work, run, w);
    pipeline->work.executor.ops = &simulated_pipeline_ops;
}

static void drive(struct simulated_run *run, unsigned rank, struct boundaries *boundaries, struct executor *executor,
                  const struct threads *threads)
{
    struct worker worker;
    const struct effects effects = {.executor = executor};
    struct worker_config config =
        machines_worker(run->config, run->topology, topology_worker(run->topology, rank), boundaries);
    config.threads = threads;
    worker_init(&worker, &config);
    const struct machine machine = worker_machine(&worker);
    simulated_drive(run, rank, &machine, &effects);
}

static void compute_independent(struct simulated_run *run, unsigned rank, unsigned w)
{
    struct simulated_work work;
    simulated_work_init(&work, run, w);
    drive(run, rank, NULL, &work.executor, NULL);
}

static void compute_with_threads(struct simulated_run *run, unsigned rank, unsigned w)
{
    struct simulated_team *team = malloc(sizeof *team);
    if (team == NULL || simulated_team_init(team, run, w) < 0)
        simulated_give_up(run, rank, "out of memory");
    else
        drive(run, rank, NULL, &team->work.executor, &team->model.figures);
    if (team != NULL)
        thread_model_fini(&team->model);
    free(team);
}

static void compute_dependent(struct simulated_run *run, unsigned rank, unsigned w)
{
    struct simulated_pipeline *pipeline = malloc(sizeof *pipeline);
    if (pipeline == NULL) {
        simulated_give_up(run, rank, "out of memory");
        return;
    }
    simulated_pipeline_init(pipeline, run, w);
    drive(run, rank, &pipeline->boundaries, &pipeline->work.executor, NULL);
    free(pipeline);
}

void simulated_rank(struct simulated_run *run, unsigned rank)
{
    const unsigned w = topology_worker(run->topology, rank);
    if (run->config->columns > 0)
        compute_dependent(run, rank, w);
    else if (run->config->spec.threads > 1)
        compute_with_threads(run, rank, w);
    else
        compute_independent(run, rank, w);
}
