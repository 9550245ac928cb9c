/* SPDX-License-Identifier: MIT */
/* The whole loop of a kernel in one thread, without MPI: the serial time that parallel runs are held against.
 * Prints {"seconds": .., "checksum": ".."}. */
#include "common/config/params.h"
#include "common/util/digest.h"
#include "common/util/error.h"
#include "hdss/kernel.h"
#include "worker/kernels/kernels.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BUFFER_BYTES (1u << 20)

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int fail(const char *text)
{
    fprintf(stderr, "serial: %s\n", text);
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    union hdss_value values[HDSS_PARAMS_MAX];
    struct hdss_loop loop;
    struct error error;
    char text[HDSS_ERROR_MAX];
    const struct hdss_worker worker = {0};
    void *instance;
    const struct hdss_kernel *kernel = argc > 1 ? kernel_find(argv[1]) : NULL;
    if (kernel == NULL)
        return fail("usage: serial KERNEL [KEY=VALUE]...");
    if (kernel_params_parse(kernel, (unsigned)argc - 2, (const char *const *)argv + 2, values, &error) < 0 ||
        kernel_describe(kernel, values, &loop, &error) < 0)
        return fail(error.text);
    if (kernel->open(values, &loop, &worker, &instance, text) < 0)
        return fail(text);
    const size_t record = hdss_record_size(&loop);
    const uint64_t step = record < BUFFER_BYTES ? BUFFER_BYTES / record : 1;
    unsigned char *records = aligned_alloc(64, (step * record + 63) / 64 * 64);
    uint64_t digest = 0;
    double began = now_s();
    for (uint64_t first = 0; first < loop.iterations; first += step) {
        uint64_t count = loop.iterations - first < step ? loop.iterations - first : step;
        if (kernel->run(instance, first, count, records, text) < 0)
            return fail(text);
        digest += digest_records(first, count, records, record);
    }
    printf("{\"seconds\": %.6f, \"checksum\": \"%016" PRIx64 "\"}\n", now_s() - began, digest);
    if (kernel->close != NULL)
        kernel->close(instance);
    free(records);
    return EXIT_SUCCESS;
}
