/* SPDX-License-Identifier: MIT */
/* Tables of the kernels of the Python package: see package.h. The tables equal those that module.c makes. But the
 * kernels of these tables can only be described: their other functions fail. */
#include "worker/helper/package.h"

#include "common/config/element_type.h"
#include "common/os/objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int refuse(char error[HDSS_ERROR_MAX])
{
    snprintf(error, HDSS_ERROR_MAX, "runs in helpers only");
    return -1;
}

static int describe_calls(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    (void)values, (void)error;
    loop->streams = 1;
    loop->stream[0].ending = "";
    loop->has_effects = true;
    return 0;
}

static int open_calls(const union hdss_value *values, const struct hdss_loop *loop, const struct hdss_worker *worker,
                      void **instance, char error[HDSS_ERROR_MAX])
{
    (void)values, (void)loop, (void)worker, (void)instance;
    return refuse(error);
}

static int run_calls(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX])
{
    (void)instance, (void)first, (void)count, (void)records;
    return refuse(error);
}

static int run_variable_calls(void *instance, uint64_t first, uint64_t count, struct hdss_output *output,
                              char error[HDSS_ERROR_MAX])
{
    (void)instance, (void)first, (void)count, (void)output;
    return refuse(error);
}

static int grow_calls(const union hdss_value *values, uint64_t *iterations, char error[HDSS_ERROR_MAX])
{
    (void)values, (void)iterations, (void)error;
    return 0;
}

enum { LOOP_CALL, LOOP_ITERATIONS, LOOP_DTYPE, LOOP_SHAPE };

static int describe_loop(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    const char *rest = values[LOOP_SHAPE].text;
    bool is_valid = element_type_find(values[LOOP_DTYPE].text, &loop->type);
    loop->iterations = (uint64_t)values[LOOP_ITERATIONS].integer;
    loop->record_length = 1;
    loop->shape[loop->dims++] = loop->iterations;
    while (*rest != '\0' && loop->dims < HDSS_DIMS_MAX) {
        char *end;
        loop->shape[loop->dims] = strtoull(rest, &end, 10);
        loop->record_length *= loop->shape[loop->dims++];
        rest = end + (*end == 'x');
    }
    if (is_valid && *rest == '\0' && loop->record_length > 0)
        return 0;
    snprintf(error, HDSS_ERROR_MAX, "dtype or shape is none that hdss.loop() gives");
    return -1;
}

static const struct hdss_param calls_params[] = {
    {.name = "folder", .kind = HDSS_PARAM_TEXT, .fallback = "", .unit = "", .summary = "of the function"},
    {.name = NULL},
};

static const struct hdss_param loop_params[] = {
    [LOOP_CALL] = {.name = "call", .kind = HDSS_PARAM_TEXT, .fallback = "", .unit = "", .summary = "of the function"},
    [LOOP_ITERATIONS] = {.name = "iterations",
                         .kind = HDSS_PARAM_INTEGER,
                         .fallback = "0",
                         .maximum = 1e18,
                         .unit = "",
                         .summary = "of the function"},
    [LOOP_DTYPE] = {.name = "dtype", .kind = HDSS_PARAM_TEXT, .fallback = "", .unit = "", .summary = "of the function"},
    [LOOP_SHAPE] = {.name = "shape", .kind = HDSS_PARAM_TEXT, .fallback = "", .unit = "", .summary = "of the function"},
    {.name = NULL},
};

#define PACKAGE_KERNEL(called, says, row, described)                                                                   \
    {                                                                                                                  \
        .abi = HDSS_KERNEL_ABI, .name = "python:hdss._worker." called, .version = called "-1", .summary = (says),      \
        .params = (row), .describe = (described), .open = open_calls, .run = run_calls,                                \
        .run_variable = run_variable_calls, .grow = grow_calls, .threads = HDSS_THREADS_NONE,                          \
    }

static const struct hdss_kernel kernels[] = {
    PACKAGE_KERNEL("calls", "Units of the folder of an executor.", calls_params, describe_calls),
    PACKAGE_KERNEL("loop", "Iterations of the function in the file `call`.", loop_params, describe_loop),
};

const struct hdss_kernel *package_find(const char *name)
{
    for (unsigned i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(kernels[i].name, name) == 0)
            return &kernels[i];
    return NULL;
}

int package_check(struct error *error)
{
    static const struct object_kind kind = {.what = "kernel", .other = "", .for_changed = ""};
    return object_has_python(&kind, kernels[0].name, error);
}
