/* SPDX-License-Identifier: MIT */
/* worker: drives the worker's machine and runs the kernel. */
#include "worker/program.h"
#include "common/config/dca_options.h"
#include "common/config/job.h"
#include "common/config/rank_options.h"
#include "common/config/run_spec.h"
#include "common/job/job_setup.h"
#include "common/job/participate.h"
#include "common/job/startup.h"
#include "common/job/status.h"
#include "common/job/timings.h"
#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/machine/probe.h"
#include "common/machine/topology.h"
#include "common/mpi/runtime.h"
#include "common/os/busy.h"
#include "common/os/clock.h"
#include "common/os/load.h"
#include "common/results/results.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "hdss/kernel.h"
#include "proto/message.h"
#include "worker/dca/program.h"
#include "worker/exec/helper.h"
#include "worker/exec/inline.h"
#include "worker/exec/openmp_pool.h"
#include "worker/exec/pipeline.h"
#include "worker/exec/remote_team.h"
#include "worker/exec/thread_pool.h"
#include "worker/helper/config.h"
#include "worker/helper/start.h"
#include "worker/kernels/kernels.h"
#include "worker/worker.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

struct program {
    struct worker_options options;
    struct job_setup setup;
    struct error error;
    const char *failure; /* reason why the worker cannot compute, NULL if it can */
    struct runtime *runtime;
    const struct topology *topology;
    struct worker worker;
    struct boundaries boundaries; /* the worker's, where iterations depend on those before them */
    unsigned threads;
    union {
        struct exec exec;         /* with one thread */
        struct thread_pool team;  /* with several */
        struct pipeline pipeline; /* for loops whose iterations depend on earlier ones */
    };
    bool is_isolated; /* a helper runs the kernel */
    struct helper_program helper;
    struct helper_start helper_start;
    struct executor *executor; /* the one above that the job asks for; NULL where there is no job */
    bool is_open;              /* the executor is */
    struct load_meter meter;
    struct effects effects;
    uint64_t processor_ns;             /* processor time before the first chunk; 0 before that */
    struct timings timings;            /* with --record-costs */
    uint64_t timed_first, timed_count; /* the chunk that runs */
};

/* The part of the executor that runs the kernel, where a helper does. */
static const struct exec *program_exec(const struct program *program)
{
    return job_setup_is_dependent(&program->setup) ? &program->pipeline.exec : &program->exec;
}

/* --- what is measured of chunks --- */

/* Processor time of the worker, and of its helper. */
static uint64_t program_processor_ns(const struct program *program)
{
    uint64_t helpers_ns = 0;
    if (program->is_isolated)
        helpers_ns = program->threads > 1 ? remote_team_processor_ns(&program->team)
                                          : helper_processor_ns(&program_exec(program)->remote.helper);
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID) + helpers_ns;
}

/* Processor time counts from the first chunk on. */
static void note_chunk_begins(void *context, uint64_t first, uint64_t count)
{
    struct program *program = context;
    if (program->processor_ns == 0)
        program->processor_ns = program_processor_ns(program);
    if (program->effects.chunk_ends == NULL)
        program->effects.chunk_begins = NULL; /* the others need not be told */
    program->timed_first = first;
    program->timed_count = count;
}

/* Records the times of a chunk, with --record-costs. */
static void note_chunk_ends(void *context, const struct chunk_event *chunk)
{
    struct program *program = context;
    double iterations = (double)program->timed_count;
    assert(program->timed_count > 0 && "a chunk begins before it ends");
    timings_add(&program->timings, program->timed_first, program->timed_count,
                (double)chunk->compute_ns / 1000 / iterations / program->options.slowdown);
}

static void write_costs(struct program *program)
{
    const char *path = program->setup.job.costs;
    if (path[0] != '\0' && program->failure == NULL &&
        timings_write_part(&program->timings, path, runtime_rank(program->runtime), &program->error) < 0)
        fprintf(stderr, "worker: rank %u: --record-costs: %s\n", runtime_rank(program->runtime), program->error.text);
    timings_fini(&program->timings);
}

/* --- sharing cores --- */

/* Notes the share of the cores; not where iterations wait, or the worker is slowed down, which leaves the cores to
 * others. */
