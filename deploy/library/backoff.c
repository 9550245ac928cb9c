/* SPDX-License-Identifier: MIT */
/* Waiting by polling: see backoff.h. */
#include "deploy/library/backoff.h"

#include "common/os/clock.h"

#include <sched.h>
#include <time.h>

/* How a rank waits. In the first LOOKS polls, which take some 10 us, it yields its core between two polls only if cores
 * are not free. In the next YIELDS polls it always yields its core. After these it sleeps between two polls, for
 * NAP_FIRST_NS at first and for NAP_LONGEST_NS at most. */
#define LOOKS          64
#define YIELDS         32
#define NAP_FIRST_NS   10000u
#define NAP_LONGEST_NS 200000u

void backoff_init(struct backoff *backoff, bool cores_are_free)
{
    *backoff = (struct backoff){.cores_are_free = cores_are_free, .nap_ns = NAP_FIRST_NS};
}

void backoff_reset(struct backoff *backoff)
{
    backoff->looks = 0;
    backoff->nap_ns = NAP_FIRST_NS;
}

void backoff_wait(struct backoff *backoff)
{
    unsigned looks = backoff->looks++;
    if (backoff->cores_are_free && looks < LOOKS)
        return;
    if (looks < LOOKS + YIELDS) {
        sched_yield();
        return;
    }
    nanosleep(&(struct timespec){.tv_sec = (time_t)(backoff->nap_ns / 1000000000u),
                                 .tv_nsec = (long)(backoff->nap_ns % 1000000000u)},
              NULL);
    backoff->nap_ns = backoff->nap_ns < NAP_LONGEST_NS / 2 ? 2 * backoff->nap_ns : NAP_LONGEST_NS;
}

uint64_t backoff_clock_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

void backoff_yield(void)
{
    sched_yield();
}
