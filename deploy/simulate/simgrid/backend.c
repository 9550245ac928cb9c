/* SPDX-License-Identifier: MIT */
/* See backend.h. */
#include "deploy/simulate/simgrid/backend.h"

#include "deploy/simulate/backend.h"
#include "deploy/simulate/virtual/cluster.h"

#include <math.h>
#include <stdlib.h>

int simulation_run_simgrid(struct simulation *simulation, const struct simgrid_file *file, const char *folder,
                           const char *version, struct error *error)
{
    struct simulation_run run;
    struct virtual_result result;
    struct simgrid_job *done = NULL;
    const struct simgrid_config config = {
        .run = &run.config,
        .platform = &simulation->platform,
        .placement = &simulation->placement,
        .file = file->count > 0 ? file : NULL,
        .costs = simulation->costs,
        .folder = folder,
    };
    if (simulation_configure(simulation, &run, error) == 0)
        done = simgrid_job_run(&config, &result, error);
    if (done != NULL) {
        simulation->at_hand.supermaster_busy_s = simgrid_job_busy_s(done, 0);
        for (unsigned m = 0; m < simulation->masters; m++)
            simulation->at_hand.master_busy_s =
                fmax(simulation->at_hand.master_busy_s, simgrid_job_busy_s(done, 1 + m));
    }
    int status = done != NULL ? simulation_print_result(simulation, &run, &result, version, error) : -1;
    simgrid_job_free(done);
    simulation_run_fini(&run);
    return status;
}
