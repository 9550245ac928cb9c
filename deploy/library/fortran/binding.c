/* SPDX-License-Identifier: MIT */
/* The parts of the Fortran modules that iso_c_binding cannot express. A communicator is an integer in Fortran, but a
 * handle in C.
 *
 * The Fortran type infoDLS has arrays that no C structure can have. So each Fortran infoDLS has a C infoDLS on the
 * heap. A structure of plain numbers carries values from the C infoDLS to the Fortran infoDLS. */
#include <mpi.h>

#include "dls4lb/DLS.h"
#include "hdss/hdss.h"

#include <stdio.h>

/* Outputs of infoDLS, in the order of `dls4lb_fields` in dls4lb_calls.f90. */
struct dls4lb_fields {
    int comm, crew;
    int foreman, my_rank, first_rank, last_rank, comm_size, crew_size;
    int method, first_iteration, last_iteration, iterations, iterations_scheduled, time_step;
    int chunk_start, chunks, piece_size, own_iterations;
    double work_s;
};

/* Inputs before a loop begins, in the order of `dls4lb_parameters` in dls4lb_calls.f90. */
struct dls4lb_fortran_parameters {
    int min_chunk, break_after, request_when;
    double h_s, sigma_s;
};

infoDLS *dls4lb_fortran_new(int comm);
void dls4lb_fortran_new_groups(int world, int coordinator, infoDLS **outer, infoDLS **inner);
void dls4lb_fortran_copy_group_comms(const infoDLS *outer, const infoDLS *inner, int *outer_comm, int *inner_comm);
void dls4lb_fortran_free(infoDLS *info);
void dls4lb_fortran_read(const infoDLS *info, struct dls4lb_fields *fields, double *stats, double *weights);
void dls4lb_fortran_write(infoDLS *info, const struct dls4lb_fortran_parameters *parameters, const double *weights);
int hdss_fortran_loop_new(int comm, int64_t iterations, struct hdss_options *options, struct hdss_shared_loop **loop);

static infoDLS *dls4lb_fortran_allocate(MPI_Comm comm)
{
    infoDLS *info = malloc(sizeof *info);
    if (info == NULL) {
        fprintf(stderr, "DLS4LB: out of memory\n");
        MPI_Abort(comm, 1);
    }
    return info;
}

infoDLS *dls4lb_fortran_new(int comm)
{
    infoDLS *info = dls4lb_fortran_allocate(MPI_Comm_f2c(comm));
    if (info != NULL)
        DLS_Setup(MPI_Comm_f2c(comm), info);
    return info;
}

void dls4lb_fortran_new_groups(int world, int coordinator, infoDLS **outer, infoDLS **inner)
{
    MPI_Comm comm = MPI_Comm_f2c(world);
    *outer = dls4lb_fortran_allocate(comm);
    *inner = dls4lb_fortran_allocate(comm);
    if (*outer != NULL && *inner != NULL)
        DLS_GroupSetup(comm, coordinator, *outer, *inner);
}

static int dls4lb_copy_comm(MPI_Comm comm)
{
    MPI_Comm copy = MPI_COMM_NULL;
    if (comm != MPI_COMM_NULL)
        MPI_Comm_dup(comm, &copy);
    return MPI_Comm_c2f(copy);
}

/* Returns duplicates of the communicators, which the program must free. */
void dls4lb_fortran_copy_group_comms(const infoDLS *outer, const infoDLS *inner, int *outer_comm, int *inner_comm)
{
    *outer_comm = dls4lb_copy_comm(outer->comm);
    *inner_comm = dls4lb_copy_comm(inner->comm);
}

void dls4lb_fortran_free(infoDLS *info)
{
    DLS_Finalize(info);
    free(info);
}

/* lastRank counts the coordinator of the foremen, but commSize does not. */
static size_t dls4lb_rank_count(const infoDLS *info)
{
    int count = info->lastRank + 1 > info->commSize ? info->lastRank + 1 : info->commSize;
    return count > 0 ? (size_t)count : 0;
}

void dls4lb_fortran_read(const infoDLS *info, struct dls4lb_fields *fields, double *stats, double *weights)
{
    *fields = (struct dls4lb_fields){
        .comm = MPI_Comm_c2f(info->comm),
        .crew = MPI_Comm_c2f(info->crew),
        .foreman = info->foreman,
        .my_rank = info->myRank,
        .first_rank = info->firstRank,
        .last_rank = info->lastRank,
        .comm_size = info->commSize,
        .crew_size = info->crewSize,
        .method = info->method,
        .first_iteration = info->firstIter,
        .last_iteration = info->lastIter,
        .iterations = info->N,
        .iterations_scheduled = info->itersScheduled,
        .time_step = info->timeStep,
        .chunk_start = info->chunkStart,
        .chunks = info->numChunks,
        .piece_size = info->subChunkSize,
        .own_iterations = info->myIters,
        .work_s = info->workTime,
    };
    if (stats != NULL)
        memcpy(stats, info->stats, 3 * dls4lb_rank_count(info) * sizeof *stats);
    if (weights != NULL)
        memcpy(weights, info->weights, dls4lb_rank_count(info) * sizeof *weights);
}

void dls4lb_fortran_write(infoDLS *info, const struct dls4lb_fortran_parameters *parameters, const double *weights)
{
    info->minChunk = parameters->min_chunk;
    info->breakAfter = parameters->break_after;
    info->requestWhen = parameters->request_when;
    info->h_overhead = parameters->h_s;
    info->sigma = parameters->sigma_s;
    if (weights != NULL)
        memcpy(info->weights, weights, dls4lb_rank_count(info) * sizeof *weights);
}

int hdss_fortran_loop_new(int comm, int64_t iterations, struct hdss_options *options, struct hdss_shared_loop **loop)
{
    return hdss_loop_new(MPI_Comm_f2c(comm), iterations, options, loop);
}
