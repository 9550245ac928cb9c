/* SPDX-License-Identifier: MIT */
/* Where SMPI starts each rank: loads the module of its daemon and runs it. Its one argument is the address of the run,
 * as all ranks are in the process that has made it. */
#include "deploy/simulate/simgrid/run.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static simulated_rank_function *load(const struct simulated_run *run, unsigned rank)
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
    struct simulated_run *run = NULL;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 2 || sscanf(argv[1], "%p", (void **)&run) != 1)
        return 1;
    if (rank == 0)
        run->begun(run->context);
    simulated_rank_function *function = load(run, (unsigned)rank);
    if (function == NULL) {
        run->is_broken = true;
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    function(run, (unsigned)rank);
    MPI_Finalize();
    return 0;
}
