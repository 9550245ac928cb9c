/* SPDX-License-Identifier: MIT */
/* How a rank in a user's program waits for a message. It polls for a short time, then yields its core, then sleeps for
 * longer and longer times. The doorbells of daemons cannot be used, because the process belongs to the program. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct backoff {
    bool cores_are_free;
    unsigned looks;
    uint64_t nap_ns;
};

void backoff_init(struct backoff *backoff, bool cores_are_free);

void backoff_reset(struct backoff *backoff);

void backoff_wait(struct backoff *backoff);

uint64_t backoff_clock_ns(void);
void backoff_yield(void);
