/* SPDX-License-Identifier: MIT */
/* The interface of DLS4LB and LB4MPI on top of libhdss. A program written for them is compiled with this header and
 * linked with -lhdss. Names, method numbers and the documented fields are theirs; the implementation is not.
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
 * DLS_StartLoop and DLS_EndLoop are collective. Only the parameters and weights of rank 0 at the start of a loop count.
 * See dls4lb(3). */
#ifndef DLS4LB_DLS_H
#define DLS4LB_DLS_H

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* Some C programs rely on these macros. */
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

/* FAC is fac2 in HDSS, and SimAS is auto. */
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

#define DLS_CENTRALIZED 0
#define DLS_DISTRIBUTED 1

/* DLS_Setup() or a similar function initializes it. The first group of fields may be changed before a loop starts; the
 * others are read-only. */
typedef struct {
    int minChunk;    /* smallest chunk of GSS and the methods after it; 0 or less: half of mFSC's */
    int breakAfter;  /* on rank 0, iterations between two checks for requests; negative: by time */
    int requestWhen; /* remaining iterations at which the next chunk is requested; negative: 15 % of the chunk */
    double h_overhead, sigma; /* for FSC; 0: measured */
    double *weights;          /* [commSize] with mean 1: given for WF, learned for AWF */

    MPI_Comm comm; /* ranks that share the loop; MPI_COMM_NULL for a rank that follows its foreman */
    MPI_Comm crew; /* after DLS_GroupSetup(), this rank's group; else MPI_COMM_NULL */
    int commSize, crewSize;
    int myRank, foreman, firstRank, lastRank; /* foreman: rank of the coordinator */
    int method;
    int firstIter, lastIter; /* inclusive */
    int N;                   /* number of iterations, at most INT_MAX */
    int timeStep;
    int chunkStart, subChunkSize;
    int numChunks; /* chunks given to this rank; after DLS_EndLoop(), on the foreman, to all ranks */
    int itersScheduled;
    int myIters;
    double workTime; /* seconds that the iterations of this rank took */
    /* [3 * commSize]. For each rank: seconds per iteration, deviation between pieces, number of pieces. Valid on the
     * foreman after DLS_EndLoop(), and -1, -1, 0 before. */
    double *stats;
    void *own; /* internal */
} infoDLS;

char *get_DLS_ShortName(int method);

void DLS_Setup(MPI_Comm comm, infoDLS *info);
/* Sets the weights of WF: the last nKNL ranks have the speed KNL_speed, the others Xeon_speed. */
void DLS_Parameters_Setup(MPI_Comm comm, infoDLS *info, int numProcs, int requestWhen, int breakAfter, int minChunk,
                          double h_overhead, double sigma, int nKNL, double Xeon_speed, double KNL_speed);
/* For two nested loops. Groups of 2 to 4 ranks of a node share the inner loop (LS). Their foremen share the outer loop
 * (GS), which rank `coordinator` assigns. */
void DLS_GroupSetup(MPI_Comm world, int coordinator, infoDLS *GS, infoDLS *LS);

void DLS_StartLoop(infoDLS *info, int firstIter, int lastIter, int method);
int DLS_Terminated(infoDLS *info);
void DLS_StartChunk(infoDLS *info, int *chunkStart, int *chunkSize);
void DLS_EndChunk(infoDLS *info);
void DLS_EndLoop(infoDLS *info, int *niters, double *worktime);
void DLS_Finalize(infoDLS *info);

/* Counts for all loops that start afterwards. DLS_CENTRALIZED is the default. With DLS_DISTRIBUTED each rank calculates
 * its chunks itself if the method has a closed form. */
void Configure_Chunk_Calculation_Mode(int mode);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
