/* SPDX-License-Identifier: MIT */
/* How a rank of a user's program waits for a message: it looks for a moment, then yields its core, then naps, longer
 * and longer. There is no doorbell as between the daemons: nothing of the program's process is ours but this call. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct patience {
    bool cores_are_free;
    unsigned looks;
    uint64_t nap_ns;
};

void patience_init(struct patience *patience, bool cores_are_free);

/* Something happened: the next wait begins with looking. */
void patience_reset(struct patience *patience);

/* To be called after each look that found nothing. */
void patience_wait(struct patience *patience);

uint64_t patience_clock_ns(void);
void patience_yield(void);
void patience_nap(uint64_t ns);
