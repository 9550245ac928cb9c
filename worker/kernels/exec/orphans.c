/* SPDX-License-Identifier: MIT */
/* Orphans of tasks: see orphans.h. */
#include "worker/kernels/exec/orphans.h"

#include "common/os/children.h"
#include "common/os/clock.h"
#include "common/os/process.h"
#include "common/util/grow.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* One that is killed takes a moment to end, and its children are orphans then: they are looked for again after a pause,
 * until there is none. What begins processes faster than that is not waited for longer. */
#define PAUSE_NS    1000000
#define PATIENCE_NS 2000000000u

/* The orphans of this process. Of a set it may run the tasks of several jobs: they are collected for all of them, as
 * nobody knows of which job one was. */
static struct {
    unsigned jobs; /* that run tasks here */
    pid_t *own;    /* children that the process had before the first of them; owned */
    size_t own_count, own_room;
    unsigned found; /* orphans in the look at hand */
    bool is_reaper, was_reaper;
} all;

/* True for a child that is no orphan: it was there before, or somebody of this process waits for it. */
static bool is_known(pid_t child)
{
    size_t i = 0;
    while (i < all.own_count && all.own[i] != child)
        i++;
    return i < all.own_count || children_have(child);
}

/* Hands each child of this process to `take`. -1 where one was not taken. */
static int for_each_child(int (*take)(pid_t child))
{
    const int self = (int)getpid();
    int result = 0;
    DIR *dir = opendir("/proc");
    for (struct dirent *item; dir != NULL && result == 0 && (item = readdir(dir)) != NULL;) {
        int pid = isdigit((unsigned char)item->d_name[0]) ? atoi(item->d_name) : 0;
        if (pid > 0 && process_parent(pid) == self)
            result = take(pid);
    }
    if (dir != NULL)
        closedir(dir);
    return result;
}

static int note_own(pid_t child)
{
    pid_t *own = grow(all.own, all.own_count, &all.own_room, sizeof *own);
    if (own == NULL)
        return -1;
    all.own = own;
    own[all.own_count++] = child;
    return 0;
}

int orphans_init(struct orphans *orphans)
{
    int before = 0;
    orphans->are_awaited = true;
    if (all.jobs++ > 0)
        return 0;
    if (for_each_child(note_own) < 0)
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

static int kill_orphan(pid_t child)
{
    if (is_known(child))
        return 0;
    kill(child, SIGKILL);
    waitpid(child, NULL, WNOHANG);
    all.found++;
    return 0;
}

static void kill_orphans(void)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    const uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
    while (all.is_reaper && clock_ns(CLOCK_MONOTONIC) < until_ns) {
        all.found = 0;
        for_each_child(kill_orphan);
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
