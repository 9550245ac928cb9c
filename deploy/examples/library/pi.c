/* SPDX-License-Identifier: MIT */
/* Pi, by a loop that the ranks of MPI_COMM_WORLD share:
 *     mpicc pi.c $(pkg-config --cflags --libs hdss) -o pi && mpirun pi */
#include <hdss/hdss.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    const int64_t steps = 100000000;
    struct hdss_shared_loop *loop;
    int64_t first, count;
    double sum = 0, pi = 0;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (hdss_loop_new(MPI_COMM_WORLD, steps, NULL, &loop) < 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    while (hdss_loop_next(loop, &first, &count) > 0)
        for (int64_t i = first; i < first + count; i++)
            sum += 4 / (1 + (i + 0.5) / steps * ((i + 0.5) / steps)) / steps;
    hdss_loop_free(&loop);
    MPI_Reduce(&sum, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("pi is %.6f\n", pi);
    MPI_Finalize();
}
