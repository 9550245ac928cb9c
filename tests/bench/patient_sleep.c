/* SPDX-License-Identifier: MIT */
/* By LD_PRELOAD: a usleep() below 20 ms takes 20 ms. Open MPI's start and end wait in loops of usleep(100), with which
 * hundreds of ranks on few cores starve the very processes that they wait for. The bare program and ours get it alike,
 * from 100 ranks on. */
#include <time.h>
#include <unistd.h>

#define LEAST_US 20000

int usleep(useconds_t span)
{
    if (span < LEAST_US)
        span = LEAST_US;
    const struct timespec time = {.tv_sec = span / 1000000, .tv_nsec = (long)(span % 1000000) * 1000};
    return nanosleep(&time, NULL);
}
