/* SPDX-License-Identifier: MIT */
/* Loaded before a rank: what it sends as its BABBLE-th control message is nonsense, if it is the rank BABBLER. */
#include <mpi.h>
#include <stdlib.h>

enum { TAG_CONTROL = 1 }; /* see common/mpi/net.h */

static int number(const char *name)
{
    const char *value = getenv(name);
    return value != NULL ? atoi(value) : -1;
}

int MPI_Isend(const void *bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    static const char nonsense[16] = "nonsense";
    static int sends;
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (tag == TAG_CONTROL && rank == number("BABBLER") && ++sends == number("BABBLE"))
        return PMPI_Isend(nonsense, sizeof nonsense, MPI_BYTE, to, tag, comm, request);
    return PMPI_Isend(bytes, count, type, to, tag, comm, request);
}
