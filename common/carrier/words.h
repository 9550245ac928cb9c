/* SPDX-License-Identifier: MIT */
/* Conversion between the integers of carrier.h and MPI handles. A handle is an int or a pointer. */
#pragma once

#include "common/carrier/carrier.h"

#include <mpi.h>

static inline carrier_comm carrier_word_of_comm(MPI_Comm comm)
{
    return comm == MPI_COMM_NULL ? 0 : (carrier_comm)comm;
}

static inline MPI_Comm carrier_comm_of(carrier_comm word)
{
    return word == 0 ? MPI_COMM_NULL : (MPI_Comm)word;
}

static inline carrier_request carrier_word_of_request(MPI_Request request)
{
    return request == MPI_REQUEST_NULL ? 0 : (carrier_request)request;
}

static inline MPI_Request carrier_request_of(carrier_request word)
{
    return word == 0 ? MPI_REQUEST_NULL : (MPI_Request)word;
}
