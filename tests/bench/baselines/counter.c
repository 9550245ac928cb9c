/* SPDX-License-Identifier: MIT */
/* A loop whose ranks draw each iteration from a counter on rank 0: counter COUNT MEAN_US. */
#include "tests/bench/baselines/work.h"

int main(int argc, char **argv)
{
    struct work work;
    MPI_Win window;
    uint64_t *counter, i;
    const uint64_t one = 1;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(rank == 0 ? sizeof *counter : 0, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD, &counter,
                     &window);
    if (rank == 0)
        *counter = 0;
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    MPI_Win_sync(window);
    work_begin(&work, argc, argv);
    for (;;) {
        MPI_Fetch_and_op(&one, &i, MPI_UINT64_T, 0, 0, MPI_SUM, window);
        MPI_Win_flush(0, window);
        if (i >= work.costs.iterations)
            break;
        work_do(&work, i, 1);
    }
    work_end(&work);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
