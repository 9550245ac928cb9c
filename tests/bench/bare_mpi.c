/* What MPI itself needs for the exchanges of flat scheduling, to be seen beside it:
 *
 *   bare_mpi fetch COUNT   all ranks draw COUNT numbers from a counter in a window of rank 0: elapsed time / COUNT
 *   bare_mpi ping COUNT    ranks 0 and 1 exchange COUNT messages of 64 bytes and their answers: elapsed time / COUNT
 *
 * One JSON line on standard output. */
#include <inttypes.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 64

static double fetch(uint64_t count)
{
    MPI_Win window;
    uint64_t *counter, one = 1, drawn = 0;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(rank == 0 ? sizeof *counter : 0, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD, &counter,
                     &window);
    if (rank == 0)
        *counter = 0;
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    while (drawn < count) {
        MPI_Fetch_and_op(&one, &drawn, MPI_UINT64_T, 0, 0, MPI_SUM, window);
        MPI_Win_flush(0, window);
    }
    double elapsed = MPI_Wtime() - began, longest;
    MPI_Allreduce(&elapsed, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    return longest / (double)count;
}

static double ping(uint64_t count)
{
    char bytes[BYTES] = "";
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    for (uint64_t i = 0; i < count && rank < 2; i++) {
        if (rank == 0) {
            MPI_Send(bytes, BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(bytes, BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(bytes, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(bytes, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
    }
    return (MPI_Wtime() - began) / (double)count;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    uint64_t count = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
    bool is_ping = count > 0 && strcmp(argv[1], "ping") == 0;
    if (count == 0 || (!is_ping && strcmp(argv[1], "fetch") != 0) || (is_ping && ranks < 2)) {
        if (rank == 0)
            fprintf(stderr, "bare_mpi: accepted: fetch COUNT, or ping COUNT with at least 2 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    double seconds = is_ping ? ping(count) : fetch(count);
    if (rank == 0)
        printf("{\"what\": \"%s\", \"ranks\": %d, \"count\": %" PRIu64 ", \"seconds\": %.9g}\n", argv[1], ranks, count,
               seconds);
    MPI_Finalize();
    return 0;
}
