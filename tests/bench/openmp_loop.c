/* SPDX-License-Identifier: MIT */
/* The loop of a kernel in one process by OpenMP: what self-scheduling costs where no message is needed. Each thread has
 * an instance of the kernel of its own and writes its records where the worker's executor would, in a buffer that stays
 * in the cache, and digests them as a worker does.
 *
 *   openmp_loop SCHEDULE THREADS KERNEL [KEY=VALUE]...     SCHEDULE: static, dynamic, guided
 *
 * Prints {"seconds": .., "checksum": ".."}. */
#include "common/config/params.h"
#include "common/util/digest.h"
#include "common/util/error.h"
#include "hdss/kernel.h"
#include "worker/kernels/kernels.h"

#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 1024

static int fail(const char *text)
{
    fprintf(stderr, "openmp_loop: %s\n", text);
    return EXIT_FAILURE;
}

static bool schedule_of(const char *name, omp_sched_t *schedule)
{
    *schedule = strcmp(name, "dynamic") == 0  ? omp_sched_dynamic
                : strcmp(name, "guided") == 0 ? omp_sched_guided
                                              : omp_sched_static;
    return *schedule != omp_sched_static || strcmp(name, "static") == 0;
}

/* Opens an instance for each thread. */
static int open_all(const struct hdss_kernel *kernel, const union hdss_value *values, const struct hdss_loop *loop,
                    unsigned threads, void **instances, void **records)
{
    char text[HDSS_ERROR_MAX];
    const struct hdss_worker worker = {0};
    for (unsigned t = 0; t < threads; t++) {
        records[t] = aligned_alloc(64, (hdss_record_size(loop) + 63) / 64 * 64);
        if (records[t] == NULL || kernel->open(values, loop, &worker, &instances[t], text) < 0)
            return -1;
    }
    return 0;
}

static int run_loop(const struct hdss_kernel *kernel, const struct hdss_loop *loop, void **instances, void **records)
{
    const int64_t iterations = (int64_t)loop->iterations;
    const size_t bytes = hdss_record_size(loop);
    uint64_t digest = 0;
    int failed = 0;
    double began = omp_get_wtime();
#pragma omp parallel for schedule(runtime) reduction(+ : digest, failed)
    for (int64_t i = 0; i < iterations; i++) {
        char text[HDSS_ERROR_MAX];
        int thread = omp_get_thread_num();
        failed += kernel->run(instances[thread], (uint64_t)i, 1, records[thread], text) < 0;
        digest += digest_records((uint64_t)i, 1, records[thread], bytes);
    }
    double elapsed = omp_get_wtime() - began;
    printf("{\"seconds\": %.6f, \"checksum\": \"%016" PRIx64 "\"}\n", elapsed, digest);
    return failed > 0 ? fail("the kernel failed") : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    static void *instances[THREADS_MAX], *records[THREADS_MAX];
    union hdss_value values[HDSS_PARAMS_MAX];
    struct hdss_loop loop;
    struct error error;
    omp_sched_t schedule;
    const struct hdss_kernel *kernel = argc > 3 ? kernel_find(argv[3]) : NULL;
    unsigned threads = argc > 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    if (kernel == NULL || !schedule_of(argv[1], &schedule) || threads == 0 || threads > THREADS_MAX)
        return fail("usage: openmp_loop static|dynamic|guided THREADS KERNEL [KEY=VALUE]...");
    if (kernel_params_parse(kernel, (unsigned)argc - 4, (const char *const *)argv + 4, values, &error) < 0 ||
        kernel_describe(kernel, values, &loop, &error) < 0)
        return fail(error.text);
    if (open_all(kernel, values, &loop, threads, instances, records) < 0)
        return fail("cannot open the kernel");
    omp_set_num_threads((int)threads);
    omp_set_schedule(schedule, 0);
    int status = run_loop(kernel, &loop, instances, records);
    for (unsigned t = 0; t < threads; t++) {
        if (kernel->close != NULL)
            kernel->close(instances[t]);
        free(records[t]);
    }
    return status;
}
