/* SPDX-License-Identifier: MIT */
/* Makes the configuration of an executor from a job: see config.h. */
#include "worker/helper/config.h"

#include "common/config/run_spec.h"
#include "common/machine/probe.h"
#include "common/results/results.h"

static int read_results(void *context, uint64_t first, uint64_t count, void *records, struct error *error)
{
    const struct job_setup *setup = context;
    return results_read(setup->job.output, &setup->loop, first, count, records, error);
}

void executor_config_of_job(struct exec_config *config, struct job_setup *setup)
{
    config->kernel = setup->kernel;
    config->values = setup->values;
    config->loop = &setup->loop;
    config->collect = setup->collect;
    config->probe_first = setup->first;
    config->probe_count = setup->count < setup->step_iterations ? setup->count : setup->step_iterations;
    config->unprobed = setup->job.found.unprobed;
    config->probe_least = run_spec_wants_swr(&setup->job.spec) ? PROBE_SWR : 1;
    config->spread = run_spec_learns(&setup->job.spec);
    config->step_iterations = job_setup_has_dependent_steps(setup) ? setup->step_iterations : 0;
    config->retries = setup->job.spec.retries;
    config->read = read_results;
    config->context = setup;
    /* Iterations that wait have no automatic time limit: only the iteration knows how long it must wait. */
    const struct run_spec *spec = &setup->job.spec;
    config->limit_adapts = spec->timeout == RUN_TIMEOUT_AUTO && !setup->loop.waits;
    config->limit_ns = config->limit_adapts ? RUN_TIMEOUT_AUTO_S * UINT64_C(1000000000) : spec->timeout_ns;
}
