/* SPDX-License-Identifier: MIT */
/* A rank that does not come back from its second addition to a counter in another one's memory, as where somebody was
 * killed who held the lock of that memory; loaded into it. It makes a file "waits.PID" where it begins to wait. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int MPI_Fetch_and_op(const void *origin, void *result, MPI_Datatype type, int rank, MPI_Aint place, MPI_Op op,
                     MPI_Win window)
{
    static int count;
    char name[32];
    if (++count == 2) {
        snprintf(name, sizeof name, "waits.%d", (int)getpid());
        close(open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        for (;;)
            pause();
    }
    return PMPI_Fetch_and_op(origin, result, type, rank, place, op, window);
}
