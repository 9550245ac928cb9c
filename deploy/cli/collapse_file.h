/* SPDX-License-Identifier: MIT */
/* The results of the kernel evrard, read back from its .npy file step by step. */
#pragma once

#include "common/util/error.h"

#include <stdint.h>

struct collapse_file {
    const char *path; /* borrowed */
    int fd;
    uint64_t steps, particles;
    uint64_t first, stride; /* bytes: where the states of step 0 are, and from step to step */
    double time_step;       /* known from the states, which are at (step + 1/2) time_step */
    double *states;         /* states of the step that was read, see worker/kernels/evrard/record.h; owned */
};

/* -1 with one line, and nothing is open: where there is no such file, or it holds something else. */
int collapse_file_init(struct collapse_file *file, const char *path, struct error *error);
void collapse_file_fini(struct collapse_file *file);

/* Reads the states of a step. -1 with one line, also where some of them were never computed. */
int collapse_file_read(struct collapse_file *file, uint64_t step, struct error *error);

double collapse_file_time(const struct collapse_file *file, uint64_t step);

/* Totals of the whole gas, of the step that was read. */
struct collapse_energy {
    double kinetic, internal, potential, total;
};

struct collapse_energy collapse_file_energy(const struct collapse_file *file);
