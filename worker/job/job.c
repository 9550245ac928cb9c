/* SPDX-License-Identifier: MIT */
/* A worker's part of a job: see job.h. */
#include "worker/job/job.h"
#include "common/config/job.h"
#include "common/config/run_spec.h"
#include "common/job/job_setup.h"
#include "common/job/status.h"
#include "common/job/surroundings.h"
#include "common/job/timings.h"
#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/machine/probe.h"
#include "common/machine/topology.h"
#include "common/mpi/link.h"
#include "common/mpi/runtime.h"
#include "common/os/clock.h"
#include "common/os/load.h"
#include "common/os/say.h"
#include "common/results/results.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "hdss/kernel.h"
#include "proto/announcement.h"
#include "proto/message.h"
#include "worker/exec/helper.h"
#include "worker/exec/inline.h"
#include "worker/exec/openmp_pool.h"
#include "worker/exec/pipeline.h"
#include "worker/exec/remote_team.h"
#include "worker/exec/thread_pool.h"
#include "worker/helper/config.h"
#include "worker/helper/spare.h"
#include "worker/helper/start.h"
#include "worker/kernels/kernels.h"
#include "worker/worker.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Some ranks also serve others. Such a rank computes for this long between two looks at its messages, if --break-after
 * is not given. A message waits for half of this time on average, about as long as a message between nodes takes. A
 * look costs less than 1 % of this time. */
#define BREAK_NS 50000u

struct worker_job {
    const struct worker_options *options;
    bool is_of_set;
    bool is_beside;
    struct announcement announcement; /* in a set: the job's words and environment; owned */
    struct surroundings surroundings;
    struct surroundings_before before;
    struct job_setup setup;
    struct error error;
    const char *failure;
    struct runtime *runtime;
    const struct topology *topology;
    struct worker worker;
    struct boundaries boundaries;
    unsigned threads;
    union {
        struct exec exec;
        struct thread_pool team;
        struct pipeline pipeline;
    };
    bool is_isolated;
    struct helper_program helper;
    struct helper_start helper_start;
    struct executor *executor;
    bool is_open;
    struct load_meter meter;
    struct machine machine;
    struct effects effects;
    uint64_t processor_ns;
    struct timings timings;
};

/* Returns the executor of one thread, which runs the kernel or talks to its helper. Not for jobs with threads. */
static const struct exec *job_exec(const struct worker_job *job)
{
    return job_setup_is_dependent(&job->setup) ? &job->pipeline.exec : &job->exec;
}

static uint64_t job_processor_ns(const struct worker_job *job)
{
    uint64_t helpers_ns = 0;
    if (job->is_isolated)
        helpers_ns = job->threads > 1 ? remote_team_processor_ns(&job->team)
                                      : helper_processor_ns(&job_exec(job)->remote.helper);
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID) + helpers_ns;
}

static void note_chunk_begins(void *context)
{
    struct worker_job *job = context;
    job->processor_ns = job_processor_ns(job);
    job->effects.chunk_begins = NULL;
}

static void note_chunk_ends(void *context, const struct chunk_event *chunk)
{
    struct worker_job *job = context;
    if (chunk->done > 0)
        timings_add(&job->timings, chunk->first, chunk->done,
                    (double)chunk->compute_ns / 1000 / (double)chunk->done / job->options->slowdown);
}

static void write_costs(struct worker_job *job)
{
    const char *path = job->setup.job.costs;
    if (path[0] != '\0' && job->failure == NULL &&
        timings_write_part(&job->timings, path, runtime_rank(job->runtime), &job->error) < 0)
        say(stderr, "worker: rank %u: --record-costs: %s", runtime_rank(job->runtime), job->error.text);
    timings_fini(&job->timings);
}

static void note_sharing(void *context)
{
    struct worker_job *job = context;
    if (job->failure == NULL && job_setup_computes(&job->setup) && job->options->slowdown <= 1)
        runtime_note_sharing(job->runtime, &job->executor->figures);
}

static void share_chunks(struct worker_job *job)
{
    if (job->failure != NULL || job->executor != &job->exec.executor || job->is_isolated || job->is_beside ||
        job->is_of_set || job->setup.job.spec.recall != RUN_RECALL_ON || job->setup.kernel->descriptor != NULL)
        return;
    job->exec.config.server = &job->worker.config.master;
    job->exec.config.chunk = &job->worker.running.chunk;
    job->exec.config.span = runtime_span(job->runtime);
}

