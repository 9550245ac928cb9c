/* SPDX-License-Identifier: MIT */
/* The real environment of a helper: see world.h. */
#include "worker/exec/world.h"

#include "common/os/children.h"
#include "common/os/clock.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t real_now(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static int real_adopt(pid_t pid)
{
    children_note(pid);
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

static void real_release(int process)
{
    close(process);
}

static bool real_has_ended(pid_t pid)
{
    siginfo_t end = {0};
    return waitid(P_PID, (id_t)pid, &end, WEXITED | WNOHANG | WNOWAIT) != 0 || end.si_pid != 0;
}

static bool real_await_end(int process, int most_ms)
{
    struct pollfd end = {.fd = process, .events = POLLIN};
    int ended;
    while ((ended = poll(&end, 1, most_ms)) < 0 && errno == EINTR)
        ;
    return ended > 0;
}

/* Kills the process group before it reaps the process: after that, the system may give the group's ID to another
 * group. */
static int real_reap(pid_t pid)
{
    siginfo_t end;
    int status = 0;
    while (waitid(P_PID, (id_t)pid, &end, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ;
    if (getpgid(pid) == pid)
        kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    children_forget(pid);
    return status;
}

static void real_kill(pid_t pid)
{
    kill(pid, SIGKILL);
}

static uint64_t real_processor_ns(pid_t pid)
{
    clockid_t clock;
    return clock_getcpuclockid(pid, &clock) == 0 ? clock_ns(clock) : 0;
}

static bool real_run_aside(void *(*run)(void *context), void *context)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool is_begun = pthread_create(&thread, &attributes, run, context) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return is_begun;
}

const struct helper_world helper_world_real = {
    .now = real_now,
    .adopt = real_adopt,
    .release = real_release,
    .has_ended = real_has_ended,
    .await_end = real_await_end,
    .reap = real_reap,
    .kill = real_kill,
    .processor_ns = real_processor_ns,
    .await_answer = channel_await_answer,
    .run_aside = real_run_aside,
};
