/* SPDX-License-Identifier: MIT */
/* A kernel for tests of what happens to a loop that runs: its iterations take their time until a file is there, and
 * none from then on; the last ones wait for it however long. A test makes the file when all has happened that is to,
 * so that the loop is not over before, however slow the machine is, and is over soon after. */
#include <hdss/kernel.h>

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { ITERATIONS, ELEMENTS, SLEEP_US, UNTIL, HELD, CRASH };

enum { LOOK_US = 5000 }; /* it looks for the file so often */

static const struct hdss_param params[] = {
    {"iterations", HDSS_PARAM_INTEGER, "40000", 0, 1e9, NULL, "", "of the loop"},
    {"elements", HDSS_PARAM_INTEGER, "1", 1, 1e9, NULL, "", "that each yields"},
    {"sleep", HDSS_PARAM_INTEGER, "5000", 0, 1e9, NULL, "us", "time of each"},
    {"until", HDSS_PARAM_TEXT, "", 0, 0, NULL, "file", "from when on they take none"},
    {"held", HDSS_PARAM_INTEGER, "0", 0, 1e9, NULL, "", "iterations at the end that wait for the file"},
    {"crash", HDSS_PARAM_INTEGER, "-1", -1, 1e9, NULL, "",
     "iteration that kills two workers, and waits for the file where a third one computes it with care"},
    {NULL, HDSS_PARAM_INTEGER, NULL, 0, 0, NULL, NULL, NULL},
};

static int describe(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    (void)error;
    loop->dims = 2;
    loop->iterations = loop->shape[0] = (uint64_t)values[ITERATIONS].integer;
    loop->record_length = loop->shape[1] = (uint64_t)values[ELEMENTS].integer;
    loop->type = HDSS_UINT64;
    loop->waits = true;
    return 0;
}

static int open_kernel(const union hdss_value *values, const struct hdss_loop *loop, const struct hdss_worker *worker,
                       void **instance, char error[HDSS_ERROR_MAX])
{
    (void)loop, (void)worker, (void)error;
    *instance = (void *)values;
    return 0;
}

static void take_time(const union hdss_value *values, uint64_t iteration)
{
    bool is_held = iteration + (uint64_t)values[HELD].integer >= (uint64_t)values[ITERATIONS].integer;
    int64_t left = is_held ? INT64_MAX : values[SLEEP_US].integer;
    while (left > 0 && access(values[UNTIL].text, F_OK) != 0) {
        usleep(left < LOOK_US ? (useconds_t)left : LOOK_US);
        left -= LOOK_US;
    }
}

/* Each time makes a file longer. */
static void crash(const union hdss_value *values)
{
    FILE *file = fopen("crashes", "a");
    fputc('.', file);
    const bool waits = ftell(file) > 2;
    fclose(file);
    while (waits && access(values[UNTIL].text, F_OK) != 0)
        usleep(LOOK_US);
    raise(SIGSEGV);
}

static int run(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX])
{
    const union hdss_value *values = instance;
    uint64_t elements = (uint64_t)values[ELEMENTS].integer, *values_out = records;
    (void)error;
    for (uint64_t i = first; i < first + count; i++) {
        take_time(values, i);
        if ((int64_t)i == values[CRASH].integer)
            crash(values);
        for (uint64_t e = i * elements; e < (i + 1) * elements; e++)
            *values_out++ = e * e + 1; /* a record that is not there is zero */
    }
    return 0;
}

HDSS_KERNEL(hdss_kernel) = {
    .abi = HDSS_KERNEL_ABI,
    .name = "unhurried",
    .version = "1",
    .summary = "iterations that take their time until a file is there",
    .params = params,
    .describe = describe,
    .open = open_kernel,
    .run = run,
};
