/* SPDX-License-Identifier: MIT */
/* Runs a built-in kernel as a worker would, from the words of a command line. */
#pragma once

#include "common/config/params.h"
#include "common/util/digest.h"
#include "common/util/error.h"
#include "hdss/kernel.h"
#include "tests/lib/asserts.h"
#include "worker/kernels/kernels.h"

#include <stdlib.h>
#include <string.h>

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

struct kernel_run {
    const struct hdss_kernel *kernel;
    union hdss_value values[HDSS_PARAMS_MAX];
    struct hdss_loop loop;
    void *instance;
};

/* The parameters and the loop; 0, or -1 with one line. `words` ends with NULL. */
static inline int kernel_run_describe(struct kernel_run *run, const char *name, const char *const *words,
                                      struct error *error)
{
    unsigned count = 0;
    while (words[count] != NULL)
        count++;
    *run = (struct kernel_run){.kernel = kernel_find(name)};
    ck_assert_ptr_nonnull(run->kernel);
    if (kernel_params_parse(run->kernel, count, words, run->values, error) < 0)
        return -1;
    return kernel_describe(run->kernel, run->values, &run->loop, error);
}

static inline void kernel_run_open(struct kernel_run *run, const char *name, const char *const *words)
{
    char line[HDSS_ERROR_MAX] = "";
    struct error error = {""};
    ck_assert_msg(kernel_run_describe(run, name, words, &error) == 0, "%s", error.text);
    ck_assert_msg(run->kernel->open(run->values, &run->loop, &(struct hdss_worker){0}, &run->instance, line) == 0, "%s",
                  line);
}

static inline void kernel_run_close(struct kernel_run *run)
{
    run->kernel->close(run->instance);
}

/* Room for `count` records, as a worker gives it to run(). The caller frees it. */
static inline void *kernel_run_room(const struct kernel_run *run, uint64_t count)
{
    void *records = aligned_alloc(64, (count * hdss_record_size(&run->loop) + 64) / 64 * 64);
    ck_assert_ptr_nonnull(records);
    return records;
}

static inline void kernel_run_range(struct kernel_run *run, uint64_t first, uint64_t count, void *records)
{
    char line[HDSS_ERROR_MAX] = "";
    ck_assert_msg(run->kernel->run(run->instance, first, count, records, line) == 0, "%s", line);
}

/* The records of the whole loop, in chunks of `chunk`. The caller frees them. */
static inline void *kernel_run_all(struct kernel_run *run, uint64_t chunk)
{
    char *records = kernel_run_room(run, run->loop.iterations);
    for (uint64_t first = 0; first < run->loop.iterations; first += chunk) {
        uint64_t left = run->loop.iterations - first;
        kernel_run_range(run, first, left < chunk ? left : chunk, records + first * hdss_record_size(&run->loop));
    }
    return records;
}

/* The same for a loop with dependencies, in steps of `interval` elements. What a step may not rely on is garbage. */
static inline void *kernel_run_blocks(struct kernel_run *run, uint64_t chunk, uint64_t interval)
{
    enum { GARBAGE = 0xa5 };
    const struct hdss_loop *loop = &run->loop;
    const uint64_t iterations = loop->iterations, bytes = loop->sync * loop->boundary_bytes;
    const size_t room = (bytes + 63) / 64 * 64;
    char *records = kernel_run_room(run, iterations), line[HDSS_ERROR_MAX] = "";
    char *handed = aligned_alloc(64, room), *before = aligned_alloc(64, room), *after = aligned_alloc(64, room);
    char *own = kernel_run_room(run, chunk);
    for (uint64_t first = 0; first < iterations; first += chunk) {
        uint64_t count = iterations - first < chunk ? iterations - first : chunk;
        uint64_t end = loop->sync + (count - 1) * loop->reach;
        memset(after, GARBAGE, room);
        for (uint64_t from = 0; from < end; from += interval) {
            struct hdss_block block = {
                first, count, from, from + interval, loop->sync, loop->reach, first > 0 ? before : NULL, after, own};
            uint64_t given = block.to + loop->reach < loop->sync ? block.to + loop->reach : loop->sync;
            block.to = block.to < end ? block.to : end;
            memset(before, GARBAGE, room);
            if (first > 0)
                memcpy(before, handed, given * loop->boundary_bytes);
            ck_assert_msg(run->kernel->run_block(run->instance, &block, line) == 0, "%s", line);
        }
        memcpy(records + first * hdss_record_size(loop), own, count * hdss_record_size(loop));
        memcpy(handed, after, bytes);
    }
    free(handed);
    free(before);
    free(after);
    free(own);
    return records;
}

/* The checksum of the whole loop, in chunks of `chunk`; of one with dependencies in steps of `interval` elements. */
static inline uint64_t kernel_run_checksum(const char *name, const char *const *words, uint64_t chunk,
                                           uint64_t interval)
{
    struct kernel_run run;
    kernel_run_open(&run, name, words);
    void *records = run.loop.sync > 0 ? kernel_run_blocks(&run, chunk, interval) : kernel_run_all(&run, chunk);
    const uint64_t checksum = digest_records(0, run.loop.iterations, records, hdss_record_size(&run.loop));
    free(records);
    kernel_run_close(&run);
    return checksum;
}
