/* SPDX-License-Identifier: MIT */
/* A thread that detects lost ranks for workers without a supermaster (--dca). These workers wait for each other in MPI,
 * which does not detect losses. For example, if a rank is killed while it adds to a shared counter, a lock of Open MPI
 * stays held (osc/sm, 4.1 and 5.0), and the other ranks wait for this lock forever. The thread does not use MPI. After
 * a loss it ends the process, because the chunks that the lost rank had drawn cannot be recovered. */
#include "common/mpi/guard.h"

#include "common/mpi/watch.h"

#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define LOOK_MS 1000
#define STOP    UINT32_MAX

static void *run_guard(void *context)
{
    const struct guard *guard = context;
    struct epoll_event event;
    unsigned rank;
    for (;;) {
        if (epoll_wait(guard->set, &event, 1, LOOK_MS) == 1 && event.data.u32 == STOP)
            return NULL;
        if (watch_has_lost(guard->watch, &rank))
            guard->lost(guard->context, rank);
    }
}

static int start_guard(struct guard *guard)
{
    sigset_t all, before;
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = STOP};
    if (guard->set < 0 || guard->stop < 0 || epoll_ctl(guard->set, EPOLL_CTL_ADD, guard->stop, &event) < 0)
        return -1;
    watch_add_to(guard->watch, guard->set);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    guard->is_on = true; /* must be set before the thread starts, because the thread reads it */
    if (pthread_create(&guard->thread, NULL, run_guard, guard) != 0)
        guard->is_on = false;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return guard->is_on ? 0 : -1;
}

static void close_files(const struct guard *guard)
{
    if (guard->set >= 0)
        close(guard->set);
    if (guard->stop >= 0)
        close(guard->stop);
}

int guard_begin(struct guard *guard, const struct watch *watch, void (*lost)(void *context, unsigned rank),
                void *context)
{
    *guard = (struct guard){
        .watch = watch,
        .lost = lost,
        .context = context,
        .set = epoll_create1(EPOLL_CLOEXEC),
        .stop = eventfd(0, EFD_CLOEXEC),
    };
    if (start_guard(guard) == 0)
        return 0;
    close_files(guard);
    return -1;
}

void guard_end(struct guard *guard)
{
    const uint64_t one = 1;
    if (!guard->is_on)
        return;
    if (write(guard->stop, &one, sizeof one) == sizeof one)
        pthread_join(guard->thread, NULL);
    guard->is_on = false;
    close_files(guard);
}
