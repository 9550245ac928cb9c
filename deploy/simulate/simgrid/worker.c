/* SPDX-License-Identifier: MIT */
/* Module of the workers. */
#include "deploy/simulate/simgrid/module.h"
#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/mpi/runtime.h"
#include "deploy/simulate/simgrid/pipeline.h"
#include "deploy/simulate/simgrid/rank.h"
#include "deploy/simulate/simgrid/team.h"
#include "deploy/simulate/virtual/cluster.h"
#include "deploy/simulate/virtual/machines.h"
#include "worker/worker.h"

#include <stdlib.h>

static void drive(struct simulated_run *run, unsigned rank, struct boundaries *boundaries, struct executor *executor,
                  const struct threads *threads)
{
    struct worker worker;
    const struct effects effects = {.executor = executor};
    struct worker_config config =
        machines_worker(run->config, run->topology, topology_worker(run->topology, rank), boundaries);
    config.threads = threads;
    worker_init(&worker, &config);
    const struct machine machine = worker_machine(&worker);
    simulated_drive(run, rank, &machine, &effects);
}

static void compute_independent(struct simulated_run *run, unsigned rank, unsigned w)
{
    struct simulated_work work;
    simulated_work_init(&work, run, w);
    drive(run, rank, NULL, &work.executor, NULL);
}

static void compute_with_threads(struct simulated_run *run, unsigned rank, unsigned w)
{
    struct simulated_team *team = malloc(sizeof *team);
    if (team == NULL || simulated_team_init(team, run, w) < 0)
        simulated_give_up(run, rank, "out of memory");
    else
        drive(run, rank, NULL, &team->work.executor, &team->model.figures);
    if (team != NULL)
        thread_model_fini(&team->model);
    free(team);
}

static void compute_dependent(struct simulated_run *run, unsigned rank, unsigned w)
{
    struct simulated_pipeline *pipeline = malloc(sizeof *pipeline);
    if (pipeline == NULL) {
        simulated_give_up(run, rank, "out of memory");
        return;
    }
    simulated_pipeline_init(pipeline, run, w);
    drive(run, rank, &pipeline->boundaries, &pipeline->work.executor, NULL);
    free(pipeline);
}

void simulated_rank(struct simulated_run *run, unsigned rank)
{
    const unsigned w = topology_worker(run->topology, rank);
    if (run->config->columns > 0)
        compute_dependent(run, rank, w);
    else if (run->config->spec.threads > 1)
        compute_with_threads(run, rank, w);
    else
        compute_independent(run, rank, w);
}
