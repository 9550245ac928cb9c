/* SPDX-License-Identifier: MIT */
/* Decides whether a lost run is restarted, and prints why.
 *
 * A run is lost if no rank has reported its result, because the supermaster or the launcher died; or if it has reported
 * the loss of a rank that it needs. Its journal then says what is stored. Other runs are not restarted, whatever their
 * status, nor are runs that were asked to stop, or that recorded nothing between two losses. A set continues with the
 * jobs of its queue. */
#pragma once

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
    bool is_stored;             /* the journal belongs to this run and can be resumed */
};

void restarts_init(struct restarts *restarts, const char *journal, unsigned limit, const char *without);
void restarts_init_set(struct restarts *restarts, unsigned limit, const char *without);

/* Called after each start: true if the run is to be restarted. Prints what happens to a lost run. */
bool restarts_are_due(struct restarts *restarts, const struct launch *how);
