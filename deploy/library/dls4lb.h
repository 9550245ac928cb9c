/* SPDX-License-Identifier: MIT */
/* Internal interface between the files dls4lb*.c. */
#pragma once

#include "common/util/stats.h"
#include "dls4lb/DLS.h"

#include <stdbool.h>
#include <stdint.h>

/* The parameters of rank 0, which apply to all ranks. The struct must have no padding, because parameters are compared
 * as bytes. */
struct dls_parameters {
    int64_t first, count;
    int64_t method, min_chunk, break_after, request_when, distributed;
    double h_overhead, sigma;
};

struct dls_own {
    struct dls_parameters parameters;
    struct hdss_shared_loop *loop;
    bool leader_idles;
    bool frees_communicators;
    bool ended;
    bool in_hand;
    bool begun;
    int64_t start, size;
    int64_t rest_start, rest_size; /* remaining part of a piece that is larger than INT_MAX */
    int64_t iterations;
    double began_s;
    struct stats times;
};

void dls_init(infoDLS *info, MPI_Comm comm, int arrays);
