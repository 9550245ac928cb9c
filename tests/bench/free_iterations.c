/* SPDX-License-Identifier: MIT */
/* What iterations that cost nothing cost a worker: chunks of the synthetic kernel with mean=0, through the executor
 * that a worker has. These figures are the defaults of call= and iteration= of a simulated platform
 * (deploy/simulate/platforms/platform.h); that of cold= is nearer to those of real ranks, of bench_first.py.
 *
 *   bench-free [CHUNKS]
 *
 * call: a chunk of one iteration, as the executor times it, one behind the other. cold: the same where the worker has
 * slept before it. iteration: each further one in a chunk. probe: an iteration of the probe. Nanoseconds, medians of
 * so many chunks each, with the quarters; what disturbs single chunks does not show in them. */
#include "common/config/params.h"
#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/util/error.h"
#include "hdss/kernel.h"
#include "proto/record.h"
#include "worker/exec/inline.h"
#include "worker/kernels/kernels.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#define CHUNKS_MAX 1000000
/* Iterations of a long chunk: some microseconds, less than a turn. */
#define LONG_COUNT 2000
/* Of the chunks behind a sleep a hundredth is enough, which takes long enough. */
#define COLD_PART 100
#define SLEEP_MS  1

static uint64_t times[CHUNKS_MAX];

static int free_compare(const void *a, const void *b)
{
    const uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

static uint64_t time_free_chunk(struct exec *exec, uint64_t first, uint64_t count)
{
    struct event event = {.type = EVENT_START};
    executor_begin(&exec->executor, first, count, 0, false);
    while (executor_advance(&exec->executor, &event) != TURN_EVENT || event.type != EVENT_FINISHED)
        continue;
    return event.chunk.compute_ns;
}

/* Prints the median time of a chunk, in `parts`, and returns it. */
static double measure_free(struct exec *exec, const char *name, unsigned chunks, uint64_t count, bool sleeps,
                           double less_ns, double parts)
{
    for (unsigned i = 0; i < chunks; i++) {
        if (sleeps)
            poll(NULL, 0, SLEEP_MS);
        times[i] = time_free_chunk(exec, i * count, count);
    }
    qsort(times, chunks, sizeof *times, free_compare);
    const double median = (double)times[chunks / 2];
    printf("%-10s %8.1f (%.1f .. %.1f)\n", name, (median - less_ns) / parts,
           ((double)times[chunks / 4] - less_ns) / parts, ((double)times[chunks - 1 - chunks / 4] - less_ns) / parts);
    return median;
}

/* Of the last level of a probe, which is the longest. */
static void measure_free_probe(struct exec *exec)
{
    struct speed speed = {0};
    executor_probe(&exec->executor, &speed);
    const unsigned last = speed.levels - 1;
    printf("%-10s %8.1f\n", "probe", (double)speed.elapsed_ns[last] / (double)(UINT64_C(1) << last));
}

int main(int argc, char **argv)
{
    const uint64_t wanted = argc > 1 ? strtoull(argv[1], NULL, 10) : 200000;
    const unsigned chunks = wanted < 2 ? 2 : wanted < CHUNKS_MAX ? (unsigned)wanted : CHUNKS_MAX;
    const char *const words[] = {"iterations=1000000000", "mean=0"};
    union hdss_value values[HDSS_PARAMS_MAX];
    struct hdss_loop loop;
    struct error error = {.text = ""};
    struct exec exec;
    if (kernel_params_parse(&synthetic_kernel, 2, words, values, &error) < 0 ||
        kernel_describe(&synthetic_kernel, values, &loop, &error) < 0) {
        fprintf(stderr, "bench-free: %s\n", error.text);
        return EXIT_FAILURE;
    }
    const struct exec_config config = {
        .kernel = &synthetic_kernel, .values = values, .loop = &loop, .slowdown = 1, .probe_count = loop.iterations};
    if (exec_init(&exec, &config) < 0) {
        fprintf(stderr, "bench-free: %s\n", exec.error);
        return EXIT_FAILURE;
    }
    printf("Iterations that cost nothing, ns (quarters of %u chunks)\n", chunks);
    measure_free(&exec, "cold", chunks / COLD_PART + 1, 1, true, 0, 1);
    const double call = measure_free(&exec, "call", chunks, 1, false, 0, 1);
    measure_free(&exec, "iteration", chunks / 10 + 1, LONG_COUNT, false, call, LONG_COUNT - 1);
    measure_free_probe(&exec);
    executor_fini(&exec.executor);
    return EXIT_SUCCESS;
}
