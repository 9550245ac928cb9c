/* SPDX-License-Identifier: MIT */
/* What the two halves of the DLS4LB calls share. */
#pragma once

#include "common/util/stats.h"
#include "dls4lb/DLS.h"
#include "hdss/hdss.h"

#include <stdbool.h>
#include <stdint.h>

/* What all ranks of a loop must have alike: rank 0's. Its bytes are compared, so it holds no padding. */
struct dls_parameters {
    int64_t first, count;
    int64_t method, min_chunk, break_after, request_when, distributed;
    double h_overhead, sigma;
};

/* Behind infoDLS.own. */
struct dls_own {
    struct dls_parameters parameters; /* of the loop that is there */
    struct hdss_shared_loop *loop;    /* NULL: none, or none is needed here */
    bool leader_idles;                /* of a group's outer loop: rank 0 computes nothing */
    bool frees_communicators;         /* those of DLS_GroupSetup() */
    bool ended;                       /* the loop, for this rank */
    bool in_hand;                     /* a piece was fetched and not begun */
    bool begun;                       /* one was begun and not ended */
    int64_t start, size;              /* of the piece that was fetched, in the program's numbers */
    int64_t rest_start, rest_size;    /* what did not fit an int of it */
    int64_t iterations;               /* computed by this rank */
    double began_s;
    struct stats times; /* of an iteration, piece by piece */
};

/* Fills in what DLS_Setup() does; `comm` may be MPI_COMM_NULL. */
void dls_init(infoDLS *info, MPI_Comm comm, int arrays);
