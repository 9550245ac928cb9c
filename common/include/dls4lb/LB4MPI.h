/* SPDX-License-Identifier: MIT */
/* The interface of LB4MPI as in Listing 1 of Eleliemy and Ciorba, A Distributed Chunk Calculation Approach for
 * Self-scheduling. It consists of DLS.h, six further techniques, and the names that LB4MPI gives to the modes of
 * chunk calculation. See dls4lb(3). */
#ifndef DLS4LB_LB4MPI_H
#define DLS4LB_LB4MPI_H

#include "dls4lb/DLS.h"

#include <mpi.h>

/* The numbers continue those of DLS.h, in which SimAS has number 14. DLS.py of DLS4LB has no SimAS, so in DLS.py each
 * of these numbers is smaller by one. */
#define TFSS 15
#define FISS 16
#define VISS 17
#define RND  18
#define PLS  19
#define TAP  20

#define CENTRALIZED   DLS_CENTRALIZED
#define DECENTRALIZED DLS_DISTRIBUTED

#endif
