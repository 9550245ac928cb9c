/* SPDX-License-Identifier: MIT */
/* Prepares a job from a command line: see job_setup.h. */
#include "common/job/job_setup.h"

#include "common/config/params.h"
#include "common/config/power_file.h"
#include "common/config/run_spec.h"
#include "common/machine/topology.h"
#include "common/os/files.h"
#include "common/results/results.h"
#include "common/service/service.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A record must fit in one MPI message, and MPI counts the bytes of a message in an int. */
#define RECORD_BYTES_MAX INT32_MAX

static int cut_loop(struct job_setup *setup, struct error *error)
{
    const struct job *job = &setup->job;
    uint64_t whole = setup->loop.iterations;
    setup->first = job->first;
    setup->count = job->count;
    if (job->count == UINT64_MAX && job->first <= whole)
        setup->count = whole - job->first;
    if (job->first > whole || setup->count > whole - job->first)
        return error_set(error,
                         "--iterations %" PRIu64 ":%" PRIu64 ": the loop of this %s has %" PRIu64
                         " iterations; accepted is FIRST + COUNT up to that",
                         job->first, setup->count, setup->kernel->name, whole);
    return 0;
}

static int check_output(struct job_setup *setup, struct error *error)
{
    bool variable = setup->loop.streams > 0;
    setup->record_bytes = variable ? RECORD_VARIABLE : hdss_record_size(&setup->loop);
    setup->collect = setup->job.output[0] != '\0';
    if (!variable && setup->job.join_given)
        return error_set(error, "--join is for variable output, as of exec; this %s yields records",
                         setup->kernel->name);
    if (!setup->collect)
        return 0;
    if (!variable && setup->record_bytes > RECORD_BYTES_MAX)
        return error_set(error, "one iteration of this %s yields %" PRIu64 " bytes; accepted is up to %d",
                         setup->kernel->name, setup->record_bytes, RECORD_BYTES_MAX);
    return results_check(setup->job.output, &setup->loop, error);
}

int job_setup_inputs(const struct job_setup *setup, uint64_t *inputs, struct error *error)
{
    *inputs = setup->loop.inputs;
    return setup->loop.grows && setup->kernel->inputs != NULL
               ? kernel_inputs(setup->kernel, setup->values, 0, inputs, error)
               : 0;
}

static int job_setup_check_inputs(const struct job_setup *setup, struct error *error)
{
    uint64_t inputs;
    if (!setup->job.found.has_inputs)
        return 0;
    if (job_setup_inputs(setup, &inputs, error) < 0)
        return -1;
    if (setup->job.found.inputs == inputs)
        return 0;
    return error_set(error,
                     "%s: the files that it reads are not those of the supermaster (digest %016" PRIx64
                     ", accepted: %016" PRIx64 "): another file of that name is here, or it has just changed",
                     setup->kernel->name, inputs, setup->job.found.inputs);
}

static int job_setup_check_loop(const struct job_setup *setup, struct error *error)
{
    if (setup->job.found.loop == NULL)
        return 0;
    return description_matches(setup->job.found.loop, setup->kernel, &setup->loop)
               ? 0
               : error_set(error,
                           "%s: is not the kernel of the supermaster, or describes another loop here; accepted: "
                           "the same file on all nodes, and a description that is always the same",
                           setup->kernel->name);
}

/* Loops whose iterations or time steps use earlier results must begin at iteration 0; otherwise this check fails. The
 * error text contains "`what` KERNEL `does`" as the reason. */
static int job_setup_check_first(const struct job_setup *setup, const char *what, const char *does, struct error *error)
{
    if (setup->first == 0)
        return 0;
    return error_set(error, "--iterations %" PRIu64 ":%" PRIu64 ": %s %s %s; accepted is 0:COUNT", setup->first,
                     setup->count, what, setup->kernel->name, does);
}

/* Sets the length of a time step. If time steps use the results of the previous step, the job must have an output,
 * because workers read these results from the output. */
static int job_setup_check_steps(struct job_setup *setup, struct error *error)
{
    setup->step_iterations =
        setup->loop.steps > 1 ? setup->loop.iterations / setup->loop.steps : setup->loop.iterations;
    if (!job_setup_has_dependent_steps(setup))
        return 0;
    if (job_setup_check_first(setup, "the time steps of", "build upon one another", error) < 0)
        return -1;
    if (setup->job.output[0] == '\0')
        return error_set(error, "%s: its time steps read what those before have yielded: give --output FILE",
                         setup->kernel->name);
    return 0;
}

