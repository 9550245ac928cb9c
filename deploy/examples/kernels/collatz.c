/* SPDX-License-Identifier: MIT */
/* A kernel in C with a record for each iteration: how many steps the Collatz sequence takes from a number n to 1. The
 * iterations have consecutive numbers n.
 *
 *     cc -O2 -shared -fPIC $(pkg-config --cflags hdss-kernel) collatz.c -o collatz.so
 *     hdss run ./collatz.so count=1e6 --output steps.npy */
#include <hdss/kernel.h>

#include <stdio.h>

enum { FIRST, COUNT };

static const struct hdss_param params[] = {
    {"first", HDSS_PARAM_INTEGER, "1", 1, 1e12, NULL, "", "the number to begin with"},
    {"count", HDSS_PARAM_INTEGER, "100000", 1, 1e12, NULL, "numbers", "how many numbers"},
    {NULL, HDSS_PARAM_INTEGER, NULL, 0, 0, NULL, NULL, NULL},
};

static int describe(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    (void)error;
    loop->iterations = (uint64_t)values[COUNT].integer;
    loop->type = HDSS_UINT32;
    loop->record_length = 1;
    loop->dims = 1;
    loop->shape[0] = loop->iterations;
    return 0;
}

/* The runtime calls this on each worker before the first range of the worker. `values` stay valid as long as the
 * instance. */
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
    uint32_t *steps = records;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t start = (uint64_t)values[FIRST].integer + first + i, n = start;
        for (steps[i] = 0; n != 1; steps[i]++) {
            if (n > UINT64_MAX / 3 - 1) {
                snprintf(error, HDSS_ERROR_MAX, "%llu: the sequence leaves 64 bits", (unsigned long long)start);
                return -1;
            }
            n = n % 2 == 0 ? n / 2 : 3 * n + 1;
        }
    }
    return 0;
}

HDSS_KERNEL(hdss_kernel) = {
    .abi = HDSS_KERNEL_ABI,
    .name = "collatz",
    .version = "1",
    .summary = "how many steps the Collatz sequence takes from each number",
    .params = params,
    .describe = describe,
    .open = open_kernel,
    .run = run,
};
