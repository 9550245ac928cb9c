/* SPDX-License-Identifier: MIT */
/* The waiting of a rank of a user's program for a message: it looks for a moment, then yields its core, then naps,
 * longer and longer. There is no doorbell as between the daemons: nothing of the program's process is ours but this
 * call. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct backoff {
    bool cores_are_free;
    unsigned looks;
    uint64_t nap_ns;
};

void backoff_init(struct backoff *backoff, bool cores_are_free);

/* Notes that something happened: the next wait begins with looking. */
void backoff_reset(struct backoff *backoff);

/* To be called after each look that found nothing. */
void backoff_wait(struct backoff *backoff);

uint64_t backoff_clock_ns(void);
void backoff_yield(void);
void backoff_nap(uint64_t ns);
