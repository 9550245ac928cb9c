/* SPDX-License-Identifier: MIT */
/* Orphans of tasks: see orphans.h. */
#include "worker/kernels/exec/orphans.h"

#include "common/os/children.h"
#include "common/os/clock.h"
#include "common/os/process.h"
#include "common/util/grow.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A killed orphan takes some time to end. After that, its children become orphans of this process. So the search for
 * orphans is repeated every PAUSE_NS. It ends when no orphan is found, or after PATIENCE_NS. */
#define PAUSE_NS    1000000
#define PATIENCE_NS 2000000000u

static struct {
    unsigned jobs;
    pid_t *own; /* children that existed before the first job; owned */
    size_t own_count, own_room;
    unsigned found;
    bool is_reaper, was_reaper;
} all;

static bool is_known(pid_t child)
{
    size_t i = 0;
    while (i < all.own_count && all.own[i] != child)
        i++;
    return i < all.own_count || children_have(child);
}

static bool note_own(pid_t child, void *context)
{
    pid_t *own = grow(all.own, all.own_count, &all.own_room, sizeof *own);
    *(bool *)context = own == NULL;
    if (own == NULL)
        return false;
    all.own = own;
    own[all.own_count++] = child;
    return true;
}

int orphans_init(struct orphans *orphans)
{
    int before = 0;
    bool has_failed = false;
    orphans->are_awaited = true;
    if (all.jobs++ > 0)
        return 0;
    process_visit_children(getpid(), note_own, &has_failed);
    if (has_failed)
        return -1;
    all.was_reaper = prctl(PR_GET_CHILD_SUBREAPER, &before) == 0 && before != 0;
    all.is_reaper = prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
    return 0;
}

void orphans_collect(void)
{
    siginfo_t ended = {0};
    while (all.is_reaper && waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0 &&
           !is_known(ended.si_pid)) {
        waitpid(ended.si_pid, NULL, WNOHANG);
        ended.si_pid = 0;
    }
}

static bool kill_orphan(pid_t child, void *unused)
{
    (void)unused;
    if (is_known(child))
        return true;
    kill(child, SIGKILL);
    waitpid(child, NULL, WNOHANG);
    all.found++;
    return true;
}

static void kill_orphans(void)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    const uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
    while (all.is_reaper && clock_ns(CLOCK_MONOTONIC) < until_ns) {
        all.found = 0;
        process_visit_children(getpid(), kill_orphan, NULL);
        if (all.found == 0)
            break;
        nanosleep(&pause, NULL);
    }
}

void orphans_fini(struct orphans *orphans)
{
    if (!orphans->are_awaited)
        return;
    orphans->are_awaited = false;
    if (--all.jobs > 0)
        return;
    kill_orphans();
    if (all.is_reaper && !all.was_reaper)
        prctl(PR_SET_CHILD_SUBREAPER, 0);
    free(all.own);
    memset(&all, 0, sizeof all);
}
