/* hdss simulate: a job on a machine that is not there. */
#include "common/runtime/simulate/simulation.h"
#include "deploy/cli/commands.h"

#include <stdio.h>

void simulate_grammar(struct grammar *grammar)
{
    *grammar = (struct grammar){simulation_options(), OPERANDS_KERNEL};
}

static int run(struct simulation *simulation, struct error *error)
{
    if (simulation->backend == SIMULATION_SIMGRID)
        return error_set(error, "--backend simgrid: this build of HDSS has no SimGrid; accepted: virtual");
    if (simulation->flat)
        return simulation_run_flat(simulation, HDSS_VERSION, error);
    return simulation_run_virtual(simulation, HDSS_VERSION, error);
}

int command_simulate(int argc, char **argv)
{
    struct simulation simulation;
    struct error error;
    int status, made = simulation_make(&simulation, argc, argv, &error);
    if (made > 0) {
        status = show_page("hdss simulate", &simulation_own_options, made);
    } else {
        status = made < 0 ? -1 : run(&simulation, &error);
        if (status < 0) {
            fprintf(stderr, "hdss simulate: %s\n", error.text);
            status = EXIT_STATUS_USAGE;
        }
    }
    simulation_fini(&simulation);
    return status;
}
