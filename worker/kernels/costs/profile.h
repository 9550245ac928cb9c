/* SPDX-License-Identifier: MIT */
/* Costs as LB4OMP has measured them (Müller Korndörfer et al. 2022): its technique `profiling` notes for each execution
 * of a loop how long an iteration took in the mean, the standard deviation, and how many iterations were measured, in
 * ticks of the processor's clock, into the file that KMP_PROFILE_DATA names.
 *
 * An iteration costs what is drawn from a gamma distribution with that mean and deviation, as they say no more. Each
 * execution is a time step, with as many iterations as were measured; behind the last the first comes again. */
#pragma once

#include "worker/kernels/costs/costs.h"

#define COSTS_LB4OMP "lb4omp:"

/* What `lb4omp:FILE,mhz=M[,loop=TEXT][,seed=N]` asks for. */
struct profile_request {
    char file[512];
    double mhz;     /* ticks in a microsecond */
    char loop[256]; /* part of the location of the loop; empty: the file has one */
    uint64_t seed;  /* 1 unless given */
};

/* True if the text begins with COSTS_LB4OMP. */
bool costs_is_profile(const char *spec);

/* Reads the text of an option. -1 with one line. */
int profile_request_parse(struct profile_request *request, const char *spec, struct error *error);

/* From the text of the file, for the iterations [first, first + count). NULL with one line, which has the number of the
 * line where one of the file is not as LB4OMP writes it. */
struct costs *costs_of_profile(const struct profile_request *request, const char *text, uint64_t first, uint64_t count,
                               struct error *error);
