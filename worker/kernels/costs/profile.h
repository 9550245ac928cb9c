/* SPDX-License-Identifier: MIT */
/* Costs that LB4OMP (Müller Korndörfer et al. 2022) has measured. LB4OMP's technique `profiling` writes a line to the
 * file KMP_PROFILE_DATA for each execution of a loop. The line has the mean and standard deviation of an iteration's
 * time, in clock ticks, and the number of iterations.
 *
 * The cost of an iteration is drawn from a gamma distribution with that mean and deviation. Each execution is a time
 * step with as many iterations as were measured. If the loop has more time steps than the file has executions, the
 * first execution follows the last one again. */
#pragma once

#include "worker/kernels/costs/costs.h"

#define COSTS_LB4OMP "lb4omp:"

/* `lb4omp:FILE,mhz=M[,loop=TEXT][,seed=N]` */
struct profile_request {
    char file[512];
    double mhz;
    char loop[256]; /* part of the loop's location in the source; empty: the file must have only one loop */
    uint64_t seed;
};

bool costs_is_profile(const char *spec);

int profile_request_parse(struct profile_request *request, const char *spec, struct error *error);

/* Costs of [first, first + count) from the text of the file. Returns NULL on failure; the error has the line number. */
struct costs *costs_of_profile(const struct profile_request *request, const char *text, uint64_t first, uint64_t count,
                               struct error *error);
