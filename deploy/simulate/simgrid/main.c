/* SPDX-License-Identifier: MIT */
/* The program hdss-simgrid. `hdss simulate --backend simgrid` runs this program with the same command line. So hdss
 * itself need not be linked with SimGrid. */
#include "common/os/modules.h"
#include "common/util/error.h"
#include "deploy/simulate/backend.h"
#include "deploy/simulate/simgrid/dca.h"
#include "deploy/simulate/simgrid/run.h"
#include "deploy/simulate/simulation.h"
#include "deploy/simulate/virtual/cluster.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int read_platform(void *context, const char *path, struct platform *platform, struct error *error)
{
    return simgrid_read_file(context, path, platform, error);
}

static int simulation_run_simgrid(struct simulation *simulation, const struct simgrid_file *file, const char *folder,
                                  struct error *error)
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
    int status = done != NULL ? simulation_print_result(simulation, &run, &result, HDSS_VERSION, error) : -1;
    simgrid_job_free(done);
    simulation_run_fini(&run);
    return status;
}

static int run_simgrid(struct simulation *simulation, struct simgrid_file *file, struct error *error)
{
    char folder[PATH_MAX];
    struct error missing;
    if (modules_find(SIMULATED_LAUNCHER, folder, &missing) < 0)
        return error_set(error, "--backend simgrid: the modules of simulated ranks are missing: %.400s", missing.text);
    if (simulation_prepare(simulation, read_platform, file, error) < 0)
        return -1;
    if (simulation->dca)
        return simulation_run_simgrid_dca(simulation, file, HDSS_VERSION, error);
    return simulation_run_simgrid(simulation, file, folder, error);
}

int main(int argc, char **argv)
{
    struct simulation simulation;
    struct simgrid_file file = {.count = 0};
    struct error error;
    int asked = simulation_read(&simulation, argc, argv, &error);
    int status = asked == 0 ? run_simgrid(&simulation, &file, &error) : asked;
    if (asked > 0)
        error_set(&error, "accepted: the arguments of hdss simulate");
    if (status < 0 || asked > 0) {
        fprintf(stderr, "hdss simulate: %s\n", error.text);
        status = EXIT_STATUS_USAGE;
    }
    simgrid_file_fini(&file);
    simulation_fini(&simulation);
    return status;
}
