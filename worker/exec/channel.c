/* SPDX-License-Identifier: MIT */
/* Waking and sleeping on shared memory: see channel.h. The words of a futex are not private, as two processes use them.
 */
#include "worker/exec/channel.h"

#include "common/os/clock.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Looks at a word between two readings of the clock. */
#define SPIN_LOOKS 32

static void channel_sleep(_Atomic uint32_t *word, uint32_t while_is, const struct timespec *most)
{
    syscall(SYS_futex, word, FUTEX_WAIT, while_is, most, NULL, 0);
}

static void channel_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void channel_call(struct channel *channel)
{
    atomic_fetch_add(&channel->called, 1);
    if (atomic_load(&channel->helper_sleeps) != 0 && atomic_exchange(&channel->helper_sleeps, 0) != 0)
        channel_wake(&channel->called);
}

/* True where the word has changed within the time. */
static bool spin_on(const _Atomic uint32_t *word, uint32_t known, uint64_t spin_ns)
{
    uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + spin_ns;
    do {
        for (int i = 0; i < SPIN_LOOKS; i++)
            if (atomic_load_explicit(word, memory_order_acquire) != known)
                return true;
        sched_yield();
    } while (clock_ns(CLOCK_MONOTONIC) < until_ns);
    return false;
}

uint32_t channel_await_call(struct channel *channel, uint32_t known, uint64_t spin_ns)
{
    if (spin_ns > 0 && spin_on(&channel->called, known, spin_ns))
        return atomic_load(&channel->called);
    for (;;) {
        uint32_t called = atomic_load(&channel->called);
        if (called != known)
            return called;
        atomic_store(&channel->helper_sleeps, 1);
        if (atomic_load(&channel->called) == known)
            channel_sleep(&channel->called, known, NULL);
        atomic_store(&channel->helper_sleeps, 0);
    }
}

void channel_wake_worker(struct channel *channel, int bell)
{
    const uint64_t one = 1;
    if (atomic_load(&channel->worker_sleeps) == CHANNEL_AWAKE)
        return;
    uint32_t sleeps = atomic_exchange(&channel->worker_sleeps, CHANNEL_AWAKE);
    if (sleeps == CHANNEL_ON_WORD)
        channel_wake(&channel->worker_sleeps);
    else if (sleeps == CHANNEL_ON_BELL && write(bell, &one, sizeof one) < 0)
        return; /* the kernel has closed the descriptor: the worker looks up by itself, only later */
}

bool channel_await_answer(struct channel *channel, uint64_t most_ns)
{
    const struct timespec most = {(time_t)(most_ns / 1000000000u), (long)(most_ns % 1000000000u)};
    atomic_store(&channel->worker_sleeps, CHANNEL_ON_WORD);
    if (!channel_is_answered(channel))
        channel_sleep(&channel->worker_sleeps, CHANNEL_ON_WORD, &most);
    atomic_store(&channel->worker_sleeps, CHANNEL_AWAKE);
    return channel_is_answered(channel);
}
