/* From a command line to a plan: see plan.h. */
#include "common/runtime/plan.h"

#include "common/config/params.h"
#include "common/results/results.h"
#include "worker/kernels/kernels.h"

#include <inttypes.h>

/* MPI counts bytes in an int. */
#define RECORD_BYTES_MAX INT32_MAX

static int find_kernel(struct plan *plan, struct error *error)
{
    const struct job *job = &plan->job;
    plan->kernel = kernel_find(job->kernel);
    if (plan->kernel == NULL)
        return kernel_unknown(job->kernel, error);
    if (kernel_params_parse(plan->kernel, job->kernel_params, job->kernel_param, plan->values, error) < 0)
        return -1;
    return kernel_describe(plan->kernel, plan->values, &plan->loop, error);
}

/* --iterations FIRST:COUNT against the loop. */
static int cut_loop(struct plan *plan, struct error *error)
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

static int check_output(struct plan *plan, struct error *error)
{
    plan->record_bytes = hdss_record_size(&plan->loop);
    plan->collect = plan->job.output[0] != '\0';
    if (!plan->collect)
        return 0;
    if (plan->record_bytes > RECORD_BYTES_MAX)
        return error_set(error, "one iteration of this %s yields %" PRIu64 " bytes; accepted is up to %d",
                         plan->kernel->name, plan->record_bytes, RECORD_BYTES_MAX);
    return results_check(plan->job.output, &plan->loop, error);
}

int plan_make(struct plan *plan, int argc, char *const *argv, struct error *error)
{
    *plan = (struct plan){0};
    int result = job_parse(&plan->job, argc, argv, error);
    if (result != 0)
        return result;
    return find_kernel(plan, error) < 0 || cut_loop(plan, error) < 0 || check_output(plan, error) < 0 ? -1 : 0;
}
