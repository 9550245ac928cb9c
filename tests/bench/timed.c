/* SPDX-License-Identifier: MIT */
/* A kernel for bench_shares.py, which says of each of its calls when it ran: each process that runs it writes records
 * of three numbers, the beginning and the end of a call in nanoseconds and its iterations, to a file of its own. The
 * first record, of no iterations, says when the kernel was opened. */
#include <hdss/kernel.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ITERATIONS, WORK, FOLDER };

static const struct hdss_param params[] = {
    {"iterations", HDSS_PARAM_INTEGER, "1000", 0, 1e15, NULL, "", "iterations of the loop"},
    {"work", HDSS_PARAM_INTEGER, "100000", 0, 1e15, NULL, "", "steps of an iteration, of some nanoseconds"},
    {"folder", HDSS_PARAM_TEXT, ".", 0, 0, NULL, "folder", "where the files are"},
    {NULL, HDSS_PARAM_INTEGER, NULL, 0, 0, NULL, NULL, NULL},
};

struct timed {
    uint64_t work, state;
    FILE *file;
};

static int describe(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    (void)error;
    loop->iterations = (uint64_t)values[ITERATIONS].integer;
    loop->type = HDSS_UINT64;
    loop->record_length = 1;
    loop->dims = 1;
    loop->shape[0] = loop->iterations;
    return 0;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void note_call(struct timed *timed, uint64_t began_ns, uint64_t iterations)
{
    const uint64_t call[3] = {began_ns, now_ns(), iterations};
    fwrite(call, sizeof call, 1, timed->file);
}

static int open_timed(const union hdss_value *values, const struct hdss_loop *loop, const struct hdss_worker *worker,
                      void **instance, char error[HDSS_ERROR_MAX])
{
    struct timed *timed = calloc(1, sizeof *timed);
    char path[512];
    (void)loop, (void)worker;
    snprintf(path, sizeof path, "%.400s/calls.%d", values[FOLDER].text, (int)getpid());
    if (timed != NULL)
        timed->file = fopen(path, "ae");
    if (timed == NULL || timed->file == NULL) {
        free(timed);
        snprintf(error, HDSS_ERROR_MAX, "cannot write %.300s", path);
        return -1;
    }
    timed->work = (uint64_t)values[WORK].integer;
    note_call(timed, now_ns(), 0);
    *instance = timed;
    return 0;
}

static int run(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX])
{
    struct timed *timed = instance;
    uint64_t *out = records;
    const uint64_t began_ns = now_ns();
    (void)error;
    for (uint64_t k = 0; k < count; k++) {
        for (uint64_t i = 0; i < timed->work; i++)
            timed->state = (timed->state ^ timed->state >> 29) * 0xbf58476d1ce4e5b9u + first + k;
        out[k] = first + k;
    }
    note_call(timed, began_ns, count);
    return 0;
}

static void close_timed(void *instance)
{
    struct timed *timed = instance;
    fclose(timed->file);
    free(timed);
}

HDSS_KERNEL(hdss_kernel) = {
    .abi = HDSS_KERNEL_ABI,
    .name = "timed",
    .version = "1",
    .summary = "says when its calls ran",
    .params = params,
    .describe = describe,
    .open = open_timed,
    .run = run,
    .close = close_timed,
};
