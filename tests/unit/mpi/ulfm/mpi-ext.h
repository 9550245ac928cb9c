/* SPDX-License-Identifier: MIT */
/* What ulfm.c uses of Open MPI 5's header of this name, for libraries that do not have it. test_ulfm.c plays the
 * library. */
#pragma once

#include <mpi.h>

#undef MPIX_ERR_PROC_FAILED /* MPICH has numbers of its own */
#undef MPIX_ERR_PROC_FAILED_PENDING
#define MPIX_ERR_PROC_FAILED         MPI_ERR_OTHER
#define MPIX_ERR_PROC_FAILED_PENDING MPI_ERR_PENDING

int MPIX_Comm_get_failed(MPI_Comm comm, MPI_Group *failed);
int MPIX_Comm_ack_failed(MPI_Comm comm, int count, int *acknowledged);
