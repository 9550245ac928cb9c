/* SPDX-License-Identifier: MIT */
/* Waking and sleeping on shared memory: see channel.h. The futexes are not private, because two processes use them. */
#include "worker/exec/channel.h"

#include "common/os/clock.h"

#include <assert.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SPIN_LOOKS 32

static void channel_sleep(_Atomic uint32_t *word, uint32_t while_is, const struct timespec *most)
{
    syscall(SYS_futex, word, FUTEX_WAIT, while_is, most, NULL, 0);
}

static void channel_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void wake_helper(struct channel *channel)
{
    if (atomic_load(&channel->helper_sleeps) != 0 && atomic_exchange(&channel->helper_sleeps, 0) != 0)
        channel_wake(&channel->called);
}

void channel_call(struct channel *channel, uint32_t number)
{
    assert(number % CHANNEL_STEP == 0 && "the marks have room");
    atomic_store(&channel->called, number | CHANNEL_READY);
    wake_helper(channel);
}

void channel_call_ahead(struct channel *channel, uint32_t number)
{
    const uint32_t before = atomic_fetch_or(&channel->called, CHANNEL_NEXT);
    assert((before & ~CHANNEL_READY) == number && "one command is given ahead");
    (void)before, (void)number;
    wake_helper(channel);
}

/* Replaces the word `called` by to(called), if command `number` is still the current one and the command after it was
 * given ahead. Returns the word from before the change. If nothing was changed, returns the present word. */
static uint32_t change_next(struct channel *channel, uint32_t number, uint32_t (*to)(uint32_t called))
{
    uint32_t known = atomic_load(&channel->called);
    while (channel_number(known) == number && (known & CHANNEL_NEXT) != 0 &&
           !atomic_compare_exchange_weak(&channel->called, &known, to(known)))
        ;
    return known;
}

static uint32_t without_next(uint32_t called)
{
    return called & ~CHANNEL_NEXT;
}

static uint32_t next_ready(uint32_t called)
{
    return (channel_number(called) + CHANNEL_STEP) | CHANNEL_READY;
}

bool channel_withdraw(struct channel *channel, uint32_t number)
{
    return channel_number(change_next(channel, number, without_next)) == number;
}

bool channel_confirm(struct channel *channel, uint32_t number)
{
    const uint32_t known = change_next(channel, number, next_ready);
    return channel_number(known) != number || (known & CHANNEL_NEXT) != 0;
}

static void spin_for_call(const _Atomic uint32_t *called, uint64_t spin_ns)
{
    uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + spin_ns;
    do {
        for (int i = 0; i < SPIN_LOOKS; i++)
            if (atomic_load_explicit(called, memory_order_acquire) % CHANNEL_STEP != 0)
                return;
        sched_yield();
    } while (clock_ns(CLOCK_MONOTONIC) < until_ns);
}

static bool is_in_time(const struct channel *channel, uint64_t (*now)(void))
{
    const uint64_t until_ns = atomic_load_explicit(&channel->until_ns, memory_order_relaxed);
    return until_ns == UINT64_MAX || now() < until_ns;
}

bool channel_take_call(struct channel *channel, bool goes_on, uint64_t (*now)(void), uint32_t *number)
{
    uint32_t called = atomic_load(&channel->called);
    while (called % CHANNEL_STEP != 0) {
        const bool is_ready = (called & CHANNEL_READY) != 0;
        const bool takes_next = !is_ready && goes_on && is_in_time(channel, now);
        const uint32_t to = is_ready     ? called & ~CHANNEL_READY
                            : takes_next ? channel_number(called) + CHANNEL_STEP
                                         : without_next(called);
        if (!atomic_compare_exchange_strong(&channel->called, &called, to))
            continue;
        *number = channel_number(to);
        if (is_ready || takes_next)
            return true;
        called = to;
    }
    return false;
}

static uint64_t monotonic_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

uint32_t channel_await_call(struct channel *channel, uint64_t spin_ns, bool goes_on)
{
    uint32_t number;
    if (channel_take_call(channel, goes_on, monotonic_ns, &number))
        return number;
    if (spin_ns > 0)
        spin_for_call(&channel->called, spin_ns);
    while (!channel_take_call(channel, goes_on, monotonic_ns, &number)) {
        const uint32_t called = atomic_load(&channel->called);
        atomic_store(&channel->helper_sleeps, 1);
        if (called % CHANNEL_STEP == 0 && atomic_load(&channel->called) == called)
            channel_sleep(&channel->called, called, NULL);
        atomic_store(&channel->helper_sleeps, 0);
    }
    return number;
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
        return; /* the bell is closed; the worker will find the answer when it looks next */
}

bool channel_await_answer(struct channel *channel, uint32_t number, uint64_t most_ns)
{
    const struct timespec most = {(time_t)(most_ns / 1000000000u), (long)(most_ns % 1000000000u)};
    atomic_store(&channel->worker_sleeps, CHANNEL_ON_WORD);
    if (!channel_is_over(channel, number))
        channel_sleep(&channel->worker_sleeps, CHANNEL_ON_WORD, &most);
    atomic_store(&channel->worker_sleeps, CHANNEL_AWAKE);
    return channel_is_over(channel, number);
}
