/* SPDX-License-Identifier: MIT */
/* Decides whether a lost run is started again, and prints why.
 *
 * A run is lost in two cases. Either no rank has reported how the run went, because the supermaster or the launcher has
 * died. Or the report says that the run has lost a rank that it needs. In both cases the journal says what is stored. A
 * run with any other report is not lost, whatever its exit status, and neither is a run that was told to end.
 *
 * A run is started again at most `limit` times. If the last start has recorded nothing, the run is not started again,
 * because it would only be lost again. If the journal has a new task that the next start will give up, because it has
 * caused too many losses, the count begins at 0 again. A set that was up goes on with the jobs of its queue.
 *
 * If only the supermaster is lost, a task may have killed it. So the tasks that were running on the supermaster's
 * machine and are not done get one more death in the journal: see supermaster/failures.c. */
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
    uint64_t culprits; /* tasks that the next start gives up, because too many losses came while they ran */
};

struct restarts {
    const char *journal;
    const char *without;
    bool is_set;
    unsigned limit;
    unsigned count;
    struct journal_seen before; /* the journal of an earlier run, before the first start */
    struct journal_seen latest; /* the journal at the last start */
    struct ranges ran;          /* tasks that were running when the supermaster was lost, for launch.h; owned */
    bool has_suspects;          /* a task was running at two losses of the supermaster */
    bool is_stored;             /* this run has written the journal, so --resume can continue from it */
};

/* Must be called before the first start. */
void restarts_init(struct restarts *restarts, const char *journal, unsigned limit, const char *without);
void restarts_init_set(struct restarts *restarts, unsigned limit, const char *without);
void restarts_fini(struct restarts *restarts);

/* Must be called after each start. Returns true if the run must be started again. If the run is lost, also prints
 * whether it is started again, and why. */
bool restarts_are_due(struct restarts *restarts, const struct launch *how);
