/* SPDX-License-Identifier: MIT */
/* Starts processes: see spawn.h. Code in the child must not take locks or allocate memory. */
#include "worker/kernels/exec/spawn.h"

#include "common/os/children.h"
#include "common/os/cores.h"
#include "common/os/files.h"
#include "common/os/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The guard tries for five seconds in total. If a large process was killed on a busy machine, the system takes long to
 * close its files. */
#define CLEAR_TRIES    500
#define CLEAR_PAUSE_NS 10000000

/* The guard has a session of its own, so that a signal to the worker's process group does not end it. */
__attribute__((no_sanitize("address", "undefined"))) static int be_guard(void *context)
{
    const struct guard *guard = context;
    sigset_t all;
    char byte;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    prctl(PR_SET_NAME, "hdss-guard");
    /* Keeps one descriptor and closes all others of the worker, because mpirun waits until its pipes are closed. */
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

static void guard_fini(struct guard *guard)
{
    if (guard->process > 0) {
        guard->order->clear = NULL;
        close(guard->end);
        kill(guard->process, SIGCONT);
        while (waitpid(guard->process, NULL, 0) < 0 && errno == EINTR)
            ;
        children_forget(guard->process);
    }
    if (guard->order != NULL)
        munmap(guard->order, sizeof *guard->order);
    *guard = (struct guard){.process = -1, .end = -1};
}

/* `stack`: memory for the stack of the guard's process; that process gets a copy. On failure returns -1 with errno, and
 * nothing was started. */
static int guard_init(struct guard *guard, void *stack, size_t stack_bytes)
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

#define STACK_BYTES        (64u << 10)
#define SHELL              "/bin/sh"
#define STATUS_NEVER_BEGAN 127

struct attempt {
    const struct spawn *spawn;
    const struct spawner *spawner;
    pid_t worker;
    int error;
};

static void find_taken_signals(sigset_t *taken)
{
    struct sigaction action;
    drain_signals_set(taken);
    for (int signal = 1; signal < NSIG; signal++)
        if (sigaction(signal, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
            sigaddset(taken, signal);
}

int spawner_init(struct spawner *spawner, bool frees_cores)
{
    *spawner = (struct spawner){.stack_bytes = STACK_BYTES, .frees_cores = frees_cores};
    find_taken_signals(&spawner->taken);
    void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    spawner->stack = stack == MAP_FAILED ? NULL : stack;
    return spawner->stack == NULL ? -1 : guard_init(&spawner->guard, stack, STACK_BYTES);
}

void spawner_fini(struct spawner *spawner)
{
    guard_fini(&spawner->guard);
    if (spawner->stack != NULL)
        munmap(spawner->stack, spawner->stack_bytes);
    spawner->stack = NULL;
}

/* Gives handled and ignored signals their default action again. A drain signal may be pending: it was sent to the
 * worker's process group while the child was still in that group. So drain signals are ignored first, which discards
 * the pending one. */
static void reset_signals(const sigset_t *taken)
{
    const struct sigaction standard = {.sa_handler = SIG_DFL}, dropped = {.sa_handler = SIG_IGN};
    for (unsigned i = 0; i < DRAIN_SIGNALS; i++)
        sigaction(drain_signals[i], &dropped, NULL);
    for (int signal = 1; signal < NSIG; signal++)
        if (sigismember(taken, signal) == 1)
            sigaction(signal, &standard, NULL);
}

/* Limits private writable memory (RLIMIT_DATA). RLIMIT_AS would also count reserved addresses. Java and CUDA reserve
 * many times the memory that they use. */
static void bound_memory(uint64_t bytes)
{
    struct rlimit limit;
    if (bytes == 0 || getrlimit(RLIMIT_DATA, &limit) < 0 || limit.rlim_max < bytes)
        return;
    limit.rlim_cur = limit.rlim_max = bytes;
    setrlimit(RLIMIT_DATA, &limit);
}

static void become(const struct spawn *spawn, const char *path)
{
    execve(path, spawn->argv, spawn->environment);
    if (errno == ENOEXEC) { /* Run a script without an interpreter line as shells do. */
        char *first = spawn->argv[0];
        spawn->argv[-1] = (char[]){SHELL};
        spawn->argv[0] = (char *)(uintptr_t)path;
        execve(SHELL, spawn->argv - 1, spawn->environment);
        spawn->argv[0] = first;
    }
}

/* First tries the path at which the program was found last. Trying all folders of PATH takes as long as a short
 * task. */
static int become_program(const struct spawn *spawn)
{
    int error = ENOENT;
    if (spawn->found != NULL && *spawn->found > 0)
        become(spawn, spawn->paths[*spawn->found]);
    for (size_t i = 0; spawn->paths[i] != NULL; i++) {
        if (spawn->found != NULL)
            *spawn->found = i;
        become(spawn, spawn->paths[i]);
        if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
            return errno;
        error = errno == EACCES ? EACCES : error;
    }
    if (spawn->found != NULL)
        *spawn->found = 0;
    return error;
}

/* Runs without sanitizers, which do not know the child's stack. */
__attribute__((no_sanitize("address", "undefined"))) static int run_child(void *context)
{
    struct attempt *attempt = context;
    sigset_t none;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != attempt->worker) /* the worker ended before prctl() */
        _exit(STATUS_NEVER_BEGAN);
    setpgid(0, 0);
    attempt->spawner->guard.order->group = getpid();
    reset_signals(&attempt->spawner->taken);
    if (attempt->spawn->cores != NULL)
        sched_setaffinity(0, CORES_CPU_SETS * sizeof *attempt->spawn->cores, attempt->spawn->cores);
    else if (attempt->spawner->frees_cores)
        cores_unbind();
    for (int i = 0; i < 3; i++)
        dup2(attempt->spawn->descriptors[i], i);
    int folder = attempt->spawn->folder < 0 ? 0 : fchdir(attempt->spawn->folder);
    attempt->error = folder < 0 ? errno : 0;
    file_close_from(STDERR_FILENO + 1);
    bound_memory(attempt->spawn->memory);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (attempt->error == 0)
        attempt->error = become_program(attempt->spawn);
    _exit(STATUS_NEVER_BEGAN);
}

static void spawn_forget_child(const struct spawner *spawner, pid_t child, int *process)
{
    spawn_forget(spawner);
    if (*process >= 0)
        close(*process);
    *process = -1;
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* All signals are blocked until the child has reset its handlers. A handler in the child would use the worker's
 * memory. */
pid_t spawn(const struct spawner *spawner, const struct spawn *spawn, int *process)
{
    struct attempt attempt = {.spawn = spawn, .spawner = spawner, .worker = getpid()};
    sigset_t all, before;
    *process = -1;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t child = clone(run_child, (char *)spawner->stack + spawner->stack_bytes,
                        CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &attempt, process);
    int error = child < 0 ? errno : attempt.error;
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (child > 0 && error != 0)
        spawn_forget_child(spawner, child, process);
    else if (child > 0)
        children_note(child);
    errno = error;
    return error != 0 ? -1 : child;
}
