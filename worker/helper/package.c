/* SPDX-License-Identifier: MIT */
/* The kernel of the Python package: see package.h. Its functions are those that module.c gives each kernel in Python;
 * here they cannot be called. */
#include "worker/helper/package.h"

#include "common/os/objects.h"

#include <stdio.h>
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

static const struct hdss_param calls_params[] = {
    {.name = "folder", .kind = HDSS_PARAM_TEXT, .fallback = "", .unit = "", .summary = "of the function"},
    {.name = NULL},
};

const struct hdss_kernel package_calls = {
    .abi = HDSS_KERNEL_ABI,
    .name = PACKAGE_KERNELS "calls",
    .version = "calls-1",
    .summary = "Units of the folder of an executor.",
    .params = calls_params,
    .describe = describe_calls,
    .open = open_calls,
    .run = run_calls,
    .run_variable = run_variable_calls,
    .grow = grow_calls,
    .threads = HDSS_THREADS_NONE,
};

int package_check(struct error *error)
{
    static const struct object_kind kind = {.what = "kernel", .other = "", .for_changed = ""};
    return object_has_python(&kind, package_calls.name, error);
}

bool package_has(const char *kernel)
{
    return strncmp(kernel, PACKAGE_KERNELS, strlen(PACKAGE_KERNELS)) == 0;
}