static void note_sharing(void *context)
{
    struct program *program = context;
    if (program->failure == NULL && job_setup_computes(&program->setup) && program->options.slowdown <= 1)
        runtime_note_sharing(program->runtime, &program->executor->figures);
}

static void tell_processor_time(void *context, struct threads *threads)
{
    struct program *program = context;
    if (threads->cores > 0 && program->processor_ns > 0)
        threads->processor_ns = program_processor_ns(program) - program->processor_ns;
}

/* --- the executor --- */

static void choose_threads(struct program *program)
{
    unsigned wanted = program->setup.job.spec.threads, cores = openmp_pool_cores();
    program->threads = wanted > 0 ? wanted : cores < RUN_THREADS_MAX ? cores : RUN_THREADS_MAX;
    if (program->threads > 1 && !openmp_pool_is_possible() && program->failure == NULL) {
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

/* Makes ready what begins a helper, where the kernel is to run in one. Where nobody has asked for it a worker without
 * the program does without. */
static void prepare_helper(struct program *program, unsigned words, char *const *word)
{
    if (program->failure != NULL || !job_setup_is_isolated(&program->setup))
        return;
    program->is_isolated = helper_program_init(&program->helper, words, word, &program->error) == 0;
    program->helper_start = (struct helper_start){helper_program_begin, &program->helper};
    const struct run_spec *spec = &program->setup.job.spec;
    if (!program->is_isolated && (spec->isolate == RUN_ISOLATE_ON || spec->timeout == RUN_TIMEOUT_GIVEN))
        program->failure = program->error.text;
}

/* Takes the job. A user's kernel is loaded here only where no helper runs it. */
static void take_job(struct program *program, unsigned words, char *const *word)
{
    if (job_setup_take(&program->setup, &kernel_loader, (int)words, word, &program->error) < 0)
        program->failure = program->error.text;
    prepare_helper(program, words, word);
    if (program->failure != NULL || program->is_isolated || !program->setup.is_described)
        return;
    if (job_setup_make(&program->setup, &kernel_loader, (int)words, word, &program->error) < 0)
        program->failure = program->error.text;
}

/* Chooses the executor by the job, also where the kernel cannot be opened then. */
static void open_executor(struct program *program)
{
    const struct job_setup *setup = &program->setup;
    const unsigned rank = runtime_rank(program->runtime), w = topology_worker(program->topology, rank);
    struct exec_config config = {
        .worker = {rank, program->topology->worker_node[w], w + 1},
        .slowdown = program->options.slowdown,
        .helper = program->is_isolated ? &program->helper_start : NULL,
    };
    const char *error;
    if (program->failure != NULL)
        return;
    executor_config_of_job(&config, &program->setup);
    if (job_setup_is_dependent(setup)) {
        const struct pipeline_config dependent = {
            .exec = config,
            .points = job_setup_sync_points(setup, program->topology->workers),
            .end = setup->first + setup->count,
        };
        program->executor = &program->pipeline.executor;
        program->is_open = pipeline_init(&program->pipeline, &dependent) == 0;
        error = program->pipeline.exec.error;
    } else if (program->threads > 1) {
        const struct thread_pool_config threaded = {
            .exec = config,
            .threads = program->threads,
            .technique = &program->setup.job.spec.thread_technique,
            .cores = openmp_pool_cores(),
        };
        if (program->is_isolated)
            openmp_pool_unbind();
        program->executor = &program->team.executor;
        program->is_open = thread_pool_init(&program->team, &threaded) == 0;
        error = program->team.error;
    } else {
        program->executor = &program->exec.executor;
        program->is_open = exec_init(&program->exec, &config) == 0;
        error = program->exec.error;
    }
    if (!program->is_open)
        program->failure = error;
}

/* True if the load of the cores is measured: not where the kernel has processes of its own, which are not this one. */
static bool dca_program_uses_acp(const struct program *program)
{
    const struct job_setup *setup = &program->setup;
    return program->failure == NULL && setup->job.spec.weighting == SCHED_WEIGHTING_ACP &&
           setup->kernel->descriptor == NULL;
}

static void dca_program_open_meter(struct program *program)
{
    if (!dca_program_uses_acp(program))
        return;
    if (load_meter_init(&program->meter, LOAD_FOLDER, &program->error) < 0)
        program->failure = program->error.text;
    else
        load_meter_settle(&program->meter);
}

static void init_machine(struct program *program)
{
    const struct job *job = &program->setup.job;
    const struct threads *figures = program->executor != NULL ? &program->executor->figures : NULL;
    const struct worker_config config = {
        .spec = &job->spec,
        .rank = runtime_rank(program->runtime),
        .master = runtime_master_of(program->runtime, runtime_rank(program->runtime)),
        .supermaster = runtime_supermaster(program->runtime),
        .probe = run_spec_probes(&job->spec) && program->setup.count > 0,
        .in_steps = program->setup.loop.steps > 1,
        .threads = program->threads > 1 && program->failure == NULL ? figures : NULL,
        .alone = figures,
        .load = dca_program_uses_acp(program) ? load_to_wire(program->meter.load) : 0,
        .boundaries = job_setup_is_dependent(&program->setup) ? &program->boundaries : NULL,
        .boundary_bytes = program->setup.loop.sync * program->setup.loop.boundary_bytes,
        .end = program->setup.first + program->setup.count,
        .topology = program->topology,
    };
    worker_init(&program->worker, &config);
}

static int drive(void *context)
{
    struct program *program = context;
    const struct machine machine = worker_machine(&program->worker);
    assert((program->is_open || program->failure != NULL) && "a worker without a kernel says why");
    program->effects = (struct effects){
        .context = program,
        .executor = program->executor,
        .chunk_begins = note_chunk_begins,
        .chunk_ends = program->setup.job.costs[0] != '\0' ? note_chunk_ends : NULL,
        .meter = dca_program_uses_acp(program) ? &program->meter : NULL,
        .begun = note_sharing,
        .tell = tell_processor_time,
    };
    return runtime_drive(program->runtime, &machine, &program->effects, program->failure);
}

static int drive_executor(struct program *program)
{
    bool has_threads = program->threads > 1 && program->failure == NULL && !program->is_isolated;
    int status = has_threads ? openmp_pool_run(&program->team, drive, program) : drive(program);
    write_costs(program);
    if (program->is_open)
        executor_fini(program->executor);
    if (program->is_isolated)
        helper_program_fini(&program->helper);
    return status;
}

static int run_dca_loop(void *context, struct runtime *runtime, unsigned words, char *const *word)
{
    struct program *program = context;
    program->runtime = runtime;
    take_job(program, words, word);
    program->topology = runtime_group(program->runtime, program->setup.job.spec.group_by == RUN_GROUP_BY_NODE);
    if (program->topology == NULL) {
        fprintf(stderr, "worker: rank %u: out of memory\n", runtime_rank(program->runtime));
        exit(EXIT_STATUS_FAILED); /* the launcher ends the others */
    }
    choose_threads(program);
    open_executor(program);
    dca_program_open_meter(program);
    init_machine(program);
    return drive_executor(program);
}

/* Reads the command line, and puts the load on the core before MPI begins: its processes are copies of this one. */
static int dca_program_read_command_line(struct program *program, int argc, char **argv)
{
    int result = worker_options_parse(&program->options, argc, argv, &program->error);
    if (result != 0 || !program->options.loaded)
        return result;
    return busy_start(program->options.load, &program->error);
}

int worker_program(int argc, char **argv, const char *version)
{
    static struct program program;
    const bool is_dca = dca_is_asked(argc, argv);
    runtime_remember_signals(is_dca ? status_tell_draining : NULL);
    if (is_dca)
        return dca_program(argc, argv, version);
    struct startup startup = {.program = "worker", .version = version};
    startup_take(&startup, dca_program_read_command_line(&program, argc, argv), &program.error, worker_help_text);
    const struct participant participant = {
        .role = ROLE_WORKER,
        .has_threads = !program.options.no_threads, /* threads by --threads or a plugin: the job is unknown */
        .run = run_dca_loop,
        .context = &program,
    };
    return participate(&participant, &startup, argc, argv);
}
