/* SPDX-License-Identifier: MIT */
/* A kernel in C with time steps: heat that spreads along a rod, whose ends stay at 0. Each step is a loop over the
 * cells. A step needs all results of the previous step, whichever workers have computed them.
 *
 *     cc -O2 -shared -fPIC $(pkg-config --cflags hdss-kernel) heat.c -o heat.so
 *     hdss run ./heat.so cells=1000 steps=100 --output heat.npy */
#include <hdss/kernel.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS, STEPS, RATE };

static const struct hdss_param params[] = {
    {"cells", HDSS_PARAM_INTEGER, "1000", 1, 1e9, NULL, "cells", "length of the rod"},
    {"steps", HDSS_PARAM_INTEGER, "100", 1, 1e6, NULL, "", "time steps"},
    {"rate", HDSS_PARAM_REAL, "0.25", 0, 0.5, NULL, "", "part of a difference that goes to each neighbour in a step"},
    {NULL, HDSS_PARAM_INTEGER, NULL, 0, 0, NULL, NULL, NULL},
};

struct heat {
    uint64_t cells;
    double rate;
    double *before;
};

static int describe(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    (void)error;
    loop->steps = (uint64_t)values[STEPS].integer;
    loop->iterations = loop->steps * (uint64_t)values[CELLS].integer;
    loop->type = HDSS_FLOAT64;
    loop->record_length = 1;
    loop->dims = 2;
    loop->shape[0] = loop->steps;
    loop->shape[1] = (uint64_t)values[CELLS].integer;
    return 0;
}

static void close_kernel(void *instance)
{
    struct heat *heat = instance;
    free(heat->before);
    free(heat);
}

static int open_kernel(const union hdss_value *values, const struct hdss_loop *loop, const struct hdss_worker *worker,
                       void **instance, char error[HDSS_ERROR_MAX])
{
    (void)loop, (void)worker;
    struct heat *heat = calloc(1, sizeof *heat);
    if (heat != NULL) {
        heat->cells = (uint64_t)values[CELLS].integer;
        heat->rate = values[RATE].real;
        heat->before = calloc(heat->cells + 2, sizeof *heat->before);
    }
    if (heat != NULL && heat->before != NULL) {
        *instance = heat;
        return 0;
    }
    free(heat);
    snprintf(error, HDSS_ERROR_MAX, "out of memory");
    return -1;
}

static int step(void *instance, uint64_t number, const void *results, char error[HDSS_ERROR_MAX])
{
    (void)error;
    struct heat *heat = instance;
    if (number > 0)
        memcpy(heat->before + 1, results, heat->cells * sizeof *heat->before);
    for (uint64_t i = 0; number == 0 && i < heat->cells; i++)
        heat->before[i + 1] = i >= heat->cells / 3 && i < heat->cells - heat->cells / 3 ? 1 : 0;
    return 0;
}

/* Iterations are numbered through all steps: iteration i is cell i % cells of step i / cells. */
static int run(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX])
{
    (void)error;
    const struct heat *heat = instance;
    double *after = records;
    for (uint64_t i = 0; i < count; i++) {
        const double *cell = heat->before + 1 + (first + i) % heat->cells;
        after[i] = cell[0] + heat->rate * (cell[-1] - 2 * cell[0] + cell[1]);
    }
    return 0;
}

HDSS_KERNEL(hdss_kernel) = {
    .abi = HDSS_KERNEL_ABI,
    .name = "heat",
    .version = "1",
    .summary = "heat that spreads along a rod, in time steps",
    .params = params,
    .describe = describe,
    .open = open_kernel,
    .run = run,
    .step = step,
    .close = close_kernel,
};
