/* SPDX-License-Identifier: MIT */
/* How a rank in a user's program waits for a message: it polls for a moment, then yields the core, then sleeps for
 * increasing times. Doorbells as between daemons are not possible, because the process belongs to the program. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct backoff {
    bool cores_are_free;
    unsigned looks;
    uint64_t nap_ns;
};

void backoff_init(struct backoff *backoff, bool cores_are_free);

/* Something happened: the next wait begins with polling. */
void backoff_reset(struct backoff *backoff);

/* Called after each unsuccessful poll. */
void backoff_wait(struct backoff *backoff);

uint64_t backoff_clock_ns(void);
void backoff_yield(void);
