/* SPDX-License-Identifier: MIT */
/* The guard: see guard.h. */
#include "worker/kernels/exec/guard.h"

#include "common/os/children.h"
#include "common/os/files.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Five seconds: on a busy machine it takes long until the files of a killed large process are closed. */
#define CLEAR_TRIES    500
#define CLEAR_PAUSE_NS 10000000

/* In a session of its own, so that a signal to the worker's process group does not end the guard first. */
__attribute__((no_sanitize("address", "undefined"))) static int be_guard(void *context)
{
    const struct guard *guard = context;
    sigset_t all;
    char byte;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    prctl(PR_SET_NAME, "hdss-guard");
    /* Keeps one descriptor and closes all others of the worker, above all mpirun's pipes. */
    dup2(guard->end, 0);
    close(1);
    close(2);
    file_close_from(STDERR_FILENO + 1);
    while (read(0, &byte, 1) < 0 && errno == EINTR)
        ;
    if (guard->order->group > 0)
        kill(-guard->order->group, SIGKILL);
    const struct timespec pause = {.tv_nsec = CLEAR_PAUSE_NS};
    for (unsigned i = 0; guard->order->clear != NULL && i < CLEAR_TRIES && !guard->order->clear(guard->order->path);
         i++)
        nanosleep(&pause, NULL);
    _exit(0);
}

static int guard_begin(struct guard *guard, void *stack, size_t stack_bytes)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    struct guard theirs = {.order = guard->order, .end = ends[0]};
    guard->process = clone(be_guard, (char *)stack + stack_bytes, SIGCHLD, &theirs);
    int error = errno;
    close(ends[0]);
    guard->end = ends[1];
    if (guard->process > 0) {
        children_note(guard->process);
        return 0;
    }
    close(guard->end);
    errno = error;
    return -1;
}

int guard_init(struct guard *guard, void *stack, size_t stack_bytes)
{
    *guard = (struct guard){.process = -1, .end = -1};
    void *page = mmap(NULL, sizeof *guard->order, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return -1;
    guard->order = page;
    if (guard_begin(guard, stack, stack_bytes) == 0)
        return 0;
    guard->end = guard->process = -1;
    guard_fini(guard);
    return -1;
}

void guard_order_clearing(struct guard *guard, bool (*clear)(const char *path), const char *path)
{
    snprintf(guard->order->path, sizeof guard->order->path, "%s", path);
    guard->order->clear = clear;
}

void guard_fini(struct guard *guard)
{
    if (guard->process > 0) {
        guard->order->clear = NULL; /* the worker does it itself */
        close(guard->end);
        kill(guard->process, SIGCONT); /* it may have been stopped */
        while (waitpid(guard->process, NULL, 0) < 0 && errno == EINTR)
            ;
        children_forget(guard->process);
    }
    if (guard->order != NULL)
        munmap(guard->order, sizeof *guard->order);
    *guard = (struct guard){.process = -1, .end = -1};
}