static void begin_with_all(void *context)
{
    note_sharing(context);
    share_chunks(context);
}

static void tell_processor_time(void *context, struct threads *threads)
{
    struct worker_job *job = context;
    if (threads->cores > 0 && job->processor_ns > 0)
        threads->processor_ns = job_processor_ns(job) - job->processor_ns;
}

static void refuse_threads(struct worker_job *job)
{
    if (job->threads <= 1 || job->failure != NULL)
        return;
    if (!openmp_pool_is_possible()) {
        error_set(&job->error, "--threads: this build of HDSS has no OpenMP; accepted: 1");
        job->failure = job->error.text;
    } else if (job->options->no_threads) {
        error_set(&job->error,
                  "--no-threads: the job has --threads %u; accepted: --threads 1, or workers without --no-threads",
                  job->threads);
        job->failure = job->error.text;
    }
}

static void choose_threads(struct worker_job *job)
{
    unsigned wanted = job->setup.job.spec.threads, cores = openmp_pool_cores();
    job->threads = wanted > 0 ? wanted : cores < RUN_THREADS_MAX ? cores : RUN_THREADS_MAX;
    refuse_threads(job);
}

/* In a set, jobs with threads also have a helper: this rank itself must serve other jobs at the same time. */
static bool wants_helper(const struct worker_job *job)
{
    const struct job_setup *setup = &job->setup;
    return job_setup_is_isolated(setup) || (job->is_of_set && run_spec_has_threads(&setup->job.spec));
}

static void prepare_helper(struct worker_job *job, unsigned words, char *const *word)
{
    const struct run_spec *spec = &job->setup.job.spec;
    if (job->failure != NULL || !wants_helper(job))
        return;
    job->is_isolated = helper_program_init(&job->helper, words, word, &job->error) == 0;
    job->helper_start = (struct helper_start){helper_program_begin, &job->helper, .lets_go = job->is_of_set};
    if (job->is_of_set)
        job->helper.surroundings = &job->surroundings;
    if (!job->is_isolated && (spec->isolate == RUN_ISOLATE_ON || spec->timeout == RUN_TIMEOUT_GIVEN || job->is_of_set))
        job->failure = job->error.text;
}

static void take_job(struct worker_job *job, unsigned words, char *const *word)
{
    if (job_setup_take(&job->setup, &kernel_loader, (int)words, word, &job->error) != 0)
        job->failure = job->error.text;
    if (job->is_of_set && job->failure == NULL && job_setup_check_for_set(&job->setup, &job->error) < 0)
        job->failure = job->error.text;
    prepare_helper(job, words, word);
    if (job->failure != NULL || job->is_isolated || !job->setup.is_described)
        return;
    job_setup_fini(&job->setup);
    if (job_setup_make(&job->setup, &kernel_loader, (int)words, word, &job->error) < 0)
        job->failure = job->error.text;
}

static void choose_executor(struct worker_job *job)
{
    if (job->failure != NULL)
        return;
    job->executor = job_setup_is_dependent(&job->setup) ? &job->pipeline.executor
                    : job->threads > 1                  ? &job->team.executor
                                                        : &job->exec.executor;
}

static const char *open_executor(struct worker_job *job)
{
    const struct job_setup *setup = &job->setup;
    const unsigned rank = runtime_rank(job->runtime), w = topology_worker(job->topology, rank);
    struct exec_config config = {
        .worker = {rank, job->topology->worker_node[w], w + 1, topology_beside(job->topology, w)},
        .slowdown = job->options->slowdown,
        .helper = job->is_isolated ? &job->helper_start : NULL,
    };
    executor_config_of_job(&config, &job->setup);
    if (job->is_beside) {
        config.turn_ns = setup->job.spec.break_after == 0 ? BREAK_NS : 0;
        config.turn_iterations = setup->job.spec.break_after;
    }
    if (job_setup_is_dependent(setup)) {
        const struct pipeline_config dependent = {
            .exec = config,
            .points = job_setup_sync_points(setup, job->topology->workers),
            .end = setup->first + setup->count,
        };
        job->is_open = pipeline_init(&job->pipeline, &dependent) == 0;
        return job->is_open ? NULL : job->pipeline.exec.error;
    }
    if (job->threads > 1) {
        const struct thread_pool_config threaded = {
            .exec = config,
            .threads = job->threads,
            .technique = &job->setup.job.spec.thread_technique,
            .cores = openmp_pool_cores(),
        };
        if (job->is_isolated)
            openmp_pool_unbind();
        job->is_open = thread_pool_init(&job->team, &threaded) == 0;
        return job->is_open ? NULL : job->team.error;
    }
    job->is_open = exec_init(&job->exec, &config) == 0;
    return job->is_open ? NULL : job->exec.error;
}

