/* The module of the workers. */
#include "common/runtime/simgrid/module.h"
#include "common/runtime/simgrid/pipeline.h"

static void drive(struct simulated_run *run, unsigned rank, struct boundaries *boundaries, struct effects effects,
                  void *context)
{
    struct worker worker;
    const struct worker_config config =
        machines_worker(run->config, run->config->job, run->topology, topology_worker(run->topology, rank), boundaries);
    worker_init(&worker, &config);
    const struct machine machine = worker_machine(&worker);
    effects.context = context;
    simulated_drive(run, rank, &machine, &effects);
}

void simulated_rank(struct simulated_run *run, unsigned rank)
{
    const unsigned w = topology_worker(run->topology, rank);
    struct simulated_work work;
    struct simulated_pipeline pipeline;
    if (run->config->columns > 0) {
        simulated_pipeline_init(&pipeline, run, w);
        drive(run, rank, &pipeline.boundaries, simulated_pipeline_effects, &pipeline);
    } else {
        simulated_work_init(&work, run, w);
        drive(run, rank, NULL, simulated_work_effects, &work);
    }
}
