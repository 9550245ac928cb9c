/* SPDX-License-Identifier: MIT */
/* The system under a helper, as its worker sees it: the clock, and the helper's process. It is the real one, or that of
 * a test, whose time passes as the test says and whose processes die by a script. The process is begun by
 * helper_start.begin. */
#pragma once

#include "worker/exec/channel.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct helper_world {
    uint64_t (*now)(void); /* ns of the clock that events carry */

    /* Takes charge of a process that has just begun. Returns a descriptor that is readable when it has ended, which
     * release() gives back; -1: there is none to be had. */
    int (*adopt)(pid_t pid);
    void (*release)(int process);
    /* True where it has ended; it keeps its number until it is reaped. */
    bool (*has_ended)(pid_t pid);
    /* Waits until it has ended, `most_ms` at most; returns whether it has. */
    bool (*await_end)(int process, int most_ms);
    /* Waits for the end, which has to come, and ends the group that the process may have led. Returns how it ended, as
     * waitpid() gives it. */
    int (*reap)(pid_t pid);
    void (*kill)(pid_t pid);
    uint64_t (*processor_ns)(pid_t pid); /* its processor time; 0: not known */

    /* As channel_await_answer(). */
    bool (*await_answer)(struct channel *channel, uint32_t number, uint64_t most_ns);
    /* Calls the function in a thread that nobody waits for, and that takes no signals. False where there can be none.
     */
    bool (*run_aside)(void *(*run)(void *context), void *context);
};

extern const struct helper_world helper_world_real;
