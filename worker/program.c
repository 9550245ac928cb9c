/* SPDX-License-Identifier: MIT */
/* worker: drives the worker's machine and runs the kernel. */
#include "common/os/clock.h"
#include "common/config/flat_options.h"
#include "worker/dca/program.h"
#include "common/machine/probe.h"
#include "common/results/results.h"
#include "common/os/busy.h"
#include "common/mpi/runtime.h"
#include "common/job/plan.h"
#include "common/job/follow.h"
#include "worker/program.h"
#include "common/job/timings.h"
#include "worker/exec/crew.h"
#include "worker/exec/inline.h"
#include "worker/exec/pipeline.h"
#include "worker/worker.h"
#include "worker/kernels/kernels.h"

#include <stdio.h>
#include <stdlib.h>

struct program {
    struct worker_options options;
    struct plan plan;
    struct error error;
    const char *failure; /* why it cannot compute, NULL if it can */
    struct runtime *runtime;
    const struct topology *topology;
    struct worker worker;
    struct boundaries boundaries; /* of it, where iterations depend on those before them */
    unsigned threads;
    struct exec exec;         /* of one thread */
    struct team team;         /* of several */
    struct pipeline pipeline; /* where iterations depend on those before them */
    struct load_meter meter;
    struct effects effects;
    struct threads alone;              /* told at the end where there is one thread */
    uint64_t processor_ns;             /* processor time before its first chunk; 0 before that */
    struct timings timings;            /* with --record-costs */
    uint64_t timed_first, timed_count; /* the chunk that runs */
};

static void probe(void *context, struct speed *speed)
{
    exec_probe(&((struct program *)context)->exec, speed);
}

static void begin_chunk(void *context, uint64_t first, uint64_t count, uint64_t mark, bool careful)
{
    struct exec *exec = &((struct program *)context)->exec;
    exec_run(exec, first, count, mark);
    if (careful)
        exec_take_care(exec);
}

/* --- with --record-costs --- */

static void begin_timed_chunk(void *context, uint64_t first, uint64_t count, uint64_t mark, bool careful)
{
    struct program *program = context;
    program->timed_first = first;
    program->timed_count = count;
    begin_chunk(context, first, count, mark, careful);
}

static enum turn advance_timed(void *context, struct event *event)
{
    struct program *program = context;
    enum turn turn = exec_advance(&program->exec, event);
    if (turn == TURN_EVENT && event->type == EVENT_FINISHED && program->timed_count > 0)
        timings_add(&program->timings, program->timed_first, program->timed_count,
                    (double)event->chunk.compute_ns / 1000 / (double)program->timed_count / program->options.slowdown);
    return turn;
}

static void write_costs(struct program *program)
{
    const char *path = program->plan.job.costs;
    if (path[0] != '\0' && program->failure == NULL &&
        timings_write_part(&program->timings, path, runtime_rank(program->runtime), &program->error) < 0)
        fprintf(stderr, "worker: rank %u: --record-costs: %s\n", runtime_rank(program->runtime), program->error.text);
    timings_fini(&program->timings);
}

/* --- sharing cores --- */

static struct threads *own_figures(struct program *program)
{
    return program->threads > 1 ? &program->team.figures : &program->alone;
}

/* Iterations that wait, and the waiting of a worker that is slowed down, leave the cores to others. */
static void note_sharing(void *context)
{
    struct program *program = context;
    if (program->failure == NULL && plan_computes(&program->plan) && program->options.slowdown <= 1)
        runtime_note_sharing(program->runtime, own_figures(program));
}

static void tell_processor_time(void *context, struct threads *threads)
{
    struct program *program = context;
    if (threads->cores > 0 && program->processor_ns > 0)
        threads->processor_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - program->processor_ns;
}

/* --- */

static void set_mark(void *context, uint64_t mark)
{
    exec_mark(&((struct program *)context)->exec, mark);
}

