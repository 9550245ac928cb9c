/* SPDX-License-Identifier: MIT */
/* What a program by hand needs for one iteration of an empty loop that it draws from a counter in a window of rank 0:
 *
 *   bare_draw COUNT   the draw (MPI_Fetch_and_op and MPI_Win_flush), the iteration's record of `synthetic`, its digest
 *
 * That is worker --dca rma with ss, without a technique, chunks, times, signals, progress and a report. One JSON line
 * on standard output: elapsed time / COUNT. */
#include "common/util/digest.h"
#include "worker/kernels/synthetic.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t draw(MPI_Win window)
{
    uint64_t one = 1, drawn;
    MPI_Fetch_and_op(&one, &drawn, MPI_UINT64_T, 0, 0, MPI_SUM, window);
    MPI_Win_flush(0, window);
    return drawn;
}

int main(int argc, char **argv)
{
    MPI_Win window;
    uint64_t *counter, digest = 0, sum, record, count = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (count == 0) {
        fprintf(stderr, "bare_draw: accepted: COUNT\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Win_allocate(rank == 0 ? sizeof *counter : 0, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD, &counter,
                     &window);
    if (rank == 0)
        *counter = 0;
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    for (uint64_t i; (i = draw(window)) < count;) {
        record = synthetic_record(1, i);
        digest += digest_record(i, &record, sizeof record);
    }
    double elapsed = MPI_Wtime() - began, longest;
    MPI_Reduce(&elapsed, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&digest, &sum, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    if (rank == 0)
        printf("{\"what\": \"draw\", \"count\": %" PRIu64 ", \"checksum\": \"%016" PRIx64 "\", \"seconds\": %.9g}\n",
               count, sum, longest / (double)count);
    MPI_Finalize();
    return 0;
}
