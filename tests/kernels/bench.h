/* SPDX-License-Identifier: MIT */
/* What the benchmarks of kernels measure with and print. */
#pragma once

#include <stdio.h>
#include <time.h>

enum { ROUNDS = 5 };

static inline double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline void print_machine(void)
{
    char line[256], model[200] = "unknown";
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "model name : %199[^\n]", model) == 1)
            break;
    if (file != NULL)
        fclose(file);
    printf("# %s, compiler %s\n", model, __VERSION__);
}

static inline void report(const char *kernel, const char *variant, const char *unit, double amount, double seconds,
                          double plain_seconds)
{
    printf("{\"kernel\":\"%s\",\"variant\":\"%s\",\"%s_per_s\":%.4g,\"times_plain\":%.2f}\n", kernel, variant, unit,
           amount / seconds, plain_seconds / seconds);
}
