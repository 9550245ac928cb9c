/* SPDX-License-Identifier: MIT */
/* The data that the two halves of the DLS4LB calls share. */
#pragma once

#include "common/util/stats.h"
#include "dls4lb/DLS.h"

#include <stdbool.h>
#include <stdint.h>

/* Parameters that all ranks of a loop must have alike: rank 0's. Their bytes are compared, so the structure holds no
 * padding. */
struct dls_parameters {
    int64_t first, count;
    int64_t method, min_chunk, break_after, request_when, distributed;
    double h_overhead, sigma;
};

/* Behind infoDLS.own. */
struct dls_own {
    struct dls_parameters parameters; /* parameters of the loop that is there */
    struct hdss_shared_loop *loop;    /* NULL: none, or none is needed here */
    bool leader_idles;                /* rank 0 of a group's outer loop, which computes nothing */
    bool frees_communicators;         /* frees the communicators of DLS_GroupSetup() */
    bool ended;                       /* the loop, for this rank */
    bool in_hand;                     /* a piece was fetched and not begun */
    bool begun;                       /* a piece was begun and not ended */
    int64_t start, size;              /* the piece that was fetched, in the program's numbers */
    int64_t rest_start, rest_size;    /* rest of the piece that did not fit an int */
    int64_t iterations;               /* computed by this rank */
    double began_s;
    struct stats times; /* times of an iteration, piece by piece */
};

/* Fills in what DLS_Setup() does; `comm` may be MPI_COMM_NULL. */
void dls_init(infoDLS *info, MPI_Comm comm, int arrays);
