/* SPDX-License-Identifier: MIT */
/* Decides whether a lost run is restarted, and prints why.
 *
 * A run is lost when no rank has said how it went: its supermaster died, or its launcher did; or when it has said that
 * it lost a rank without which it cannot go on. Its journal then says what of it is stored. Any other run that has said
 * how it went is not lost, whatever its status, nor is one that somebody wanted to end. One that records nothing
 * between two losses would only be lost once more. A set that was up goes on with the jobs of its queue.
 *
 * If the supermaster is lost by itself, a task may have killed it. Those that ran on its machine then and are not done
 * are recorded in the journal with one more death: see supermaster/failures.c. */
#pragma once

#include "common/util/ranges.h"
#include "deploy/cli/launch.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* Largest value of --restarts. */
#define RESTARTS_MAX 1000

/* State of a journal at some moment. */
struct journal_seen {
    bool readable; /* it exists and is valid; else the other members are 0 */
    dev_t device;
    ino_t inode;
    struct timespec changed;
    uint64_t done;   /* finished iterations */
    uint64_t deaths; /* caused by iterations */
};

struct restarts {
    const char *journal; /* borrowed; empty: no journal */
    const char *without; /* constant; consequence of a loss without a journal */
    bool is_set;
    unsigned limit;             /* maximal number of restarts */
    unsigned count;             /* restarts so far */
    struct journal_seen before; /* before the first start, from an earlier run */
    struct journal_seen latest; /* at the last start */
    struct ranges ran;          /* tasks that ran when the supermaster was lost, for launch.h; owned */
    bool is_stored;             /* the journal is that of this run: --resume goes on with it */
};

/* To be called before the first start; restarts_fini() releases what they hold. */
void restarts_init(struct restarts *restarts, const char *journal, unsigned limit, const char *without);
void restarts_init_set(struct restarts *restarts, unsigned limit, const char *without);
void restarts_fini(struct restarts *restarts);

/* Called after each start: true if the run is to be restarted. Prints what happens to a lost run. */
bool restarts_are_due(struct restarts *restarts, const struct launch *how);
