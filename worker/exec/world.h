/* SPDX-License-Identifier: MIT */
/* The environment of a helper for its worker: clock and process. Tests provide their own, with scripted time and
 * deaths. helper_start.begin starts the process. */
#pragma once

#include "worker/exec/channel.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct helper_world {
    uint64_t (*now)(void); /* ns of the clock of events */

    /* Takes charge of a started process. Returns a descriptor that is readable after its end, to be given to release();
     * -1: none. */
    int (*adopt)(pid_t pid);
    void (*release)(int process);
    /* True if it has ended; it keeps its ID until it is reaped. */
    bool (*has_ended)(pid_t pid);
    /* Waits up to `most_ms` for its end; returns whether it has ended. */
    bool (*await_end)(int process, int most_ms);
    /* Reaps an ending process and kills its group. Returns its status as of waitpid(). */
    int (*reap)(pid_t pid);
    void (*kill)(pid_t pid);
    uint64_t (*processor_ns)(pid_t pid); /* processor time; 0: unknown */

    bool (*await_answer)(struct channel *channel, uint32_t number, uint64_t most_ns);
    /* Calls the function in a detached thread without signals. False if none can be started. */
    bool (*run_aside)(void *(*run)(void *context), void *context);
};

extern const struct helper_world helper_world_real;