static bool job_uses_acp(const struct worker_job *job)
{
    const struct job_setup *setup = &job->setup;
    return job->failure == NULL && setup->job.spec.weighting == SCHED_WEIGHTING_ACP &&
           setup->kernel->descriptor == NULL;
}

static void job_open_meter(struct worker_job *job)
{
    if (!job_uses_acp(job))
        return;
    if (load_meter_init(&job->meter, LOAD_FOLDER, &job->error) < 0)
        job->failure = job->error.text;
    else
        load_meter_settle(&job->meter);
}

static void init_machine(struct worker_job *job)
{
    const struct run_spec *spec = &job->setup.job.spec;
    const struct threads *figures = job->executor != NULL ? &job->executor->figures : NULL;
    const struct worker_config config = {
        .spec = spec,
        .rank = runtime_rank(job->runtime),
        .master = runtime_master_of(job->runtime, runtime_rank(job->runtime)),
        .supermaster = runtime_supermaster(job->runtime),
        .probe = run_spec_probes(spec) && job->setup.count > 0,
        .in_steps = job->setup.loop.steps > 1,
        .threads = job->threads > 1 && job->failure == NULL ? figures : NULL,
        .ahead = job->is_isolated && !job_setup_is_dependent(&job->setup),
        .alone = figures,
        .load = job_uses_acp(job) ? load_to_wire(job->meter.load) : 0,
        .boundaries = job_setup_is_dependent(&job->setup) ? &job->boundaries : NULL,
        .boundary_bytes = job->setup.loop.sync * job->setup.loop.boundary_bytes,
        .end = job->setup.first + job->setup.count,
        .topology = job->topology,
    };
    worker_init(&job->worker, &config);
}

static void init_effects(struct worker_job *job)
{
    job->effects = (struct effects){
        .context = job,
        .chunk_begins = note_chunk_begins,
        .chunk_ends = job->setup.job.costs[0] != '\0' ? note_chunk_ends : NULL,
        .notes_ran = job->failure == NULL && job->setup.loop.are_tasks && !job->is_of_set,
        .tell_ran = status_tell_ran,
        .meter = job_uses_acp(job) ? &job->meter : NULL,
        .begun = begin_with_all,
        .tell = tell_processor_time,
    };
}

static void job_free(struct worker_job *job)
{
    write_costs(job);
    if (job->is_open)
        executor_fini(job->executor);
    if (job->is_isolated)
        helper_program_fini(&job->helper);
    job_setup_fini(&job->setup);
    surroundings_close(&job->surroundings);
    announcement_fini(&job->announcement);
    free(job);
}

static struct worker_job *job_new(const struct worker_options *options, struct runtime *runtime)
{
    struct worker_job *job = calloc(1, sizeof *job);
    if (job == NULL)
        return NULL;
    job->options = options;
    job->runtime = runtime;
    job->surroundings = SURROUNDINGS_NONE;
    return job;
}

static void prepare_job(struct worker_job *job, const struct topology *topology)
{
    job->topology = topology;
    choose_threads(job);
    choose_executor(job);
}

static int drive(void *context)
{
    struct worker_job *job = context;
    const struct machine machine = worker_machine(&job->worker);
    assert((job->is_open || job->failure != NULL) && "a worker without a kernel says why");
    init_effects(job);
    job->effects.executor = job->executor;
    return runtime_drive(job->runtime, &machine, &job->effects, job->failure);
}

int worker_job_run(const struct worker_options *options, struct runtime *runtime, unsigned words, char *const *word)
{
    struct worker_job *job = job_new(options, runtime);
    const struct topology *topology = NULL;
    if (job != NULL) {
        take_job(job, words, word);
        topology = runtime_group(runtime, job_setup_grouping(&job->setup));
    }
    if (topology == NULL) {
        fprintf(stderr, "worker: rank %u: out of memory\n", runtime_rank(runtime));
        exit(EXIT_STATUS_FAILED);
    }
    prepare_job(job, topology);
    if (job->failure == NULL)
        job->failure = open_executor(job);
    job_open_meter(job);
    init_machine(job);
    const bool has_threads = job->threads > 1 && job->failure == NULL && !job->is_isolated;
    const int status = has_threads ? openmp_pool_run(&job->team, drive, job) : drive(job);
    job_free(job);
    return status;
}

