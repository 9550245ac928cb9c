/* SPDX-License-Identifier: MIT */
/* See team.h. */
#include "deploy/simulate/simgrid/team.h"

#include "common/config/run_spec.h"
#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/machine/probe.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "deploy/simulate/simgrid/module.h"
#include "deploy/simulate/simgrid/rank.h"
#include "deploy/simulate/virtual/cluster.h"
#include "deploy/simulate/virtual/thread_model.h"
#include "proto/record.h"

/* More than the delay of an alarm. */
#define DEAF_NS 50000.0

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
    (void)isolated; /* simulated iterations do not fail */
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

int simulated_team_init(struct simulated_team *team, struct simulated_run *run, unsigned w)
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
