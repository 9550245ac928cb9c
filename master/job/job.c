/* SPDX-License-Identifier: MIT */
/* A master's part of a job: see job.h. */
#include "master/job/job.h"
#include "common/config/job.h"
#include "common/config/run_spec.h"
#include "common/job/job_setup.h"
#include "common/job/status.h"
#include "common/job/surroundings.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/mpi/link.h"
#include "common/mpi/runtime.h"
#include "common/os/clock.h"
#include "common/os/say.h"
#include "common/results/results.h"
#include "common/trace/spool.h"
#include "common/util/error.h"
#include "hdss/kernel.h"
#include "master/master.h"
#include "proto/announcement.h"
#include "proto/message.h"
#include "worker/job/beside.h"
#include "worker/kernels/kernels.h"

#include <stdio.h>
#include <stdlib.h>

struct master_job {
    /* the announcement of a job of a set, with its command line and environment; owned */
    struct announcement announcement;
    struct surroundings surroundings;
    struct machine machine;
    struct effects effects;
    struct job_setup setup;
    struct error error;
    const char *failure;
    struct runtime *runtime;
    const struct topology *topology;
    unsigned *ranks;
    unsigned workers;
    struct master master;
    struct results_sink sink;
    bool sink_open;
    struct trace_spool spool;
    struct error sync_error;
};

static int store(void *context, const struct part *result, const void *data, uint64_t bytes, struct error *error)
{
    struct master_job *job = context;
    return results_write(&job->sink, result->first, result->count, data, bytes, error);
}

static int sync_stored(void *context, struct error *error)
{
    struct error unread;
    error = error_or(error, &unread);
    struct master_job *job = context;
    if (results_sync(&job->sink, error) == 0)
        return 0;
    job->sync_error = *error;
    return -1;
}

static bool stores_far(const struct master_job *job)
{
    return runtime_is_pod(job->runtime) && job->setup.job.results == JOB_RESULTS_HERE;
}

static int list_workers(struct master_job *job)
{
    const struct topology *topology = job->topology;
    unsigned m = topology_master(topology, runtime_rank(job->runtime));
    job->workers = topology_count(topology, m);
    job->ranks = calloc(job->workers + 1, sizeof *job->ranks);
    if (job->ranks == NULL)
        return -1;
    topology_served_ranks(topology, m, job->ranks);
    return 0;
}

static int init_machine(struct master_job *job)
{
    const struct job_setup *setup = &job->setup;
    if (list_workers(job) < 0)
        return -1;
    const struct master_config config = {
        .spec = &setup->job.spec,
        .rank = runtime_rank(job->runtime),
        .supermaster = job->topology->supermaster,
        .ranks = job->ranks,
        .workers = job->workers,
        .record_bytes = setup->collect ? setup->record_bytes : 0,
        .distance = job_setup_is_dependent(setup) ? setup->loop.distance : 0,
        .first = setup->first,
        .no_speculation = setup->loop.has_effects || job_setup_is_dependent(setup),
        .no_isolation = setup->kernel == NULL || setup->kernel->descriptor != NULL || job_setup_is_dependent(setup),
        .feedback = run_spec_learns(&setup->job.spec),
        .is_pod = runtime_is_pod(job->runtime),
        .sync = setup->collect && !stores_far(job) && setup->job.durability == JOB_DURABILITY_NODE,
    };
    return master_init(&job->master, &config);
}

static void open_output(struct master_job *job)
{
    const struct job_setup *setup = &job->setup;
    struct error reason;
    if (job->failure != NULL || !setup->collect || stores_far(job))
        return;
    job->sink_open =
        results_open(&job->sink, setup->job.output, &setup->loop, runtime_rank(job->runtime), &reason) == 0;
    if (job->sink_open)
        return;
    error_set(&job->error, "%.400s%s", reason.text,
              runtime_is_pod(job->runtime) ? "; accepted: --results here, and pods send theirs to the set" : "");
    job->failure = job->error.text;
}

static void open_trace(struct master_job *job)
{
    const char *path = job->setup.job.trace;
    if (job->failure != NULL || path[0] == '\0')
        return;
    const struct trace_clock clock = {runtime_now(), clock_ns(CLOCK_REALTIME)};
    if (trace_spool_open(&job->spool, path, runtime_rank(job->runtime), &clock, &job->error) == 0)
        job->machine.trace(job->machine.self, &job->spool.sink);
    else
        job->failure = job->error.text;
}

static void close_trace(struct master_job *job)
{
    if (trace_spool_close(&job->spool, &job->error) < 0)
        say(stderr, "master: rank %u: --trace: %s: the trace is not complete", runtime_rank(job->runtime),
            job->error.text);
}

