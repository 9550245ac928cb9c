/* SPDX-License-Identifier: MIT */
/* Jobs without a supermaster: see check.h. */
#include "worker/dca/check.h"

#include "common/config/job.h"
#include "common/config/run_spec.h"
#include "common/dca/core.h"
#include "common/dca/core_queue.h"
#include "common/sched/sched.h"
#include "hdss/kernel.h"

int dca_check_loop(const struct job_setup *setup, struct error *error)
{
    if (setup->loop.grows)
        return error_set(error,
                         "--dca: the loop of this %s grows while it runs; accepted are lists that are complete, or a "
                         "supermaster",
                         setup->kernel->name);
    if (setup->loop.steps > 1)
        return error_set(error, "--dca: %s has time steps; accepted are loops of one step, or a supermaster",
                         setup->kernel->name);
    if (job_setup_is_dependent(setup))
        return error_set(error,
                         "--dca: the iterations of %s depend on one another; accepted are independent ones, or a "
                         "supermaster",
                         setup->kernel->name);
    return 0;
}

static int try_big_technique(const struct job_setup *setup, unsigned drawers, bool *learns, struct error *error)
{
    struct dca_core core;
    const struct dca_config config = {
        .technique = &setup->job.spec.technique,
        .sched = {.iterations = setup->count,
                  .workers = drawers,
                  .min_chunk = setup->job.spec.min_chunk,
                  .weighting = setup->job.spec.weighting,
                  .loads = true,
                  .swr = 1}, /* a placeholder: the value is measured later, if the technique needs it */
    };
    if (dca_init(&core, &config, error) < 0)
        return -1;
    *learns = dca_learns(&core);
    dca_fini(&core);
    return 0;
}

static int check_big_technique(const struct job_setup *setup, bool by_node, unsigned drawers, struct error *error)
{
    bool learns;
    if (setup->job.spec.technique_auto)
        return error_set(error, "--technique auto is for launches with a supermaster, not for --dca");
    if (setup->job.spec.weighting == SCHED_WEIGHTING_ACP && by_node)
        return error_set(error, "--weighting acp does not go with --dca node, whose big chunks are for all workers of "
                                "a node: accepted are none, power");
    if (try_big_technique(setup, drawers, &learns, error) < 0)
        return -1;
    if (!learns || !by_node)
        return 0;
    return error_set(error,
                     "technique %s cannot run with --dca node: what is measured of single workers says little of big "
                     "chunks",
                     setup->job.spec.technique.technique->name);
}

static int check_node_technique(const struct worker_options *options, struct error *error)
{
    struct dca_view view;
    struct error inner;
    if (dca_view_init(&view, &options->node_technique, 1, &inner) < 0)
        return error_set(error, "--node-technique: accepted is a technique with a closed form (%s)", inner.text);
    dca_view_fini(&view);
    return 0;
}

int dca_check_techniques(const struct worker_options *options, const struct job_setup *setup, unsigned workers,
                         unsigned nodes, struct error *error)
{
    bool by_node = options->dca == WORKER_DCA_NODE;
    if (check_big_technique(setup, by_node, by_node ? nodes : workers, error) < 0)
        return -1;
    return by_node ? check_node_technique(options, error) : 0;
}
