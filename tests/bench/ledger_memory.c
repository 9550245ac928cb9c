/* SPDX-License-Identifier: MIT */
/* What the ledger needs in memory, and one step of it in time, when the free work is in pieces: every second chunk of a
 * loop is lost. Prints one JSON line:
 *
 *   ledger_memory LOSSES
 */
#include "common/util/ranges.h"
#include "supermaster/ledger.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static size_t allocated(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void check(bool well)
{
    if (!well) {
        fprintf(stderr, "ledger_memory: the ledger refused\n");
        exit(EXIT_FAILURE);
    }
}

/* Chunks of one iteration: holder 0 finishes its, holder 1 is lost with all of its. */
static void scatter(struct ledger *ledger, uint64_t losses)
{
    struct range range;
    uint64_t released;
    for (uint64_t i = 0; i < 2 * losses; i++) {
        unsigned holder = i % 2;
        check(ledger_grant(ledger, holder, 1, &range) == 1);
        check(holder == 1 || ledger_commit(ledger, holder, range.first, 1, 1) == LEDGER_COMMITTED);
    }
    check(ledger_release(ledger, 1, &released) == 0 && released == losses);
}

static void serve_rest(struct ledger *ledger, uint64_t chunks)
{
    struct range range;
    for (uint64_t i = 0; i < chunks; i++) {
        check(ledger_grant(ledger, 0, 1, &range) == 1);
        check(ledger_commit(ledger, 0, range.first, 1, 1) == LEDGER_COMMITTED);
    }
}

int main(int argc, char **argv)
{
    struct ledger ledger;
    uint64_t losses = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    if (losses == 0) {
        fprintf(stderr, "usage: ledger_memory LOSSES\n");
        return EXIT_FAILURE;
    }
    size_t before = allocated();
    check(ledger_init(&ledger, 0, 4 * losses, 2) == 0);
    double began = now_s();
    scatter(&ledger, losses);
    double scattered = now_s();
    size_t bytes = allocated() - before;
    uint64_t rest = losses < 100000 ? losses : 100000;
    serve_rest(&ledger, rest);
    double served = now_s();
    printf("{\"losses\": %" PRIu64 ", \"bytes\": %zu, \"scatter_ns\": %.1f, \"serve_ns\": %.1f}\n", losses, bytes,
           (scattered - began) / (double)(2 * losses) * 1e9, (served - scattered) / (double)rest * 1e9);
    ledger_fini(&ledger);
    return EXIT_SUCCESS;
}