struct worker_job *worker_job_open_beside(const struct worker_options *options, struct runtime *runtime,
                                          const struct topology *topology, unsigned words, char *const *word,
                                          struct part_of_job *of_job)
{
    struct worker_job *job = job_new(options, runtime);
    if (job == NULL)
        return NULL;
    job->is_beside = true;
    take_job(job, words, word);
    prepare_job(job, topology);
    if (job->failure == NULL)
        job->failure = open_executor(job);
    job_open_meter(job);
    init_machine(job);
    init_effects(job);
    job->effects.executor = job->executor;
    job->machine = worker_machine(&job->worker);
    *of_job = (struct part_of_job){.machine = &job->machine, .effects = &job->effects, .failure = job->failure};
    return job;
}

void worker_job_close_beside(struct worker_job *job)
{
    job_free(job);
}

static int open_late(void *context, struct error *error)
{
    struct worker_job *job = context;
    struct surroundings_before before;
    if (surroundings_enter(&job->surroundings, &before, error) < 0)
        return -1;
    const char *problem = open_executor(job);
    surroundings_leave(&before);
    if (problem != NULL)
        return error_set(error, "%s", problem);
    job->effects.executor = job->executor;
    note_sharing(job);
    return 0;
}

static int go_there(void *context, struct error *error)
{
    struct worker_job *job = context;
    return surroundings_enter(&job->surroundings, &job->before, error);
}

static void come_back(void *context)
{
    surroundings_leave(&((struct worker_job *)context)->before);
}

static void find_output(struct worker_job *job)
{
    char *output = job->setup.job.output, name[JOB_PATH_MAX];
    if (job->failure != NULL || output[0] == '\0' || output[0] == '/')
        return;
    snprintf(name, sizeof name, "%s", output);
    if (snprintf(output, JOB_PATH_MAX, "%s/%s", job->announcement.folder, name) < JOB_PATH_MAX)
        return;
    error_set(&job->error, "--output: its path is longer than %d bytes", JOB_PATH_MAX - 1);
    job->failure = job->error.text;
}

static void take_there(struct worker_job *job)
{
    const struct announcement *announced = &job->announcement;
    struct surroundings_before before;
    job->is_of_set = true;
    job_init(&job->setup.job);
    if (surroundings_open_announced(&job->surroundings, announced, runtime_is_pod(job->runtime), &job->error) < 0 ||
        surroundings_enter(&job->surroundings, &before, &job->error) < 0) {
        job->failure = job->error.text;
        return;
    }
    take_job(job, announced->word_count, announced->words);
    surroundings_leave(&before);
    find_output(job);
}

void *worker_job_take(const struct worker_options *options, struct runtime *runtime, const struct topology *topology,
                      struct announcement *announcement, struct part_of_job *of_job)
{
    struct worker_job *job = job_new(options, runtime);
    if (job == NULL)
        return NULL;
    job->announcement = *announcement;
    *announcement = (struct announcement){0};
    take_there(job);
    prepare_job(job, topology);
    job_open_meter(job);
    init_machine(job);
    init_effects(job);
    job->effects.open = open_late;
    /* A kernel of the user in this process may use the working directory. A kernel that starts processes passes the
     * directory on to them. So both kinds run in the job's surroundings. */
    if (job->failure == NULL &&
        (job->setup.kernel->descriptor != NULL || (job_setup_is_foreign(&job->setup) && !job->is_isolated))) {
        job->effects.enter = go_there;
        job->effects.leave = come_back;
    }
    job->machine = worker_machine(&job->worker);
    of_job->machine = &job->machine;
    of_job->effects = &job->effects;
    of_job->exchanges = job->failure == NULL && job_setup_is_dependent(&job->setup);
    of_job->are_tasks = job->failure == NULL && job->setup.loop.are_tasks;
    of_job->failure = job->failure;
    return job;
}

static void give_up_costs(struct worker_job *job)
{
    if (job->setup.job.costs[0] != '\0')
        say(stderr, "worker: rank %u: --record-costs: %s", runtime_rank(job->runtime), job->error.text);
    job->setup.job.costs[0] = '\0';
}

void worker_job_end(void *context, int status)
{
    struct worker_job *job = context;
    struct surroundings_before before = {.folder = -1};
    (void)status;
    if (surroundings_enter(&job->surroundings, &before, &job->error) < 0)
        give_up_costs(job);
    job_free(job);
    surroundings_leave(&before);
    spare_keep();
}
