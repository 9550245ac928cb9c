/* SPDX-License-Identifier: MIT */
/* Internal interface between the files dls4lb*.c. */
#pragma once

#include "common/util/stats.h"
#include "dls4lb/DLS.h"

#include <stdbool.h>
#include <stdint.h>

/* Parameters of rank 0, which apply to all ranks. Compared bytewise, so the structure has no padding. */
struct dls_parameters {
    int64_t first, count;
    int64_t method, min_chunk, break_after, request_when, distributed;
    double h_overhead, sigma;
};

/* infoDLS.own */
struct dls_own {
    struct dls_parameters parameters;
    struct hdss_shared_loop *loop; /* NULL: none */
    bool leader_idles;             /* outer loop of groups whose rank 0 computes nothing */
    bool frees_communicators;      /* those of DLS_GroupSetup() */
    bool ended;
    bool in_hand;                  /* fetched and not begun */
    bool begun;                    /* begun and not ended */
    int64_t start, size;           /* fetched piece, in the program's numbering */
    int64_t rest_start, rest_size; /* rest of a piece larger than INT_MAX */
    int64_t iterations;            /* computed by this rank */
    double began_s;
    struct stats times; /* of an iteration, per piece */
};

/* Implements DLS_Setup(); `comm` may be MPI_COMM_NULL. */
void dls_init(infoDLS *info, MPI_Comm comm, int arrays);
