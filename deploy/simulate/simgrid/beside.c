/* SPDX-License-Identifier: MIT */
/* A simulated rank that both serves and computes: see rank.h. The same for real ranks is worker/job/beside.c. */
#include "common/machine/computing.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/mpi/runtime.h"
#include "deploy/simulate/simgrid/module.h"
#include "deploy/simulate/simgrid/rank.h"
#include "deploy/simulate/simgrid/work.h"
#include "deploy/simulate/virtual/cluster.h"
#include "deploy/simulate/virtual/machines.h"
#include "worker/worker.h"

#include <stdlib.h>

struct simulated_beside {
    struct simulated_work work;
    struct worker worker;
    struct computing computing;
};

int simulated_drive_beside(struct simulated_run *run, unsigned rank, const struct machine *server,
                           const struct effects *effects)
{
    const unsigned w = topology_worker(run->topology, rank);
    if (!topology_does_both(run->topology, rank))
        return simulated_drive(run, rank, server, effects);
    struct simulated_beside *beside = malloc(sizeof *beside);
    if (beside == NULL) {
        simulated_give_up(run, rank, "out of memory");
        return SIMULATED_FAILED;
    }
    const struct worker_config config = machines_worker(run->config, run->topology, w, NULL);
    struct effects both = *effects;
    simulated_work_init(&beside->work, run, w);
    beside->work.serves = true;
    both.executor = &beside->work.executor;
    worker_init(&beside->worker, &config);
    const struct machine worker = worker_machine(&beside->worker);
    if (computing_init(&beside->computing, server, &worker, rank, true) < 0) {
        free(beside);
        simulated_give_up(run, rank, "out of memory");
        return SIMULATED_FAILED;
    }
    const struct machine machine = computing_machine(&beside->computing);
    const int status = simulated_drive(run, rank, &machine, &both);
    computing_fini(&beside->computing);
    free(beside);
    return status;
}
