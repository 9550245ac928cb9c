/* SPDX-License-Identifier: MIT */
/* See both.h. */
#include "tests/simgrid/both.h"

#include "common/config/run_spec.h"
#include "common/machine/topology.h"
#include "common/metrics/report.h"
#include "deploy/simulate/platforms/placement.h"
#include "deploy/simulate/platforms/platform.h"
#include "deploy/simulate/simgrid/simgrid.h"
#include "deploy/simulate/virtual/cluster.h"
#include "supermaster/statistics.h"
#include "supermaster/supermaster.h"
#include "worker/kernels/costs/costs.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct setup {
    struct run_spec spec;
    struct platform platform;
    struct placement placement;
    struct costs *costs;
    double *speeds, *rank_speeds;
    struct virtual_config config;
};

static double sum_costs(void *context, uint64_t first, uint64_t count)
{
    const struct setup *setup = context;
    return costs_ns(setup->costs, first, count);
}

static uint64_t transfer(void *context, unsigned from, unsigned to, uint64_t bytes)
{
    const struct setup *setup = context;
    const unsigned *node = setup->placement.platform_node;
    const struct platform_link *link = platform_link_between(&setup->platform, node[from], node[to]);
    return (uint64_t)(link->latency_ns + (double)bytes / link->bytes_per_ns);
}

static unsigned both_serving_workers(const struct both_case *one)
{
    return !one->masters_compute ? 0 : one->masters > 0 ? one->masters : 1;
}

static int init_speeds(struct setup *setup, const struct both_case *one, struct error *error)
{
    const struct placement *placement = &setup->placement;
    setup->rank_speeds = calloc(placement->ranks, sizeof *setup->rank_speeds);
    if (setup->rank_speeds == NULL)
        return error_set(error, "out of memory");
    for (unsigned i = 0; i < placement->ranks; i++)
        setup->rank_speeds[i] = placement->speed[placement->node_of[i]];
    setup->speeds = setup->rank_speeds + 1 + placement->masters - both_serving_workers(one);
    return 0;
}

static int init(struct setup *setup, const struct both_case *one, struct error *error)
{
    *setup = (struct setup){0};
    run_spec_init(&setup->spec);
    setup->spec.threads = one->threads > 0 ? one->threads : 1;
    setup->spec.weighting = one->weighting;
    setup->spec.masters_compute = one->masters_compute;
    setup->spec.power = one->measure_power ? RUN_POWER_MEASURE : RUN_POWER_EQUAL;
    if (run_spec_set_technique(&setup->spec, one->technique, error) < 0 ||
        platform_find(&setup->platform, one->platform, error) < 0 ||
        placement_init(&setup->placement, &setup->platform, one->masters, one->workers - both_serving_workers(one),
                       setup->spec.threads, error) < 0 ||
        init_speeds(setup, one, error) < 0)
        return -1;
    setup->costs = costs_distributed(one->costs, 0, one->iterations, error);
    if (setup->costs == NULL)
        return -1;
    const struct platform_service *service = &setup->platform.service;
    setup->config = (struct virtual_config){
        .cuts_at_once = !one->masters_compute, /* as SimGrid's workers do */
        .masters = one->masters,
        .workers = one->workers,
        .rank_node = setup->placement.node_of,
        .spec = setup->spec,
        .count = one->iterations,
        .undigested = true,
        .calculation_ns = (uint64_t)service->calculation_ns + one->calculation_ns,
        .service_ns = (uint64_t)service->event_ns,
        .message_ns = service->message_ns,
        .byte_ns = service->byte_ns,
        .call_ns = service->call_ns,
        .cold_ns = service->cold_ns,
        .iteration_ns = service->iteration_ns,
        .in_order = true,
        .speeds = setup->speeds,
        .rank_speeds = setup->rank_speeds,
        .costs_ns = sum_costs,
        .transfer_ns = transfer,
        .context = setup,
        .limit_ns = UINT64_MAX / 2,
    };
    return 0;
}

static void fini(struct setup *setup)
{
    costs_free(setup->costs);
    free(setup->rank_speeds);
    placement_fini(&setup->placement);
}

static int take(const struct virtual_result *result, struct both_figures *figures, struct error *error)
{
    const struct supermaster *supermaster = result->supermaster;
    if (result->status != EXIT_STATUS_DONE)
        return error_set(error, "exit status %d", result->status);
    *figures = (struct both_figures){
        .elapsed_s = (double)(supermaster->last_commit_ns - supermaster->cut.first_ns) * 1e-9,
        .events = result->events,
    };
    struct report report = {0};
    struct report_worker *rows = calloc(supermaster->config.topology->workers, sizeof *rows);
    if (rows == NULL)
        return error_set(error, "out of memory");
    supermaster_fill_report(supermaster, &report, rows);
    figures->chunks = report.chunks;
    free(rows);
    return 0;
}

int both_virtual(const struct both_case *one, struct both_figures *figures, struct error *error)
{
    struct setup setup;
    int result = init(&setup, one, error);
    struct virtual_cluster *cluster = result == 0 ? virtual_new(&setup.config, error) : NULL;
    if (cluster != NULL) {
        const struct virtual_result outcome = virtual_run(cluster);
        result = take(&outcome, figures, error);
    }
    virtual_free(cluster);
    fini(&setup);
    return cluster != NULL ? result : -1;
}

static int run_simgrid(const struct both_case *one, struct both_figures *figures, struct error *error)
{
    struct setup setup;
    int result = init(&setup, one, error);
    const struct simgrid_config config = {
        .run = &setup.config,
        .platform = &setup.platform,
        .placement = &setup.placement,
        .costs = setup.costs,
        .folder = MODULES,
    };
    struct virtual_result outcome;
    struct simgrid_job *simulation = result == 0 ? simgrid_job_run(&config, &outcome, error) : NULL;
    if (simulation != NULL)
        result = take(&outcome, figures, error);
    simgrid_job_free(simulation);
    fini(&setup);
    return simulation != NULL ? result : -1;
}

/* What the other process has found. */
struct outcome {
    int result;
    struct both_figures figures;
    struct error error;
};

int both_simgrid(const struct both_case *one, struct both_figures *figures, struct error *error)
{
    struct outcome outcome = {.result = -1};
    int ends[2];
    if (pipe(ends) < 0)
        return error_set(error, "no pipe");
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        outcome.result = run_simgrid(one, &outcome.figures, &outcome.error);
        _exit(write(ends[1], &outcome, sizeof outcome) == sizeof outcome ? 0 : 1);
    }
    close(ends[1]);
    ssize_t size = read(ends[0], &outcome, sizeof outcome);
    close(ends[0]);
    waitpid(child, NULL, 0);
    if (size != sizeof outcome)
        return error_set(error, "SimGrid has ended without a result");
    *figures = outcome.figures;
    *error = outcome.error;
    return outcome.result;
}
