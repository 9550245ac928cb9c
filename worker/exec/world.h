/* SPDX-License-Identifier: MIT */
/* The part of the operating system that the worker's code for a helper uses: the clock, and operations on the helper's
 * process. Tests provide another implementation, with scripted time and deaths. The function helper_start.begin starts
 * the process. */
#pragma once

#include "worker/exec/channel.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct helper_world {
    uint64_t (*now)(void); /* time in ns, by the clock of events */

    /* Prepares for watching a started process. Returns a descriptor that becomes readable when the process ends;
     * release() closes it. -1: there is no such descriptor. */
    int (*adopt)(pid_t pid);
    void (*release)(int process);
    /* The ID of the process stays valid until reap(). */
    bool (*has_ended)(pid_t pid);
    bool (*await_end)(int process, int most_ms);
    int (*reap)(pid_t pid);
    void (*kill)(pid_t pid);
    uint64_t (*processor_ns)(pid_t pid); /* returns 0 if unknown */

    bool (*await_answer)(struct channel *channel, uint32_t number, uint64_t most_ns);
    /* Calls `run` in a detached thread with all signals blocked. Returns false if the thread cannot be started. */
    bool (*run_aside)(void *(*run)(void *context), void *context);
};

extern const struct helper_world helper_world_real;
