/* The module of the workers. */
#include "common/runtime/simgrid/module.h"
#include "common/runtime/simgrid/work.h"

void simulated_rank(struct simulated_run *run, unsigned rank)
{
    const struct topology *topology = run->topology;
    struct worker worker;
    struct simulated_work work;
    unsigned w = topology_worker(topology, rank);
    const struct worker_config config = machines_worker(run->config, run->config->job, topology, w, NULL);
    worker_init(&worker, &config);
    simulated_work_init(&work, run, w);
    const struct machine machine = worker_machine(&worker);
    struct effects effects = simulated_work_effects;
    effects.context = &work;
    simulated_drive(run, rank, &machine, &effects);
}