/* True if iterations wait for something outside of the worker. The kernel `synthetic` is excluded, because it sleeps
 * only to imitate a computation. */
static bool waits_for_something(const struct job_setup *setup)
{
    return setup->loop.waits && strcmp(setup->kernel->name, "synthetic") != 0;
}

/* Applies the rules for a growing loop. The user cannot select a part of the loop, no iterations are timed before
 * the run, and the technique must not depend on the number of iterations. */
static int take_growth(struct job_setup *setup, struct error *error)
{
    struct run_spec *spec = &setup->job.spec;
    if (!setup->loop.grows)
        return 0;
    if (setup->job.first != 0 || setup->job.count != UINT64_MAX)
        return error_set(
            error,
            "--iterations: the loop of this %s grows while it runs; accepted: all of it, or a list that is "
            "complete",
            setup->kernel->name);
    if (!setup->job.technique_given || spec->technique_auto)
        run_spec_hand_out_singly(spec);
    spec->technique_auto = spec->chosen_late = false;
    if (spec->power == RUN_POWER_MEASURE)
        spec->power = RUN_POWER_EQUAL;
    if (spec->technique.technique->may_grow)
        return 0;
    return error_set(error,
                     "--technique: %s cuts by the number of iterations, which is not known yet as the loop of this %s "
                     "grows; accepted: " RUN_TECHNIQUE_SINGLE ", or a list that is complete",
                     spec->technique.technique->name, setup->kernel->name);
}

/* Iterations that wait or have effects are usually few, long and uneven, so by default they are assigned one at a
 * time. Iterations with effects cannot be timed before the run, so `auto` chooses the technique after the first
 * iterations have run. */
static void take_defaults_of_kernel(struct job_setup *setup)
{
    struct run_spec *spec = &setup->job.spec;
    bool singly = (setup->loop.has_effects || waits_for_something(setup)) && !job_setup_is_dependent(setup);
    spec->chosen_late = setup->loop.has_effects && spec->technique_auto;
    if (singly && (!setup->job.technique_given || spec->chosen_late))
        run_spec_hand_out_singly(spec);
}

static int check_effects(struct job_setup *setup, struct error *error)
{
    if (!setup->loop.has_effects)
        return 0;
    if (setup->job.spec.power == RUN_POWER_MEASURE)
        setup->job.spec.power = RUN_POWER_EQUAL;
    if (!run_spec_probes(&setup->job.spec))
        return 0;
    return error_set(error,
                     "--technique: iterations of %s do more than yield results: none is run before its turn to measure "
                     "it; accepted: a technique that measures nothing before the loop, or one whose values are given",
                     setup->kernel->name);
}

/* Kernels with variable output or effects may keep state between iterations, so they cannot run on several threads. */
static int job_setup_check_threads(const struct job_setup *setup, struct error *error)
{
    const struct hdss_kernel *kernel = setup->kernel;
    bool can = kernel->threads != HDSS_THREADS_NONE && setup->loop.streams == 0 && setup->loop.sync == 0 &&
               !setup->loop.has_effects && kernel->descriptor == NULL;
    if (setup->job.spec.threads == 1 || can)
        return 0;
    return error_set(error,
                     "--threads: %s runs on one thread of a worker only; accepted: 1, or a kernel that yields records, "
                     "has no other effects and no dependencies, and allows threads",
                     kernel->name);
}

static int check_verify(const struct job_setup *setup, struct error *error)
{
    if (setup->job.spec.verify == 0)
        return 0;
    if (job_setup_is_dependent(setup))
        return error_set(error,
                         "--verify: the iterations of %s depend on one another, and none is computed by itself; "
                         "accepted: loops of independent iterations",
                         setup->kernel->name);
    if (setup->loop.has_effects)
        return error_set(error,
                         "--verify: iterations of %s do more than yield results: none is computed a second time; "
                         "accepted: kernels that only yield results",
                         setup->kernel->name);
    return 0;
}

/* True if a helper process can run the kernel. A kernel with a descriptor must run in the worker, because the worker
 * waits for the descriptor. With --weighting acp the kernel must run in the worker, because the worker measures the
 * load of its own core. With several threads worker and helper must compute the same chunks, so the thread technique
 * must have a closed form. */
