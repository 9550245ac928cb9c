/* SPDX-License-Identifier: MIT */
/* The calls of DLS4LB and LB4MPI on top of libhdss: a program written for them is compiled with this header, linked
 * with -lhdss, and runs. Names, numbers of methods and the fields that programs touch are theirs; the code is not.
 *
 *     infoDLS info;
 *     DLS_Setup(MPI_COMM_WORLD, &info);
 *     DLS_StartLoop(&info, first, last, FAC);
 *     while (!DLS_Terminated(&info)) {
 *         DLS_StartChunk(&info, &start, &size);
 *         ... iterations start .. start + size - 1; size may be 0
 *         DLS_EndChunk(&info);
 *     }
 *     DLS_EndLoop(&info, &iterations, &seconds);
 *     DLS_Finalize(&info);
 *
 * DLS_StartLoop and DLS_EndLoop are called by all ranks of the communicator. Parameters and weights are taken from rank
 * 0's infoDLS when a loop starts. See dls4lb(3). */
#ifndef DLS4LB_DLS_H
#define DLS4LB_DLS_H

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* Programs in C have come to rely on these. */
#ifndef __cplusplus
#ifndef min
#define min(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef max
#define max(a, b) ((a) > (b) ? (a) : (b))
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* Methods. FAC is what HDSS calls fac2, SimAS is its auto. */
#define STATIC 0
#define SS     1
#define FSC    2
#define mFSC   3
#define GSS    4
#define TSS    5
#define FAC    6
#define WF     7
#define AWF    8
#define AWF_B  9
#define AWF_C  10
#define AWF_D  11
#define AWF_E  12
#define AF     13
#define SimAS  14

/* For Configure_Chunk_Calculation_Mode(). */
#define DLS_CENTRALIZED 0
#define DLS_DISTRIBUTED 1

/* Set up by DLS_Setup() and its like; whatever it held before does not count. Fields of the first group are read when a
 * loop starts and may be changed before; the others are for reading. */
typedef struct {
    int minChunk;             /* smallest chunk; 0 or less: half of mFSC's. For GSS and all after it */
    int breakAfter;           /* iterations of rank 0 between two looks at the others; below 0: by time */
    int requestWhen;          /* iterations left when the next chunk is asked for; below 0: 15 % of the chunk */
    double h_overhead, sigma; /* for FSC; 0: measured */
    double *weights;          /* [commSize], mean 1, for WF; of AWF those that were learned */

    MPI_Comm comm; /* communicator of the sharing ranks; MPI_COMM_NULL for ranks that follow their foreman */
    MPI_Comm crew; /* communicator of this rank's group, with DLS_GroupSetup(); else MPI_COMM_NULL */
    int commSize, crewSize;
    int myRank, foreman, firstRank, lastRank; /* foreman: who coordinates */
    int method;
    int firstIter, lastIter;      /* inclusive */
    int N;                        /* number of iterations, at most the largest int */
    int timeStep;                 /* loops begun */
    int chunkStart, subChunkSize; /* piece in hand */
    int numChunks;                /* handed to this rank; after DLS_EndLoop(), on the foreman, to all */
    int itersScheduled;           /* iterations handed out, counted as in numChunks */
    int myIters;                  /* computed by this rank */
    double workTime;              /* for so many seconds */
    double *stats; /* [3 * commSize] of each rank seconds per iteration, their deviation between pieces, and pieces; on
                      the foreman, after DLS_EndLoop(); -1, -1, 0 before */
    void *own;     /* the library's */
} infoDLS;

/* "GSS"; "UNKNOWN" for a number that is no method's. */
char *get_DLS_ShortName(int method);

void DLS_Setup(MPI_Comm comm, infoDLS *info);
/* nKNL of the ranks, the last ones, have the speed KNL_speed, the others Xeon_speed: WF's weights. */
void DLS_Parameters_Setup(MPI_Comm comm, infoDLS *info, int numProcs, int requestWhen, int breakAfter, int minChunk,
                          double h_overhead, double sigma, int nKNL, double Xeon_speed, double KNL_speed);
/* For two nested loops: groups of 2 to 4 ranks of a node share the inner one (LS), their foremen the outer one (GS),
 * which rank `coordinator` hands out. */
void DLS_GroupSetup(MPI_Comm world, int coordinator, infoDLS *GS, infoDLS *LS);

void DLS_StartLoop(infoDLS *info, int firstIter, int lastIter, int method);
int DLS_Terminated(infoDLS *info);
void DLS_StartChunk(infoDLS *info, int *chunkStart, int *chunkSize);
void DLS_EndChunk(infoDLS *info);
void DLS_EndLoop(infoDLS *info, int *niters, double *worktime);
void DLS_Finalize(infoDLS *info);

/* For all loops that start from now on: DLS_CENTRALIZED (as it is at first), or DLS_DISTRIBUTED: each rank calculates
 * its chunks by itself, where the method has a closed form. */
void Configure_Chunk_Calculation_Mode(int mode);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
