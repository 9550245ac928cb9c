/* SPDX-License-Identifier: MIT */
/* Decides whether a run that is lost is started again, and prints why.
 *
 * A run is lost if no rank has said how it went, because its supermaster or its launcher has died, or if it has said
 * that it has lost a rank without which it cannot go on. Then its journal says what is stored. A run is not lost if it
 * has said something else, whatever its status, or if it was told to end. A run that records nothing between two losses
 * would only be lost again. The count of restarts begins anew after a task was found that causes the losses, because
 * the next start gives it up. A set that was up goes on with the jobs of its queue.
 *
 * If only the supermaster is lost, a task may have killed it. The tasks that were running on its machine and are not
 * done get one more death in the journal: see supermaster/failures.c. */
#pragma once

#include "common/util/ranges.h"
#include "deploy/cli/launch.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define RESTARTS_MAX 1000

struct journal_seen {
    bool readable; /* there is a valid journal; otherwise the other members are 0 */
    dev_t device;
    ino_t inode;
    struct timespec changed;
    uint64_t done;
    uint64_t deaths;
    uint64_t culprits; /* tasks that the next start gives up, because so many losses came while they ran */
};

struct restarts {
    const char *journal;
    const char *without;
    bool is_set;
    unsigned limit;
    unsigned count;
    struct journal_seen before; /* of an earlier run, before the first start */
    struct journal_seen latest; /* at the last start */
    struct ranges ran;          /* tasks that were running when the supermaster was lost, for launch.h; owned */
    bool has_suspects;          /* tasks were running at two losses of the supermaster */
    bool is_stored;             /* the journal is that of this run, so --resume can go on from it */
};

/* Must be called before the first start. */
void restarts_init(struct restarts *restarts, const char *journal, unsigned limit, const char *without);
void restarts_init_set(struct restarts *restarts, unsigned limit, const char *without);
void restarts_fini(struct restarts *restarts);

/* Must be called after each start. Returns true if the run must be started again. If it is lost, prints what
 * follows. */
bool restarts_are_due(struct restarts *restarts, const struct launch *how);