static bool job_setup_can_be_isolated(const struct job_setup *setup)
{
    const struct run_spec *spec = &setup->job.spec;
    bool is_closed = setup->loop.sync == 0 && spec->thread_technique.technique->at != NULL;
    return (spec->threads == 1 || is_closed) && setup->kernel->descriptor == NULL &&
           spec->weighting != SCHED_WEIGHTING_ACP;
}

static int check_masters(const struct job_setup *setup, struct error *error)
{
    const struct run_spec *spec = &setup->job.spec;
    if (spec->break_after > 0 && !spec->masters_compute)
        return error_set(error, "--break-after is for --masters-compute, and for --dca");
    if (!spec->masters_compute)
        return 0;
    if (job_setup_is_dependent(setup))
        return error_set(
            error,
            "--masters-compute: the iterations of %s depend on one another; accepted: loops of independent "
            "iterations",
            setup->kernel->name);
    if (run_spec_has_threads(spec))
        return error_set(error, "--masters-compute: a master that computes has one thread; accepted: --threads 1");
    return 0;
}

unsigned job_setup_grouping(const struct job_setup *setup)
{
    const struct run_spec *spec = &setup->job.spec;
    return (spec->group_by == RUN_GROUP_BY_NODE ? TOPOLOGY_BY_NODE : TOPOLOGY_EVENLY) |
           (spec->masters_compute ? TOPOLOGY_MASTERS_COMPUTE : 0);
}

int job_setup_check_for_set(const struct job_setup *setup, struct error *error)
{
    const struct run_spec *spec = &setup->job.spec;
    if (spec->group_by == RUN_GROUP_BY_EVEN)
        return error_set(error, "--group-by even is for a launch: the workers of a set are grouped; accepted: `hdss up "
                                "--group-by even`");
    if (spec->masters_compute)
        return error_set(
            error,
            "--masters-compute is for a launch of its own: the masters of a set, or of a run that pods may join, only "
            "serve; accepted: `hdss run` without --set and --listen");
    if (!run_spec_has_threads(spec) || job_setup_can_be_isolated(setup))
        return 0;
    return error_set(error,
                     "--threads: in a set, and where pods may join, a process of its own has the threads, in which %s "
                     "cannot run here; accepted: 1, a --thread-technique that learns nothing, and no --weighting acp, "
                     "or `hdss run` without --set and --listen",
                     setup->kernel->name);
}

int job_setup_check_for_pods(const struct job_setup *setup, struct error *error)
{
    if (job_setup_is_dependent(setup))
        return error_set(
            error,
            "iterations of %s depend on one another, and pods take no part in such loops; accepted: without "
            "--elastic, --pods and --listen, all workers in one launch",
            setup->kernel->name);
    return job_setup_check_for_set(setup, error);
}

bool job_setup_is_foreign(const struct job_setup *setup)
{
    const char *name = setup->job.kernel;
    size_t length = strlen(name);
    bool is_object = strchr(name, '/') != NULL || (length > 3 && strcmp(name + length - 3, ".so") == 0);
    return is_object || strncmp(name, "python:", 7) == 0;
}

bool job_setup_is_isolated(const struct job_setup *setup)
{
    bool is_wanted = setup->job.spec.isolate == RUN_ISOLATE_ON ||
                     (setup->job.spec.isolate == RUN_ISOLATE_AUTO && job_setup_is_foreign(setup));
    return is_wanted && job_setup_can_be_isolated(setup);
}

static int check_isolation(const struct job_setup *setup, struct error *error)
{
    if (setup->job.spec.isolate != RUN_ISOLATE_ON || job_setup_can_be_isolated(setup))
        return 0;
    return error_set(error,
                     "--isolate on: %s cannot run in a process of its own here; accepted: auto, off, or a kernel "
                     "without descriptor, without --weighting acp, and with --threads without dependencies and with a "
                     "--thread-technique that learns nothing",
                     setup->kernel->name);
}

