/* SPDX-License-Identifier: MIT */
/* What a chunk costs more by a technique that is a plug-in: the example factoring.c, loaded as a run loads it, beside
 * fac2, which cuts the same chunks.
 *
 *   bench-plugin PLUGIN [ROUNDS]
 *
 * A round has both, one behind the other, the first of them changing; each cuts loops of a billion iterations for 64
 * workers into 2^17 chunks. Nanoseconds a chunk: the medians of the rounds, with the quarters, and those of what a
 * round has more for the plug-in. */
#include "common/job/technique_load.h"
#include "common/sched/sched.h"
#include "common/util/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ITERATIONS UINT64_C(1000000000)
#define WORKERS    64
#define CHUNKS     (1u << 17)

enum { ROUNDS_DEFAULT = 501, ROUNDS_MAX = 10001 };
enum { BUILT_IN, PLUGGED, MORE, COLUMNS };

static double ns[COLUMNS][ROUNDS_MAX];
static volatile uint64_t sink; /* keeps what is computed from being left out */

static void plugin_fail(const struct error *error)
{
    fprintf(stderr, "bench-plugin: %s\n", error->text);
    exit(EXIT_FAILURE);
}

static double plugin_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Nanoseconds a chunk; what sched_init() and sched_fini() take is not in them. */
static double time_chunks(const struct sched_spec *spec)
{
    const struct sched_config config = {.iterations = ITERATIONS, .workers = WORKERS};
    unsigned chunks = 0;
    double elapsed = 0;
    uint64_t sum = 0;
    while (chunks < CHUNKS) {
        struct sched sched;
        struct error error;
        if (sched_init(&sched, spec, &config, &error) < 0)
            plugin_fail(&error);
        const double start = plugin_now_ns();
        for (unsigned worker = 0; sched.remaining > 0; worker = (worker + 1) % WORKERS, chunks++)
            sum += sched_next(&sched, worker);
        elapsed += plugin_now_ns() - start;
        sched_fini(&sched);
    }
    sink = sum;
    return elapsed / chunks;
}

static int plugin_by_size(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void print_column(const char *name, double *values, unsigned rounds)
{
    qsort(values, rounds, sizeof *values, plugin_by_size);
    printf("%-10s %6.2f (%.2f .. %.2f)\n", name, values[rounds / 2], values[rounds / 4],
           values[rounds - 1 - rounds / 4]);
}

int main(int argc, char **argv)
{
    struct sched_spec spec[2];
    struct error error;
    const unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : ROUNDS_DEFAULT;
    if (argc < 2 || rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "bench-plugin: PLUGIN [ROUNDS] is accepted, up to %d rounds\n", ROUNDS_MAX);
        return EXIT_STATUS_USAGE;
    }
    if (sched_spec_parse(&spec[BUILT_IN], "fac2", &error) < 0 || technique_load(&spec[PLUGGED], argv[1], &error) < 0)
        plugin_fail(&error);
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned turn = 0; turn < 2; turn++) {
            const unsigned which = (round + turn) % 2;
            ns[which][round] = time_chunks(&spec[which]);
        }
        ns[MORE][round] = ns[PLUGGED][round] - ns[BUILT_IN][round];
    }
    printf("ns a chunk, %u rounds, medians (quarters)\n", rounds);
    print_column("built in", ns[BUILT_IN], rounds);
    print_column("plug-in", ns[PLUGGED], rounds);
    print_column("more", ns[MORE], rounds);
    return EXIT_SUCCESS;
}