static enum turn advance(void *context, struct event *event)
{
    return exec_advance(&((struct program *)context)->exec, event);
}

static void sent(void *context, const void *data)
{
    exec_sent(&((struct program *)context)->exec, data);
}

static int descriptor(void *context)
{
    return exec_descriptor(&((struct program *)context)->exec);
}

static int read_results(void *context, uint64_t first, uint64_t count, void *records, struct error *error)
{
    const struct plan *plan = context;
    return results_read(plan->job.output, &plan->loop, first, count, records, error);
}

/* --- dependencies --- */

static void probe_pipeline(void *context, struct speed *speed)
{
    exec_probe(&((struct program *)context)->pipeline.exec, speed);
}

static void begin_pipeline_chunk(void *context, uint64_t first, uint64_t count, uint64_t mark, bool careful)
{
    (void)careful;
    pipeline_run(&((struct program *)context)->pipeline, first, count, mark);
}

static void set_pipeline_mark(void *context, uint64_t mark)
{
    pipeline_mark(&((struct program *)context)->pipeline, mark);
}

static enum turn advance_pipeline(void *context, struct event *event)
{
    return pipeline_advance(&((struct program *)context)->pipeline, event);
}

static void pipeline_has_sent(void *context, const void *data)
{
    pipeline_sent(&((struct program *)context)->pipeline, data);
}

static void take_boundary(void *context, uint64_t first, uint64_t offset, const void *data, uint64_t bytes)
{
    struct pipeline *pipeline = &((struct program *)context)->pipeline;
    if (data != NULL)
        pipeline_take(pipeline, first, offset, data, bytes);
    else
        pipeline_came(pipeline, first, offset, bytes);
}

static void *await_boundary(void *context, uint64_t first, uint64_t offset, uint64_t bytes)
{
    return pipeline_await(&((struct program *)context)->pipeline, first, offset, bytes);
}

static void inherit_seam(void *context, uint64_t seam)
{
    pipeline_inherit(&((struct program *)context)->pipeline, seam);
}

static void release_seam(void *context, uint64_t seam)
{
    pipeline_release(&((struct program *)context)->pipeline, seam);
}

static void halt_pipeline(void *context, const uint64_t *seams, unsigned count)
{
    pipeline_halt(&((struct program *)context)->pipeline, seams, count);
}

static void restart_pipeline(void *context, uint64_t seam)
{
    pipeline_restart(&((struct program *)context)->pipeline, seam);
}

static void open_pipeline(struct program *program, const struct exec_config *exec)
{
    const struct plan *plan = &program->plan;
    const struct pipeline_config config = {
        .exec = *exec,
        .points = plan_sync_points(plan, program->topology->workers),
        .end = plan->first + plan->count,
    };
    if (pipeline_init(&program->pipeline, &config) < 0)
        program->failure = program->pipeline.exec.error;
}

/* --- several threads --- */

static void probe_team(void *context, struct speed *speed)
{
    team_probe(&((struct program *)context)->team, speed);
}

static void begin_team_chunk(void *context, uint64_t first, uint64_t count, uint64_t mark, bool careful)
{
    team_run(&((struct program *)context)->team, first, count, mark, careful);
}

static void set_team_mark(void *context, uint64_t mark)
{
    team_mark(&((struct program *)context)->team, mark);
}

static void forget_chunks(void *context)
{
    team_forget(&((struct program *)context)->team);
}

static enum turn advance_team(void *context, struct event *event)
{
    return team_advance(&((struct program *)context)->team, event);
}

static void team_has_sent(void *context, const void *data)
{
    team_sent(&((struct program *)context)->team, data);
}

static int team_bell(void *context)
{
    return team_descriptor(&((struct program *)context)->team);
}

