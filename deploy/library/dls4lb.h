/* SPDX-License-Identifier: MIT */
/* What the files dls4lb*.c share. */
#pragma once

#include "common/util/stats.h"
#include "dls4lb/DLS.h"

#include <stdbool.h>
#include <stdint.h>

/* The parameters of rank 0, which apply to all ranks. They are compared as bytes, so there must be no padding. */
struct dls_parameters {
    int64_t first, count;
    int64_t method, min_chunk, break_after, request_when, distributed;
    double h_overhead, sigma;
};

struct dls_own {
    struct dls_parameters parameters;
    struct hdss_shared_loop *loop;
    bool leader_idles;        /* in the outer loop of groups, if rank 0 computes nothing */
    bool frees_communicators; /* the communicators of DLS_GroupSetup() must be freed */
    bool ended;
    bool in_hand;
    bool begun;
    int64_t start, size;           /* the fetched piece, in the program's numbering */
    int64_t rest_start, rest_size; /* what is left of a piece larger than INT_MAX */
    int64_t iterations;
    double began_s;
    struct stats times; /* time of an iteration, with one value for each piece */
};

void dls_init(infoDLS *info, MPI_Comm comm, int arrays);
