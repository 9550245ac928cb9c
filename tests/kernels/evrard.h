/* SPDX-License-Identifier: MIT */
/* Runs the evrard kernel on workers of its own, step by step, as the executor does: each step on every worker, then the
 * iterations of the step on whichever worker is next. */
#pragma once

#include "deploy/examples/kernels/papers/evrard/record.h"
#include "hdss/kernel.h"
#include "tests/kernels/run.h"

#include <string.h>

enum { EVRARD_WORKERS_MAX = 4 };

struct evrard_run {
    struct kernel_run workers[EVRARD_WORKERS_MAX];
    unsigned count;
    uint64_t particles, loops, chunk;
    double *results[2]; /* of this loop and the one before, in turn */
};

static inline void evrard_begin(struct evrard_run *run, unsigned workers, uint64_t chunk, const char *const *words)
{
    *run = (struct evrard_run){.count = workers, .chunk = chunk};
    for (unsigned w = 0; w < workers; w++)
        kernel_run_open(&run->workers[w], "evrard", words);
    const struct hdss_loop *loop = &run->workers[0].loop;
    run->loops = loop->steps;
    run->particles = loop->iterations / loop->steps;
    for (int k = 0; k < 2; k++)
        run->results[k] = kernel_run_room(&run->workers[0], run->particles);
}

static inline void evrard_end(struct evrard_run *run)
{
    for (unsigned w = 0; w < run->count; w++)
        kernel_run_close(&run->workers[w]);
    free(run->results[0]);
    free(run->results[1]);
}

/* One loop; its records, or NULL with one line. */
static inline const double *evrard_loop(struct evrard_run *run, uint64_t number, char error[HDSS_ERROR_MAX])
{
    double *records = run->results[number % 2];
    const double *before = number > 0 ? run->results[1 - number % 2] : NULL;
    for (unsigned w = 0; w < run->count; w++)
        if (run->workers[w].kernel->step(run->workers[w].instance, number, before, error) < 0)
            return NULL;
    uint64_t turn = number;
    for (uint64_t first = 0; first < run->particles; first += run->chunk) {
        uint64_t left = run->particles - first;
        kernel_run_range(&run->workers[turn++ % run->count], number * run->particles + first,
                         left < run->chunk ? left : run->chunk, records + first * EVRARD_FIELDS);
    }
    return records;
}

struct evrard_energy {
    double kinetic, internal, potential, momentum[3];
};

/* Of the records of a loop of forces. */
static inline struct evrard_energy evrard_energy_of(const double *records, uint64_t particles)
{
    struct evrard_energy energy = {0};
    for (uint64_t i = 0; i < particles; i++) {
        const double *record = records + i * EVRARD_FIELDS;
        for (int k = 0; k < 3; k++) {
            energy.kinetic += record[EVRARD_VX + k] * record[EVRARD_VX + k] / 2 / (double)particles;
            energy.momentum[k] += record[EVRARD_VX + k] / (double)particles;
        }
        energy.internal += record[EVRARD_U] / (double)particles;
        energy.potential += record[EVRARD_POTENTIAL] / 2 / (double)particles;
    }
    return energy;
}
