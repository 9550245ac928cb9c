/* SPDX-License-Identifier: MIT */
/* SMPI starts this module for each rank. The module loads the module of the rank's daemon, which runs the rank. All
 * ranks are in one process. simulated_set_run() is called once before the ranks start, and stores the run for all of
 * them. */
#include "deploy/simulate/simgrid/run.h"
#include "proto/message.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static struct simulated_run *run;

simulated_set_run_function simulated_set_run;

void simulated_set_run(struct simulated_run *the_run)
{
    run = the_run;
}

static simulated_rank_function *load_daemon(unsigned rank)
{
    char path[4096];
    simulated_rank_function *function = NULL;
    snprintf(path, sizeof path, "%s/hdss-simulated-%s.so", run->folder, role_name(run->hellos[rank].role));
    void *module = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    void *symbol = module != NULL ? dlsym(module, SIMULATED_RANK_NAME) : NULL;
    if (symbol == NULL)
        fprintf(stderr, "hdss simulate: %s\n", dlerror());
    memcpy(&function, &symbol, sizeof function);
    return function;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (run == NULL)
        return 1;
    if (rank == 0)
        run->begun(run->context);
    simulated_rank_function *function = load_daemon((unsigned)rank);
    if (function == NULL) {
        run->is_broken = true;
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    function(run, (unsigned)rank);
    MPI_Finalize();
    return 0;
}
