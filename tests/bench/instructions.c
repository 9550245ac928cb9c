/* SPDX-License-Identifier: MIT */
/* A run of the virtual cluster, for valgrind to count the instructions of the three machines' steps:
 *
 *   instructions TECHNIQUE MASTERS WORKERS ITERATIONS [traced]
 *   instructions build                                   what the counts depend on: architecture, compiler, level
 *
 * Prints the chunks that were handed out. */
#include "common/machine/chunk_trace.h"
#include "common/trace/spool.h"
#include "common/util/error.h"
#include "deploy/simulate/virtual/cluster.h"
#include "supermaster/supermaster.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__clang__)
#define COMPILER "clang"
#define MAJOR    __clang_major__
#elif defined(__GNUC__)
#define COMPILER "gcc"
#define MAJOR    __GNUC__
#else
#define COMPILER "unknown"
#define MAJOR    0
#endif

#if defined(__x86_64__)
#define ARCHITECTURE "x86_64"
#elif defined(__aarch64__)
#define ARCHITECTURE "aarch64"
#else
#define ARCHITECTURE "other"
#endif

#define MASTERS_MAX 64

/* Where a machine notes what becomes of chunks: what was noted is forgotten when the room is full. */
struct room {
    struct trace_sink sink; /* the first member */
    struct trace_record records[TRACE_SPOOL_RECORDS];
};

static void forget(struct trace_sink *sink)
{
    sink->next = ((struct room *)sink)->records;
}

/* The sinks of all machines that note anything. */
static struct trace_sink *const *trace(void)
{
    static struct room rooms[1 + MASTERS_MAX];
    static struct trace_sink *sinks[1 + MASTERS_MAX];
    for (unsigned i = 0; i <= MASTERS_MAX; i++) {
        rooms[i].sink = (struct trace_sink){rooms[i].records, rooms[i].records + TRACE_SPOOL_RECORDS, forget};
        sinks[i] = &rooms[i].sink;
    }
    return sinks;
}

/* Iterations of 1 us on equal workers of one node, a message takes as long. */
static int run(const char *technique, unsigned masters, unsigned workers, uint64_t iterations, bool traced)
{
    struct error error;
    const struct virtual_config config = {
        .masters = masters,
        .workers = workers,
        .technique = technique,
        .spec.min_chunk = 1,
        .count = iterations,
        .latency_ns = 1000,
        .service_ns = 100,
        .unchecked = true,
        .sinks = traced ? trace() : NULL,
    };
    struct virtual_cluster *cluster = virtual_new(&config, &error);
    if (cluster == NULL) {
        fprintf(stderr, "instructions: %s\n", error.text);
        return EXIT_FAILURE;
    }
    struct virtual_result result = virtual_run(cluster);
    if (result.status != 0)
        fprintf(stderr, "instructions: the run ended with %d\n", result.status);
    else
        printf("%" PRIu64 "\n", result.supermaster->cut.chunks);
    virtual_free(cluster);
    return result.status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "build") == 0) {
        printf(ARCHITECTURE " " COMPILER " %d -O" LEVEL "\n", MAJOR);
        return EXIT_SUCCESS;
    }
    const bool traced = argc == 6 && strcmp(argv[5], "traced") == 0;
    if ((argc == 5 || traced) && atoi(argv[2]) <= MASTERS_MAX)
        return run(argv[1], (unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]), strtoull(argv[4], NULL, 10), traced);
    fprintf(stderr, "usage: instructions TECHNIQUE MASTERS WORKERS ITERATIONS [traced] | build\n");
    return EXIT_FAILURE;
}
