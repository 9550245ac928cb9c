/* SPDX-License-Identifier: MIT */
/* The module of the workers. */
#include "deploy/simulate/simgrid/module.h"
#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/mpi/runtime.h"
#include "deploy/simulate/simgrid/pipeline.h"
#include "deploy/simulate/simgrid/rank.h"
#include "deploy/simulate/virtual/cluster.h"
#include "deploy/simulate/virtual/machines.h"
#include "worker/worker.h"

#include <stdlib.h>

static void drive(struct simulated_run *run, unsigned rank, struct boundaries *boundaries, struct executor *executor)
{
    struct worker worker;
    const struct effects effects = {.executor = executor};
    const struct worker_config config =
        machines_worker(run->config, run->topology, topology_worker(run->topology, rank), boundaries);
    worker_init(&worker, &config);
    const struct machine machine = worker_machine(&worker);
    simulated_drive(run, rank, &machine, &effects);
}

static void compute_independent(struct simulated_run *run, unsigned rank, unsigned w)
{
    struct simulated_work work;
    simulated_work_init(&work, run, w);
    drive(run, rank, NULL, &work.executor);
}

static void compute_dependent(struct simulated_run *run, unsigned rank, unsigned w)
{
    struct simulated_pipeline *pipeline = malloc(sizeof *pipeline);
    if (pipeline == NULL) {
        simulated_give_up(run, rank, "out of memory");
        return;
    }
    simulated_pipeline_init(pipeline, run, w);
    drive(run, rank, &pipeline->boundaries, &pipeline->work.executor);
    free(pipeline);
}

void simulated_rank(struct simulated_run *run, unsigned rank)
{
    const unsigned w = topology_worker(run->topology, rank);
    if (run->config->columns > 0)
        compute_dependent(run, rank, w);
    else
        compute_independent(run, rank, w);
}
