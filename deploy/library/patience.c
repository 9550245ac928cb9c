/* SPDX-License-Identifier: MIT */
/* See patience.h. */
#include "deploy/library/patience.h"

#include "common/os/clock.h"

#include <sched.h>
#include <time.h>

/* Looks before yielding, some ten microseconds, and yields before napping. */
#define LOOKS          64
#define YIELDS         32
#define NAP_FIRST_NS   10000u
#define NAP_LONGEST_NS 200000u

void patience_init(struct patience *patience, bool cores_are_free)
{
    *patience = (struct patience){.cores_are_free = cores_are_free, .nap_ns = NAP_FIRST_NS};
}

void patience_reset(struct patience *patience)
{
    patience->looks = 0;
    patience->nap_ns = NAP_FIRST_NS;
}

void patience_wait(struct patience *patience)
{
    unsigned looks = patience->looks++;
    if (patience->cores_are_free && looks < LOOKS)
        return;
    if (looks < LOOKS + YIELDS) {
        sched_yield();
        return;
    }
    patience_nap(patience->nap_ns);
    patience->nap_ns = patience->nap_ns < NAP_LONGEST_NS / 2 ? 2 * patience->nap_ns : NAP_LONGEST_NS;
}

uint64_t patience_clock_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

void patience_yield(void)
{
    sched_yield();
}

void patience_nap(uint64_t ns)
{
    nanosleep(&(struct timespec){.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)}, NULL);
}