static void choose_threads(struct program *program)
{
    unsigned wanted = program->plan.job.spec.threads, cores = crew_cores();
    program->threads = wanted > 0 ? wanted : cores < RUN_THREADS_MAX ? cores : RUN_THREADS_MAX;
    if (program->threads > 1 && !crew_is_possible() && program->failure == NULL) {
        error_set(&program->error, "--threads: this build of HDSS has no OpenMP; accepted: 1");
        program->failure = program->error.text;
    }
    if (program->threads > 1 && program->options.no_threads && program->failure == NULL) {
        error_set(&program->error,
                  "--no-threads: the job has --threads %u; accepted: --threads 1, or workers without --no-threads",
                  program->threads);
        program->failure = program->error.text;
    }
}

static void open_team(struct program *program, const struct exec_config *exec)
{
    const struct team_config config = {
        .exec = *exec,
        .threads = program->threads,
        .technique = &program->plan.job.spec.thread_technique,
        .cores = crew_cores(),
    };
    if (team_init(&program->team, &config) < 0)
        program->failure = program->team.error;
}

/* --- */

static void open_kernel(struct program *program)
{
    const struct plan *plan = &program->plan;
    const unsigned rank = runtime_rank(program->runtime), w = topology_worker(program->topology, rank);
    const struct exec_config config = {
        .kernel = plan->kernel,
        .values = plan->values,
        .loop = &plan->loop,
        .worker = {rank, program->topology->worker_node[w]},
        .collect = plan->collect,
        .slowdown = program->options.slowdown,
        .probe_first = plan->first,
        .probe_count = plan->count < plan->each ? plan->count : plan->each,
        .probe_least = run_spec_wants_swr(&plan->job.spec) ? PROBE_SWR : 1,
        .spread = run_spec_learns(&plan->job.spec),
        .each = plan_is_chained(plan) ? plan->each : 0,
        .read = read_results,
        .context = &program->plan,
    };
    if (program->failure != NULL)
        return;
    if (plan_is_dependent(plan))
        open_pipeline(program, &config);
    else if (program->threads > 1)
        open_team(program, &config);
    else if (exec_init(&program->exec, &config) < 0)
        program->failure = program->exec.error;
}

/* Whether the load of the cores is measured: not where the kernel has processes of its own, which are not this one. */
static bool is_weighed(const struct program *program)
{
    const struct plan *plan = &program->plan;
    return program->failure == NULL && plan->job.spec.weighting == SCHED_WEIGHTING_ACP &&
           plan->kernel->descriptor == NULL;
}

static void open_meter(struct program *program)
{
    if (!is_weighed(program))
        return;
    if (load_meter_init(&program->meter, LOAD_FOLDER, &program->error) < 0)
        program->failure = program->error.text;
    else
        load_meter_settle(&program->meter);
}

static void init_machine(struct program *program)
{
    const struct job *job = &program->plan.job;
    const struct worker_config config = {
        .spec = &job->spec,
        .rank = runtime_rank(program->runtime),
        .master = runtime_master_of(program->runtime, runtime_rank(program->runtime)),
        .supermaster = runtime_supermaster(program->runtime),
        .probe = run_spec_probes(&job->spec) && program->plan.count > 0,
        .in_steps = program->plan.loop.steps > 1,
        .threads = program->threads > 1 && program->failure == NULL ? &program->team.figures : NULL,
        .alone = &program->alone,
        .load = is_weighed(program) ? load_to_wire(program->meter.load) : 0,
        .boundaries = plan_is_dependent(&program->plan) ? &program->boundaries : NULL,
        .boundary_bytes = program->plan.loop.sync * program->plan.loop.boundary_bytes,
        .end = program->plan.first + program->plan.count,
        .topology = program->topology,
    };
    program->alone = (struct threads){.worker = config.rank, .count = 1, .max_over_mean = 1};
    worker_init(&program->worker, &config);
}

static const struct effects one_thread = {
    .probe = probe,
    .run = begin_chunk,
    .mark = set_mark,
    .advance = advance,
    .descriptor = descriptor,
    .sent = sent,
};

