/* SPDX-License-Identifier: MIT */
/* The interface of DLS4LB and LB4MPI on top of libhdss. A program written for them is compiled with this header and
 * linked with -lhdss. Names, method numbers and the documented fields are those of DLS4LB and LB4MPI; the
 * implementation is that of HDSS.
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
 * DLS_StartLoop and DLS_EndLoop are collective. A loop uses the parameters and weights that rank 0 has when the loop
 * starts. See dls4lb(3). */
#ifndef DLS4LB_DLS_H
#define DLS4LB_DLS_H

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* Some C programs use these macros. */
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

/* In HDSS, FAC is called fac2, and SimAS is called auto. */
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

/* DLS_Setup(), DLS_Parameters_Setup() or DLS_GroupSetup() initializes this structure. The fields of the first
 * group may be changed before a loop starts; all others are read-only. */
typedef struct {
    /* smallest chunk for GSS and for all methods with higher numbers; 0 or negative: half of the chunk of mFSC */
    int minChunk;
    /* rank 0 checks for requests each time after this many iterations; negative: rank 0 chooses the number by time */
    int breakAfter;
    /* the next chunk is requested when this many iterations of the present chunk remain; negative: when 15 % remain */
    int requestWhen;
    double h_overhead, sigma; /* overhead and deviation for FSC; 0: HDSS measures the value */
    /* [commSize] weights of the ranks, with mean 1. The program gives the weights for WF. AWF and the other adaptive
     * methods learn them. */
    double *weights;

    /* ranks that share the loop; MPI_COMM_NULL if this rank gets its iterations only from its foreman */
    MPI_Comm comm;
    MPI_Comm crew; /* this rank's group after DLS_GroupSetup(); otherwise MPI_COMM_NULL */
    int commSize, crewSize;
    int myRank, foreman, firstRank, lastRank; /* foreman: the rank that assigns the chunks */
    int method;
    int firstIter, lastIter; /* first and last iteration of the loop, inclusive */
    int N;                   /* number of iterations, at most INT_MAX */
    int timeStep;
    int chunkStart, subChunkSize;
    /* number of chunks assigned to this rank; on the foreman after DLS_EndLoop(): number of chunks assigned to all
     * ranks */
    int numChunks;
    int itersScheduled;
    int myIters;
    double workTime; /* seconds in which this rank has computed iterations */
    /* [3 * commSize] Each rank has three values: the seconds per iteration, the deviation between the timed pieces,
     * and the number of pieces. The values are valid on the foreman after DLS_EndLoop(). Before that they are -1, -1
     * and 0. */
    double *stats;
    void *own; /* for internal use */
} infoDLS;

char *get_DLS_ShortName(int method);

void DLS_Setup(MPI_Comm comm, infoDLS *info);
/* Like DLS_Setup(), but also sets the weights for WF. The last nKNL ranks have the speed KNL_speed. All other ranks
 * have the speed Xeon_speed. */
void DLS_Parameters_Setup(MPI_Comm comm, infoDLS *info, int numProcs, int requestWhen, int breakAfter, int minChunk,
                          double h_overhead, double sigma, int nKNL, double Xeon_speed, double KNL_speed);
/* Sets up two nested loops. The ranks of a node form groups of 2 to 4 ranks, each with a foreman. Each group shares
 * the inner loop (LS). The foremen of all groups share the outer loop (GS). Rank `coordinator` assigns the chunks of
 * the outer loop. */
void DLS_GroupSetup(MPI_Comm world, int coordinator, infoDLS *GS, infoDLS *LS);

void DLS_StartLoop(infoDLS *info, int firstIter, int lastIter, int method);
int DLS_Terminated(infoDLS *info);
void DLS_StartChunk(infoDLS *info, int *chunkStart, int *chunkSize);
void DLS_EndChunk(infoDLS *info);
void DLS_EndLoop(infoDLS *info, int *niters, double *worktime);
void DLS_Finalize(infoDLS *info);

/* Sets the mode of all loops that start afterwards. The default is DLS_CENTRALIZED. With DLS_DISTRIBUTED each
 * rank calculates its chunks itself if the method has a closed form. */
void Configure_Chunk_Calculation_Mode(int mode);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
