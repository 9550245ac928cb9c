/* SPDX-License-Identifier: MIT */
/* Processes that make simulated runs: see ahead.h. */
#include "deploy/cli/study/ahead.h"

#include "deploy/cli/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

unsigned ahead_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) < 0)
        return 1;
    int cores = CPU_COUNT(&set);
    return cores > AHEAD_MAX ? AHEAD_MAX : (unsigned)cores;
}

/* Does not return. What stands in the buffers of the study's files is for the study to write. */
static _Noreturn void make_it(int to, pid_t study, void (*run)(void *context, struct ahead_result *result),
                              void *context)
{
    struct ahead_result result = {.status = EXIT_STATUS_FAILED};
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == study)
        run(context, &result);
    const ssize_t written = write(to, &result, sizeof result);
    _exit(written == (ssize_t)sizeof result ? 0 : 1);
}

int ahead_begin(struct ahead *ahead, unsigned place, void (*run)(void *context, struct ahead_result *result),
                void *context, struct error *error)
{
    int ends[2];
    const pid_t study = getpid();
    fflush(NULL);
    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_set(error, "no pipe to a simulated run: %s", strerror(errno));
    const pid_t pid = fork();
    if (pid == 0)
        make_it(ends[1], study, run, context);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return error_set(error, "no process for a simulated run: %s", strerror(errno));
    }
    ahead->pid[place] = pid;
    ahead->pipe[place] = ends[0];
    return 0;
}

static void tell_all(const struct ahead *ahead)
{
    for (unsigned place = 0; place < AHEAD_MAX; place++)
        if (ahead_has(ahead, place))
            kill(ahead->pid[place], SIGTERM);
}

static void reap(struct ahead *ahead, unsigned place)
{
    while (waitpid(ahead->pid[place], NULL, 0) < 0 && errno == EINTR)
        ;
    close(ahead->pipe[place]);
    ahead->pid[place] = 0;
}

void ahead_take(struct ahead *ahead, unsigned place, bool (*is_asked)(void), struct ahead_result *result)
{
    struct pollfd polled = {.fd = ahead->pipe[place], .events = POLLIN};
    bool told = false;
    do {
        if (is_asked() && !told) {
            tell_all(ahead);
            told = true;
        }
    } while (poll(&polled, 1, -1) < 0 && errno == EINTR);
    if (read(ahead->pipe[place], result, sizeof *result) != (ssize_t)sizeof *result)
        *result = (struct ahead_result){.status = EXIT_STATUS_FAILED};
    reap(ahead, place);
}

void ahead_fini(struct ahead *ahead)
{
    tell_all(ahead);
    for (unsigned place = 0; place < AHEAD_MAX; place++)
        if (ahead_has(ahead, place))
            reap(ahead, place);
}
