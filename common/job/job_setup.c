/* SPDX-License-Identifier: MIT */
/* From a command line to a plan: see plan.h. */
#include "common/job/job_setup.h"

#include "common/config/params.h"
#include "common/config/power_file.h"
#include "common/os/files.h"
#include "common/service/service.h"
#include "common/results/results.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The most bytes of a record: MPI counts bytes in an int. */
#define RECORD_BYTES_MAX INT32_MAX

/* Cuts the loop to --iterations FIRST:COUNT. */
static int cut_loop(struct job_setup *plan, struct error *error)
{
    const struct job *job = &plan->job;
    uint64_t whole = plan->loop.iterations;
    plan->first = job->first;
    plan->count = job->count;
    if (job->count == UINT64_MAX && job->first <= whole)
        plan->count = whole - job->first;
    if (job->first > whole || plan->count > whole - job->first)
        return error_set(error,
                         "--iterations %" PRIu64 ":%" PRIu64 ": the loop of this %s has %" PRIu64
                         " iterations; accepted is FIRST + COUNT up to that",
                         job->first, plan->count, plan->kernel->name, whole);
    return 0;
}

static int check_output(struct job_setup *plan, struct error *error)
{
    bool variable = plan->loop.streams > 0;
    plan->record_bytes = variable ? RECORD_VARIABLE : hdss_record_size(&plan->loop);
    plan->collect = plan->job.output[0] != '\0';
    if (!plan->collect)
        return 0;
    if (!variable && plan->record_bytes > RECORD_BYTES_MAX)
        return error_set(error, "one iteration of this %s yields %" PRIu64 " bytes; accepted is up to %d",
                         plan->kernel->name, plan->record_bytes, RECORD_BYTES_MAX);
    return results_check(plan->job.output, &plan->loop, error);
}

/* Checks the input files: a rank that reads other files than the others would do other work. */
static int job_setup_check_inputs(const struct job_setup *plan, struct error *error)
{
    if (!plan->job.inputs_given || plan->job.inputs == plan->loop.inputs)
        return 0;
    return error_set(error,
                     "%s: the files that it reads are not those of the supermaster (digest %016" PRIx64
                     ", accepted: %016" PRIx64 "): another file of that name is here, or it has just changed",
                     plan->kernel->name, plan->loop.inputs, plan->job.inputs);
}

/* Refuses a loop that builds upon earlier results and does not begin at iteration 0. The error tells of "`what` KERNEL
 * `does`". */
static int job_setup_check_first(const struct job_setup *plan, const char *what, const char *does, struct error *error)
{
    if (plan->first == 0)
        return 0;
    return error_set(error, "--iterations %" PRIu64 ":%" PRIu64 ": %s %s %s; accepted is 0:COUNT", plan->first,
                     plan->count, what, plan->kernel->name, does);
}

/* Checks a loop of several steps: the results of a step reach every worker by way of the output. */
static int job_setup_check_steps(struct job_setup *plan, struct error *error)
{
    plan->step_iterations = plan->loop.steps > 1 ? plan->loop.iterations / plan->loop.steps : plan->loop.iterations;
    if (!job_setup_has_dependent_steps(plan))
        return 0;
    if (job_setup_check_first(plan, "the time steps of", "build upon one another", error) < 0)
        return -1;
    if (plan->job.output[0] == '\0')
        return error_set(error, "%s: its time steps read what those before have yielded: give --output FILE",
                         plan->kernel->name);
    return 0;
}

/* Checks a kernel with effects: an iteration that is not to be run only to be timed is not probed. */
static int check_effects(struct job_setup *plan, struct error *error)
{
    if (!plan->loop.has_effects)
        return 0;
    if (plan->job.spec.power == RUN_POWER_MEASURE)
        plan->job.spec.power = RUN_POWER_EQUAL;
    if (!run_spec_probes(&plan->job.spec))
        return 0;
    return error_set(error,
                     "--technique: iterations of %s do more than yield results: none is run before its turn to measure "
                     "it; accepted: a technique that measures nothing before the loop, or one whose values are given",
                     plan->kernel->name);
}

/* Checks the threads: a kernel with an output of variable length decides itself what it does between two iterations,
 * and so does one with effects. */
static int job_setup_check_threads(const struct job_setup *plan, struct error *error)
{
    const struct hdss_kernel *kernel = plan->kernel;
    bool can = kernel->threads != HDSS_THREADS_NONE && plan->loop.streams == 0 && plan->loop.sync == 0 &&
               !plan->loop.has_effects && kernel->descriptor == NULL;
    if (plan->job.spec.threads == 1 || can)
        return 0;
    return error_set(error,
                     "--threads: %s runs on one thread of a worker only; accepted: 1, or a kernel that yields records, "
                     "has no other effects and no dependencies, and allows threads",
                     kernel->name);
}

