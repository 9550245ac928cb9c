/* SPDX-License-Identifier: MIT */
/* LB4MPI as used in Eleliemy and Ciorba (A Distributed Chunk Calculation Approach for Self-scheduling, Listing 1): the
 * calls of DLS.h, six further techniques, and the choice of the ranks that calculate chunks. See dls4lb(3). */
#ifndef DLS4LB_LB4MPI_H
#define DLS4LB_LB4MPI_H

#include "dls4lb/DLS.h"

#include <mpi.h>

/* The numbers continue those of DLS.h, where 14 is SimAS. DLS.py of DLS4LB has no SimAS, so in DLS.py the numbers
 * of these methods are one less. */
#define TFSS 15
#define FISS 16
#define VISS 17
#define RND  18
#define PLS  19
#define TAP  20

#define CENTRALIZED   DLS_CENTRALIZED
#define DECENTRALIZED DLS_DISTRIBUTED

#endif