/* A time limit for iterations needs a helper, because only a helper can be killed during an iteration. */
static int check_timeout(const struct job_setup *setup, struct error *error)
{
    const char *name = setup->kernel->name;
    if (setup->job.spec.timeout != RUN_TIMEOUT_GIVEN || job_setup_is_isolated(setup))
        return 0;
    if (job_setup_can_be_isolated(setup))
        return error_set(error,
                         "--iteration-timeout: %s runs in its worker here, where no iteration can be ended; accepted: "
                         "auto, none, or --isolate on with it",
                         name);
    if (setup->kernel->descriptor != NULL)
        return error_set(error,
                         "--iteration-timeout: %s runs in its worker, where no iteration can be ended; accepted: auto, "
                         "none, or a parameter of the kernel, as timeout=SECONDS of exec",
                         name);
    return error_set(
        error,
        "--iteration-timeout: %s runs in its worker here, where no iteration can be ended; accepted: "
        "auto, none, or a kernel without --weighting acp, and with --threads without dependencies and with "
        "a --thread-technique that learns nothing",
        name);
}

static int check_sync_points(const struct job_setup *setup, struct error *error)
{
    if (!job_setup_is_dependent(setup) && setup->job.sync_points_given)
        return error_set(error,
                         "--sync-points is for loops with dependencies; the iterations of this %s are independent",
                         setup->kernel->name);
    if (setup->job.spec.sync_points > setup->loop.sync)
        return error_set(error,
                         "--sync-points %" PRIu64 ": accepted: auto, or 1 to %" PRIu64
                         ", as many elements as %s has to synchronize along",
                         setup->job.spec.sync_points, setup->loop.sync, setup->kernel->name);
    return 0;
}

static int job_setup_check_dependencies(struct job_setup *setup, struct error *error)
{
    struct job *job = &setup->job;
    if (check_sync_points(setup, error) < 0)
        return -1;
    if (!job_setup_is_dependent(setup))
        return 0;
    if (job_setup_check_first(setup, "each iteration of", "needs those before it", error) < 0)
        return -1;
    if (job->spec.technique.technique->places != NULL)
        return error_set(error,
                         "--technique: %s says where its chunks lie, and each iteration of %s needs those before it; "
                         "accepted: a technique that does not",
                         job->spec.technique.technique->name, setup->kernel->name);
    if (job->spec.ask_ahead == ASK_AHEAD_AUTO)
        /* If workers requested chunks ahead, a worker would hold two consecutive chunks, and no other worker could
         * compute one of them at the same time. */
        job->spec.ask_ahead = ASK_AHEAD_OFF;
    if (job->spec.max_chunk > 0 && job->spec.max_chunk < setup->loop.distance)
        return error_set(error,
                         "--max-chunk %" PRIu64 ": an iteration of %s needs %" PRIu64 " before it, which are to be of "
                         "one chunk; accepted: so many or more",
                         job->spec.max_chunk, setup->kernel->name, setup->loop.distance);
    setup->min_chunk_raised = job->spec.min_chunk < setup->loop.distance;
    if (setup->min_chunk_raised)
        job->spec.min_chunk = setup->loop.distance;
    return 0;
}

uint64_t job_setup_sync_points(const struct job_setup *setup, unsigned workers)
{
    uint64_t wanted =
        setup->job.spec.sync_points > 0 ? setup->job.spec.sync_points : RUN_SYNC_POINTS * (uint64_t)workers;
    return wanted < setup->loop.sync ? wanted : setup->loop.sync;
}

static int load_technique(const struct job_setup *setup, const char *option, const char *text, struct sched_spec *spec,
                          struct error *error)
{
    struct error reason;
    if (setup->loader->technique(spec, text, &reason) < 0)
        return error_set(error, "%s: %s", option, reason.text);
    return job_check_technique(&setup->job, option, spec, error);
}

static int job_setup_parse(struct job_setup *setup, int argc, char *const *argv, struct error *error)
{
    struct run_spec *spec = &setup->job.spec;
    int result = job_parse(&setup->job, argc, argv, error);
    if (result != 0 || setup->loader->technique == NULL)
        return result;
    if (setup->job.plugin != NULL)
        result = load_technique(setup, "--technique", setup->job.plugin, &spec->technique, error);
    for (unsigned i = 0; result == 0 && i < spec->candidates; i++)
        result = load_technique(setup, "--candidate", spec->candidate_text[i], &spec->candidate[i], error);
    return result;
}

