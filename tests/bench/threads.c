/* SPDX-License-Identifier: MIT */
/* What a chunk costs at the thread level, beside OpenMP's own schedules on the same loop: a kernel that does next to
 * nothing, an instance of it and a buffer for each thread, digests as a worker makes them. A draw of `ss` is held to
 * one of schedule(dynamic, 1).
 *
 *   threads [THREADS [ITERATIONS]]
 *
 * Nanoseconds for an iteration, of all threads together: the best of some rounds, in each of which everything has its
 * turn, as what disturbs a round slows it. The exit status is 1 where the results differ. */
#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/os/clock.h"
#include "common/sched/sched.h"
#include "common/util/digest.h"
#include "common/util/error.h"
#include "hdss/kernel.h"
#include "worker/exec/openmp_pool.h"
#include "worker/exec/thread_pool.h"

#include <omp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 25

static int describe(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    (void)values, (void)error;
    *loop = (struct hdss_loop){.iterations = 1, .type = HDSS_UINT64, .record_length = 1, .dims = 1, .shape = {1}};
    return 0;
}

static int open_instance(const union hdss_value *values, const struct hdss_loop *loop, const struct hdss_worker *worker,
                         void **instance, char error[HDSS_ERROR_MAX])
{
    (void)values, (void)loop, (void)worker, (void)error;
    *instance = NULL;
    return 0;
}

static int run(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX])
{
    (void)instance, (void)error;
    for (uint64_t i = 0; i < count; i++)
        ((uint64_t *)records)[i] = first + i;
    return 0;
}

static const struct hdss_kernel kernel = {
    .abi = HDSS_KERNEL_ABI, .name = "nothing", .describe = describe, .open = open_instance, .run = run};

static uint64_t iterations = 1000000;
static unsigned threads = 2;

/* --- OpenMP --- */

static uint64_t run_openmp(omp_sched_t schedule, int chunk, double *ns)
{
    uint64_t digest = 0;
    int failed = 0;
    int (*volatile call)(void *, uint64_t, uint64_t, void *, char *) = kernel.run; /* as it is for a worker */
    omp_set_schedule(schedule, chunk);
    uint64_t began = clock_ns(CLOCK_MONOTONIC);
#pragma omp parallel num_threads((int)threads) reduction(+ : digest, failed)
    {
        _Alignas(64) uint64_t record[8];
        char text[HDSS_ERROR_MAX];
#pragma omp for schedule(runtime)
        for (int64_t i = 0; i < (int64_t)iterations; i++) {
            failed += call(NULL, (uint64_t)i, 1, record, text) < 0;
            digest += digest_records((uint64_t)i, 1, record, sizeof *record);
        }
    }
    *ns = (double)(clock_ns(CLOCK_MONOTONIC) - began);
    return failed == 0 ? digest : 0;
}

/* --- a team --- */

struct timing {
    struct thread_pool pool;
    double ns;
    uint64_t digest;
};

static int run_chunk(void *context)
{
    struct timing *timing = context;
    struct event event = {0};
    struct pollfd bell = {.fd = executor_descriptor(&timing->pool.executor), .events = POLLIN};
    uint64_t began = clock_ns(CLOCK_MONOTONIC);
    executor_begin(&timing->pool.executor, 0, iterations, 0, false);
    while (event.type != EVENT_FINISHED) {
        enum turn turn = executor_advance(&timing->pool.executor, &event);
        if (turn == TURN_EVENT && event.type != EVENT_DRY)
            timing->digest += event.chunk.digest;
        if (turn == TURN_BLOCKED)
            poll(&bell, 1, -1);
    }
    timing->ns = (double)(clock_ns(CLOCK_MONOTONIC) - began);
    return 0;
}

static uint64_t run_thread_pool(const char *technique, double *ns)
{
    static struct timing timing;
    static struct hdss_loop loop;
    struct sched_spec spec;
    struct error error;
    char text[HDSS_ERROR_MAX];
    describe(NULL, &loop, text);
    if (sched_spec_parse(&spec, technique, &error) < 0)
        exit(EXIT_FAILURE);
    const struct thread_pool_config config = {
        .exec = {.kernel = &kernel, .loop = &loop, .slowdown = 1},
        .threads = threads,
        .technique = &spec,
        .cores = openmp_pool_cores(),
    };
    timing.digest = 0;
    if (thread_pool_init(&timing.pool, &config) < 0)
        exit(EXIT_FAILURE);
    openmp_pool_run(&timing.pool, run_chunk, &timing);
    executor_fini(&timing.pool.executor);
    *ns = timing.ns;
    return timing.digest;
}

/* --- side by side --- */

static const struct {
    const char *name, *technique; /* technique NULL: OpenMP's */
    omp_sched_t schedule;
} rows[] = {
    {"openmp dynamic,1", NULL, omp_sched_dynamic},
    {"hdss ss", "ss", 0},
    {"openmp guided", NULL, omp_sched_guided},
    {"hdss gss", "gss", 0},
    {"hdss fac2", "fac2", 0},
    {"hdss awf-c", "awf-c", 0},
    {"openmp static", NULL, omp_sched_static},
    {"hdss static", "static", 0},
};

#define ROWS (sizeof rows / sizeof *rows)

int main(int argc, char **argv)
{
    double best[ROWS];
    uint64_t digests[ROWS];
    threads = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : threads;
    iterations = argc > 2 ? strtoull(argv[2], NULL, 10) : iterations;
    if (threads < 2 || iterations < 1)
        return EXIT_FAILURE;
    for (unsigned round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < ROWS; i++) {
            double ns;
            digests[i] = rows[i].technique != NULL
                             ? run_thread_pool(rows[i].technique, &ns)
                             : run_openmp(rows[i].schedule, rows[i].schedule == omp_sched_dynamic, &ns);
            best[i] = round == 0 || ns < best[i] ? ns : best[i];
        }
    printf("%u threads on %u cores, %llu iterations\n", threads, openmp_pool_cores(), (unsigned long long)iterations);
    for (size_t i = 0; i < ROWS; i++)
        printf("%-18s %8.2f ns/iteration\n", rows[i].name, best[i] / (double)iterations);
    printf("ss over dynamic,1  %8.2f\n", best[1] / best[0]);
    for (size_t i = 1; i < ROWS; i++)
        if (digests[i] != digests[0])
            return EXIT_FAILURE;
    return EXIT_SUCCESS;
}