static int check_sync_points(const struct job_setup *plan, struct error *error)
{
    if (!job_setup_is_dependent(plan) && plan->job.sync_points_given)
        return error_set(error,
                         "--sync-points is for loops with dependencies; the iterations of this %s are independent",
                         plan->kernel->name);
    if (plan->job.spec.sync_points > plan->loop.sync)
        return error_set(error,
                         "--sync-points %" PRIu64 ": accepted: auto, or 1 to %" PRIu64
                         ", as many elements as %s has to synchronize along",
                         plan->job.spec.sync_points, plan->loop.sync, plan->kernel->name);
    return 0;
}

/* Checks a loop with dependencies: its run begins at the beginning, and what it leaves when it ends early is no part of
 * the loop that another could go on behind, as the boundary data are gone. */
static int job_setup_check_dependencies(struct job_setup *plan, struct error *error)
{
    struct job *job = &plan->job;
    if (check_sync_points(plan, error) < 0)
        return -1;
    if (!job_setup_is_dependent(plan))
        return 0;
    if (job_setup_check_first(plan, "each iteration of", "needs those before it", error) < 0)
        return -1;
    if (job_resumes(job) || job->journal[0] != '\0')
        return error_set(error, "%s: the iterations of %s depend on one another: such a run keeps no journal",
                         job_resumes(job) ? "--resume" : "--journal", plan->kernel->name);
    job->journal_off = true;
    job->spec.retries = 0;
    if (job->spec.ask_ahead == ASK_AHEAD_AUTO)
        job->spec.ask_ahead = ASK_AHEAD_OFF; /* a worker that asks quickly would get neighbouring chunks, which only one
                                                worker after the other can compute at the same time */
    plan->min_chunk_raised = job->spec.min_chunk < plan->loop.distance;
    if (plan->min_chunk_raised)
        job->spec.min_chunk = plan->loop.distance;
    return 0;
}

uint64_t job_setup_sync_points(const struct job_setup *plan, unsigned workers)
{
    uint64_t wanted = plan->job.spec.sync_points > 0 ? plan->job.spec.sync_points : RUN_SYNC_POINTS * (uint64_t)workers;
    return wanted < plan->loop.sync ? wanted : plan->loop.sync;
}

int job_setup_read(struct job_setup *plan, const struct kernel_loader *loader, int argc, char *const *argv,
                   struct error *error)
{
    *plan = (struct job_setup){.loader = loader};
    const struct job *job = &plan->job;
    int result = job_parse(&plan->job, argc, argv, error);
    if (result != 0)
        return result;
    if (loader->load(job->kernel, &plan->kernel, error) < 0)
        return -1;
    return kernel_params_parse(plan->kernel, job->kernel_params, job->kernel_param, plan->values, error);
}

int job_setup_describe(struct job_setup *plan, struct error *error)
{
    if (kernel_describe(plan->kernel, plan->values, &plan->loop, error) < 0 ||
        job_setup_check_inputs(plan, error) < 0 || cut_loop(plan, error) < 0 || check_effects(plan, error) < 0 ||
        job_setup_check_threads(plan, error) < 0 || job_setup_check_dependencies(plan, error) < 0)
        return -1;
    job_take_output(&plan->job, &plan->loop);
    if (job_setup_check_steps(plan, error) < 0)
        return -1;
    if (job_check_files(&plan->job, error) < 0)
        return -1;
    return check_output(plan, error);
}

int job_setup_make(struct job_setup *plan, const struct kernel_loader *loader, int argc, char *const *argv,
                   struct error *error)
{
    int result = job_setup_read(plan, loader, argc, argv, error);
    return result != 0 ? result : job_setup_describe(plan, error);
}

int job_setup_read_speeds(const struct job_setup *plan, const unsigned *ranks, unsigned workers, double **speeds,
                          struct error *error)
{
    const struct job *job = &plan->job;
    *speeds = NULL;
    if (job->spec.power == RUN_POWER_MEASURE)
        return 0;
    *speeds = calloc(workers, sizeof **speeds);
    if (*speeds == NULL)
        return error_set(error, "out of memory for %u workers", workers);
    for (unsigned w = 0; w < workers; w++)
        (*speeds)[w] = 1;
    if (job->spec.power == RUN_POWER_EQUAL)
        return 0;
    struct error inner;
    if (job->spec.power == RUN_POWER_LIST) {
        int result = power_list_parse(job->power_file, workers, *speeds, &inner);
        return result < 0 ? error_set(error, "--power %.200s: %s", job->power_file, inner.text) : 0;
    }
    char *text = file_read(job->power_file, &inner);
    if (text == NULL)
        return error_set(error, "--power '%s': accepted: measure, equal or a readable file (%s)", job->power_file,
                         inner.text);
    int result = power_file_parse(text, ranks, workers, *speeds, &inner);
    free(text);
    return result < 0 ? error_set(error, "--power %s: %s", job->power_file, inner.text) : 0;
}