static const struct effects several_threads = {
    .probe = probe_team,
    .run = begin_team_chunk,
    .mark = set_team_mark,
    .forget = forget_chunks,
    .advance = advance_team,
    .descriptor = team_bell,
    .sent = team_has_sent,
    .helpers_work = true,
};

static const struct effects with_dependencies = {
    .probe = probe_pipeline,
    .run = begin_pipeline_chunk,
    .mark = set_pipeline_mark,
    .advance = advance_pipeline,
    .sent = pipeline_has_sent,
    .boundary = take_boundary,
    .await_boundary = await_boundary,
    .inherit = inherit_seam,
    .release = release_seam,
    .halt = halt_pipeline,
    .restart = restart_pipeline,
};

static struct effects effects_of(struct program *program)
{
    struct effects effects = plan_is_dependent(&program->plan) ? with_dependencies
                             : program->threads > 1            ? several_threads
                                                               : one_thread;
    effects.context = program;
    effects.begun = note_sharing;
    effects.tell = tell_processor_time;
    if (program->plan.job.costs[0] != '\0') {
        effects.run = begin_timed_chunk;
        effects.advance = advance_timed;
    }
    effects.meter = is_weighed(program) ? &program->meter : NULL;
    return effects;
}

/* Processor time counts from the first chunk on. */
static void begin_first_chunk(void *context, uint64_t first, uint64_t count, uint64_t mark, bool careful)
{
    struct program *program = context;
    program->processor_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    program->effects.run = effects_of(program).run;
    program->effects.run(context, first, count, mark, careful);
}

static int drive(void *context)
{
    struct program *program = context;
    const struct machine machine = worker_machine(&program->worker);
    program->effects = effects_of(program);
    program->effects.run = begin_first_chunk;
    return runtime_drive(program->runtime, &machine, &program->effects, program->failure);
}

static int run_kernel(struct program *program)
{
    if (program->threads == 1 || program->failure != NULL) {
        program->threads = 1;
        int status = drive(program);
        write_costs(program);
        exec_fini(&program->exec);
        pipeline_fini(&program->pipeline);
        return status;
    }
    int status = crew_run(&program->team, drive, program);
    team_fini(&program->team);
    return status;
}

static int run(void *context, struct runtime *runtime, unsigned words, char *const *word)
{
    struct program *program = context;
    program->runtime = runtime;
    if (plan_make(&program->plan, &kernel_loader, (int)words, word, &program->error) < 0)
        program->failure = program->error.text;
    program->topology = runtime_group(program->runtime, program->plan.job.spec.group_by == RUN_GROUP_BY_NODE);
    if (program->topology == NULL) {
        fprintf(stderr, "worker: rank %u: out of memory\n", runtime_rank(program->runtime));
        exit(EXIT_STATUS_FAILED); /* the launcher ends the others */
    }
    choose_threads(program);
    open_kernel(program);
    open_meter(program);
    init_machine(program);
    return run_kernel(program);
}

/* The load is put on the core before MPI begins: its processes are copies of this one. */
static int read_command_line(struct program *program, int argc, char **argv)
{
    int result = worker_options_parse(&program->options, argc, argv, &program->error);
    if (result != 0 || !program->options.loaded)
        return result;
    return busy_start(program->options.load, &program->error);
}

int worker_program(int argc, char **argv, const char *version)
{
    static struct program program;
    if (flat_is_asked(argc, argv))
        return flat_program(argc, argv, version);
    struct front front = {.program = "worker", .version = version};
    front_take(&front, read_command_line(&program, argc, argv), &program.error, worker_help_text);
    const struct follower follower = {
        .role = ROLE_WORKER,
        .has_threads = !program.options.no_threads, /* of --threads or of a plugin: the job is not known yet */
        .run = run,
        .context = &program,
    };
    return follow(&follower, &front, argc, argv);
}
