/* SPDX-License-Identifier: MIT */
/* Orphans of tasks: see orphans.h. */
#include "worker/kernels/exec/orphans.h"

#include "common/os/clock.h"
#include "common/os/process.h"
#include "common/util/grow.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* One that is killed takes a moment to end, and its children are orphans then: they are looked for again after a pause,
 * until there is none. What begins processes faster than that is not waited for longer. */
#define PAUSE_NS    1000000
#define PATIENCE_NS 2000000000u

static bool orphans_is_own(const struct orphans *orphans, pid_t pid)
{
    size_t i = 0;
    while (i < orphans->own_count && orphans->own[i] != pid)
        i++;
    return i < orphans->own_count;
}

/* Hands each child of this process to `take`. -1 where one was not taken. */
static int for_each_child(int (*take)(struct orphans *orphans, pid_t child), struct orphans *orphans)
{
    const int self = (int)getpid();
    int result = 0;
    DIR *dir = opendir("/proc");
    for (struct dirent *item; dir != NULL && result == 0 && (item = readdir(dir)) != NULL;) {
        int pid = isdigit((unsigned char)item->d_name[0]) ? atoi(item->d_name) : 0;
        if (pid > 0 && process_parent(pid) == self)
            result = take(orphans, pid);
    }
    if (dir != NULL)
        closedir(dir);
    return result;
}

static int note_own(struct orphans *orphans, pid_t child)
{
    pid_t *own = grow(orphans->own, orphans->own_count, &orphans->own_room, sizeof *own);
    if (own == NULL)
        return -1;
    orphans->own = own;
    own[orphans->own_count++] = child;
    return 0;
}

int orphans_init(struct orphans *orphans)
{
    int before = 0;
    *orphans = (struct orphans){0};
    if (for_each_child(note_own, orphans) < 0)
        return -1;
    orphans->was_reaper = prctl(PR_GET_CHILD_SUBREAPER, &before) == 0 && before != 0;
    orphans->is_reaper = prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
    return 0;
}

void orphans_collect(const struct orphans *orphans)
{
    siginfo_t ended = {0};
    while (orphans->is_reaper && waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0 &&
           !orphans_is_own(orphans, ended.si_pid)) {
        waitpid(ended.si_pid, NULL, WNOHANG);
        ended.si_pid = 0;
    }
}

static int kill_orphan(struct orphans *orphans, pid_t child)
{
    if (orphans_is_own(orphans, child))
        return 0;
    kill(child, SIGKILL);
    waitpid(child, NULL, WNOHANG);
    orphans->found++;
    return 0;
}

void orphans_fini(struct orphans *orphans)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    const uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
    while (orphans->is_reaper && clock_ns(CLOCK_MONOTONIC) < until_ns) {
        orphans->found = 0;
        for_each_child(kill_orphan, orphans);
        if (orphans->found == 0)
            break;
        nanosleep(&pause, NULL);
    }
    if (orphans->is_reaper && !orphans->was_reaper)
        prctl(PR_SET_CHILD_SUBREAPER, 0);
    free(orphans->own);
    *orphans = (struct orphans){0};
}