/* The sync after the last report may fail too late for the supermaster to be told. If a sync failed and the supermaster
 * was told of no problem, prints the failure here. */
static int check_sync(struct master_job *job, int status)
{
    if (job->sync_error.text[0] == '\0' || job->master.problem.text[0] != '\0')
        return status;
    say(stderr, "master: rank %u: %s", runtime_rank(job->runtime), job->sync_error.text);
    return EXIT_STATUS_FAILED;
}

static int close_output(struct master_job *job, int status)
{
    if (!job->sink_open || results_close(&job->sink, &job->error) == 0)
        return status;
    say(stderr, "master: rank %u: %s", runtime_rank(job->runtime), job->error.text);
    return EXIT_STATUS_FAILED;
}

static struct master_job *job_new(struct runtime *runtime)
{
    struct master_job *job = calloc(1, sizeof *job);
    if (job == NULL)
        return NULL;
    job->runtime = runtime;
    job->surroundings = SURROUNDINGS_NONE;
    return job;
}

static void take_job(struct master_job *job, unsigned words, char *const *word)
{
    if (job_setup_take(&job->setup, &kernel_loader, (int)words, word, &job->error) != 0)
        job->failure = job->error.text;
}

static void init_effects(struct master_job *job)
{
    job->machine = master_machine(&job->master);
    job->effects = (struct effects){.context = job,
                                    .store = store,
                                    .stores_far = stores_far(job),
                                    .sync = sync_stored,
                                    .tell_ran = status_tell_ran,
                                    .assignment_ns = job->setup.job.spec.assignment_ns};
}

/* Prints why this pod is unfit for the job. The supermaster prints this, too, but perhaps on another machine. */
static void say_unfit(const struct master_job *job)
{
    if (job->master.unfit.text[0] != '\0' && job->setup.job.await_pods == 0)
        say(stderr, "master: %s", job->master.unfit.text);
}

static int job_end(struct master_job *job, int status)
{
    say_unfit(job);
    status = close_output(job, check_sync(job, status));
    close_trace(job);
    master_fini(&job->master);
    free(job->ranks);
    job_setup_fini(&job->setup);
    surroundings_close(&job->surroundings);
    announcement_fini(&job->announcement);
    free(job);
    return status;
}

int master_job_run(struct runtime *runtime, unsigned words, char *const *word)
{
    struct master_job *job = job_new(runtime);
    if (job != NULL) {
        take_job(job, words, word);
        job->topology = runtime_group(runtime, job_setup_grouping(&job->setup));
    }
    if (job == NULL || job->topology == NULL || init_machine(job) < 0) {
        fprintf(stderr, "master: rank %u: out of memory\n", runtime_rank(runtime));
        exit(EXIT_STATUS_FAILED);
    }
    open_output(job);
    init_effects(job);
    open_trace(job);
    return job_end(
        job, worker_job_drive_beside(runtime, job->topology, words, word, &job->machine, &job->effects, job->failure));
}

static int take_there(struct master_job *job)
{
    const struct announcement *announced = &job->announcement;
    struct surroundings_before before = {.folder = -1};
    job_init(&job->setup.job);
    if (surroundings_open_announced(&job->surroundings, announced, runtime_is_pod(job->runtime), &job->error) < 0 ||
        surroundings_enter(&job->surroundings, &before, &job->error) < 0)
        job->failure = job->error.text;
    else
        take_job(job, announced->word_count, announced->words);
    const int result = init_machine(job);
    if (result == 0) {
        open_output(job);
        init_effects(job);
        open_trace(job);
    }
    surroundings_leave(&before);
    return result;
}

void *master_job_take(void *context, struct runtime *runtime, const struct topology *topology,
                      struct announcement *announcement, struct part_of_job *of_job)
{
    struct master_job *job = job_new(runtime);
    (void)context;
    if (job == NULL)
        return NULL;
    job->topology = topology;
    job->announcement = *announcement;
    if (take_there(job) < 0)
        return NULL;
    of_job->machine = &job->machine;
    of_job->effects = &job->effects;
    of_job->failure = job->failure;
    return job;
}

void master_job_end(void *context, int status)
{
    struct master_job *job = context;
    struct surroundings_before before;
    struct error error;
    if (surroundings_enter(&job->surroundings, &before, &error) < 0)
        say(stderr, "master: rank %u: %s", runtime_rank(job->runtime), error.text);
    job_end(job, status);
    surroundings_leave(&before);
}
