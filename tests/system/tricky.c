/* SPDX-License-Identifier: MIT */
/* A kernel for the tests of plug-ins: an iteration yields its number and as many letters as it is told, on two streams,
 * and can fail, return an error, or take its worker along. What is to happen once only happens while the file that
 * `until` names is not there; a crash makes it. */
#include <hdss/kernel.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef TRICKY_ABI
#define TRICKY_ABI HDSS_KERNEL_ABI
#endif

enum { ITERATIONS, BYTES, LARGE_AT, LARGE, SLEEP_US, FAILED_AT, ERROR_AT, RETURNS, CRASH_AT, UNTIL };

static const struct hdss_param params[] = {
    {"iterations", HDSS_PARAM_INTEGER, "100", 0, 1e9, NULL, "", "how many"},
    {"bytes", HDSS_PARAM_INTEGER, "10", 0, 1e9, NULL, "", "letters of each"},
    {"large_at", HDSS_PARAM_INTEGER, "-1", -1, 1e9, NULL, "", "one with more"},
    {"large", HDSS_PARAM_INTEGER, "0", 0, 4e9, NULL, "", "how many it has"},
    {"sleep", HDSS_PARAM_INTEGER, "0", 0, 1e9, NULL, "us", "time of each"},
    {"failed_at", HDSS_PARAM_INTEGER, "-1", -1, 1e9, NULL, "", "this and every 100th after it is called failed"},
    {"error_at", HDSS_PARAM_INTEGER, "-1", -1, 1e9, NULL, "", "an error is returned"},
    {"returns", HDSS_PARAM_INTEGER, "-1", -9, 9, NULL, "", "the error: another number than -1 is said without a line"},
    {"crash_at", HDSS_PARAM_INTEGER, "-1", -1, 1e9, NULL, "", "the worker is taken along"},
#ifndef TRICKY_NO_DEFAULT
    {"until", HDSS_PARAM_TEXT, "", 0, 0, NULL, "", "what is to happen no more once this file is there"},
#else
    {"until", HDSS_PARAM_TEXT, NULL, 0, 0, NULL, "", "what is to happen no more once this file is there"},
#endif
    {NULL, HDSS_PARAM_INTEGER, NULL, 0, 0, NULL, NULL, NULL},
};

static int describe(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    if (values[LARGE].integer > 0 && values[LARGE_AT].integer < 0) {
        snprintf(error, HDSS_ERROR_MAX, "large=%lld wants large_at", (long long)values[LARGE].integer);
        return -1;
    }
    loop->iterations = (uint64_t)values[ITERATIONS].integer;
    loop->waits = values[SLEEP_US].integer > 0;
    loop->has_effects = values[CRASH_AT].integer >= 0;
    loop->streams = 2;
    loop->stream[0].ending = "";
    loop->stream[1].ending = ".err";
    loop->stream[1].heading = "heading\n";
    return 0;
}

static int open_kernel(const union hdss_value *values, const struct hdss_loop *loop, const struct hdss_worker *worker,
                       void **instance, char error[HDSS_ERROR_MAX])
{
    (void)loop, (void)worker, (void)error;
    *instance = (void *)values;
    return 0;
}

static int happens(const union hdss_value *values, int what, uint64_t i)
{
    return values[what].integer == (int64_t)i &&
           (values[UNTIL].text[0] == '\0' || access(values[UNTIL].text, F_OK) < 0);
}

static void crash(const union hdss_value *values)
{
    if (values[UNTIL].text[0] != '\0')
        close(open(values[UNTIL].text, O_WRONLY | O_CREAT, 0666));
    *(volatile int *)0 = 1;
}

static int put_letters(struct hdss_output *output, uint64_t i, int64_t count)
{
    char *letters = malloc((size_t)count + 1);
    memset(letters, 'a' + (int)(i % 26), (size_t)count);
    letters[count] = '\n';
    int result = output->put(output, i, 0, letters, (size_t)count + 1);
    free(letters);
    return result;
}

static int run_one(const union hdss_value *values, uint64_t i, struct hdss_output *output, char *error)
{
    char number[40];
    int length = snprintf(number, sizeof number, "%llu ", (unsigned long long)i);
    int64_t at = values[FAILED_AT].integer;
    usleep((useconds_t)values[SLEEP_US].integer);
    if (happens(values, ERROR_AT, i)) {
        if (values[RETURNS].integer == -1)
            snprintf(error, HDSS_ERROR_MAX, "iteration %llu is not to my liking", (unsigned long long)i);
        return (int)values[RETURNS].integer;
    }
    if (happens(values, CRASH_AT, i))
        crash(values);
    if (output->put(output, i, 0, number, (size_t)length) < 0 ||
        put_letters(output, i, happens(values, LARGE_AT, i) ? values[LARGE].integer : values[BYTES].integer) < 0 ||
        (i % 7 == 0 && output->put(output, i, 1, "seven\n", 6) < 0))
        return -1;
    return at >= 0 && (int64_t)i % 100 == at && happens(values, FAILED_AT, (uint64_t)at) ? output->failed(output, i)
                                                                                         : 0;
}

static int run(void *instance, uint64_t first, uint64_t count, struct hdss_output *output, char error[HDSS_ERROR_MAX])
{
    int result = 0;
    for (uint64_t i = first; i < first + count && result == 0; i++)
        result = run_one(instance, i, output, error);
    return result;
}

HDSS_KERNEL(hdss_kernel) = {
    .abi = TRICKY_ABI,
    .name = "tricky",
    .version = "1",
    .summary = "what plug-ins can do",
    .params = params,
    .describe = describe,
    .open = open_kernel,
    .run_variable = run,
};