int job_setup_read(struct job_setup *setup, const struct kernel_loader *loader, int argc, char *const *argv,
                   struct error *error)
{
    *setup = (struct job_setup){.loader = loader};
    const struct job *job = &setup->job;
    int result = job_setup_parse(setup, argc, argv, error);
    if (result != 0)
        return result;
    bool is_asked = loader->ask != NULL && job->spec.isolate != RUN_ISOLATE_OFF && job_setup_is_foreign(setup);
    result = is_asked ? loader->ask(job->kernel, job->spec.isolate == RUN_ISOLATE_ON, &setup->kernel, error)
                      : loader->load(job->kernel, &setup->kernel, error);
    if (result < 0)
        return -1;
    return kernel_params_parse(setup->kernel, job->kernel_params, job->kernel_param, setup->values, error);
}

static int job_setup_settle(struct job_setup *setup, struct error *error)
{
    if (cut_loop(setup, error) < 0)
        return -1;
    take_defaults_of_kernel(setup);
    if (take_growth(setup, error) < 0)
        return -1;
    if (check_verify(setup, error) < 0 || check_effects(setup, error) < 0 ||
        job_setup_check_threads(setup, error) < 0 || check_masters(setup, error) < 0 ||
        check_isolation(setup, error) < 0 || check_timeout(setup, error) < 0 ||
        job_setup_check_dependencies(setup, error) < 0)
        return -1;
    job_take_output(&setup->job, &setup->loop);
    if (job_setup_check_steps(setup, error) < 0)
        return -1;
    if (job_check_files(&setup->job, error) < 0)
        return -1;
    return check_output(setup, error);
}

/* Checks an open job, to which users add iterations. The kernel must be able to run iterations beyond those that it
 * describes. The size of the output must not depend on the length of the loop. */
static int check_counted(const struct job_setup *setup, struct error *error)
{
    const char *name = setup->kernel->name;
    if (setup->kernel->grow == NULL)
        return error_set(error,
                         "%s: the end of its loop is its own, and iterations cannot be added to it; accepted for an "
                         "open job: exec, python:MODULE.FUNCTION, or a kernel with grow()",
                         name);
    if (setup->loop.streams == 0)
        return error_set(error,
                         "%s: yields records, and the array of those is as large as the loop, of which the end is not "
                         "known; accepted for an open job: variable output, as of a function in Python whose "
                         "describe() says no dtype",
                         name);
    return setup->job.found.added <= INT64_MAX - setup->loop.iterations
               ? 0
               : error_set(error, "an open job: more than 2^63 - 1 iterations");
}

/* If the leading rank says that the loop grows, the loop grows for this rank, too. The kernel of this rank may
 * already describe the loop as complete. */
static int agree_on_growth(struct job_setup *setup, struct error *error)
{
    if (!setup->job.found.grows || (setup->kernel->grow == NULL && !setup->job.found.is_counted))
        return 0;
    if (setup->job.found.is_counted && check_counted(setup, error) < 0)
        return -1;
    setup->loop.grows = true;
    setup->loop.iterations += setup->job.found.added;
    return kernel_check_loop(setup->kernel, &setup->loop, error);
}

int job_setup_describe(struct job_setup *setup, struct error *error)
{
    if (kernel_describe(setup->kernel, setup->values, &setup->loop, error) < 0 || agree_on_growth(setup, error) < 0 ||
        job_setup_check_inputs(setup, error) < 0 || job_setup_check_loop(setup, error) < 0)
        return -1;
    return job_setup_settle(setup, error);
}

int job_setup_take(struct job_setup *setup, const struct kernel_loader *loader, int argc, char *const *argv,
                   struct error *error)
{
    *setup = (struct job_setup){.loader = loader};
    int result = job_setup_parse(setup, argc, argv, error);
    if (result != 0)
        return result;
    if (setup->job.found.loop == NULL)
        return job_setup_make(setup, loader, argc, argv, error);
    if (description_read(&setup->description, setup->job.found.loop, error) < 0)
        return -1;
    setup->is_described = true;
    setup->kernel = &setup->description.kernel;
    setup->loop = setup->description.loop;
    return job_setup_settle(setup, error);
}

void job_setup_fini(struct job_setup *setup)
{
    if (setup->is_described)
        description_fini(&setup->description);
    setup->is_described = false;
}

int job_setup_make(struct job_setup *setup, const struct kernel_loader *loader, int argc, char *const *argv,
                   struct error *error)
{
    int result = job_setup_read(setup, loader, argc, argv, error);
    return result != 0 ? result : job_setup_describe(setup, error);
}

int job_setup_read_speeds(const struct job_setup *setup, const unsigned *ranks, unsigned workers, double **speeds,
                          struct error *error)
{
    const struct job *job = &setup->job;
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
