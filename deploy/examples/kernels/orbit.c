/* SPDX-License-Identifier: MIT */
/* The kernel whose loop body is in orbit.f90. This file declares its parameters, its loop, and how it is called. The
 * result is an array with a row for each value that is kept, and a column for each iteration. */
#include <hdss/kernel.h>

#include <stdio.h>

int orbit_run(int64_t first, int64_t count, int64_t columns, int64_t kept, int64_t skipped, double *x);

enum { COLUMNS, KEPT, SKIPPED };

static const struct hdss_param params[] = {
    {"columns", HDSS_PARAM_INTEGER, "1000", 1, 1e9, NULL, "", "values of r from 2.5 to 4"},
    {"kept", HDSS_PARAM_INTEGER, "200", 1, 1e6, NULL, "", "values of x that are kept for each r"},
    {"skipped", HDSS_PARAM_INTEGER, "1000", 0, 1e9, NULL, "", "values of x that are skipped before these"},
    {NULL, HDSS_PARAM_INTEGER, NULL, 0, 0, NULL, NULL, NULL},
};

static int describe(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    (void)error;
    loop->iterations = (uint64_t)values[COLUMNS].integer;
    loop->type = HDSS_FLOAT64;
    loop->record_length = (uint64_t)values[KEPT].integer;
    loop->dims = 2;
    loop->shape[0] = loop->record_length;
    loop->shape[1] = loop->iterations;
    loop->layout = HDSS_LAYOUT_COLUMNS;
    return 0;
}

static int open_kernel(const union hdss_value *values, const struct hdss_loop *loop, const struct hdss_worker *worker,
                       void **instance, char error[HDSS_ERROR_MAX])
{
    (void)loop, (void)worker, (void)error;
    *instance = (void *)values;
    return 0;
}

static int run(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX])
{
    const union hdss_value *values = instance;
    if (orbit_run((int64_t)first, (int64_t)count, values[COLUMNS].integer, values[KEPT].integer,
                  values[SKIPPED].integer, records) == 0)
        return 0;
    snprintf(error, HDSS_ERROR_MAX, "an orbit has left [0, 1]");
    return -1;
}

HDSS_KERNEL(hdss_kernel) = {
    .abi = HDSS_KERNEL_ABI,
    .name = "orbit",
    .version = "1",
    .summary = "orbits of the logistic map, computed in Fortran",
    .params = params,
    .describe = describe,
    .open = open_kernel,
    .run = run,
};
