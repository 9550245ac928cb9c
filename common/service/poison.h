/* SPDX-License-Identifier: MIT */
/* Deaths and failures of iterations: how many workers died while they computed them, how many times the kernel
 * failed at them, and where. Kept by iteration and not by chunk, since what comes back is cut anew, and may go to
 * another master: it stands until the iterations are done or given up. Empty as long as nothing goes wrong. */
#pragma once

#include "common/util/ranges.h"
#include "proto/message.h"

struct poison_set {
    struct poison *items; /* [count] sorted, without overlap; owned */
    size_t count, capacity;
};

void poison_fini(struct poison_set *set);

/* Adds deaths and failures to what is known of each iteration of `more`. -1 when memory is out. */
int poison_add(struct poison_set *set, const struct poison *more);

/* Notes for each iteration at least what `known` says. -1 when memory is out. */
int poison_raise(struct poison_set *set, const struct poison *known);

/* Forgets what is known of these iterations. -1 when memory is out. */
int poison_forget(struct poison_set *set, uint64_t first, uint64_t count);

/* The number of iterations from the beginning of `range` on, at least 1, of which the same is known; `*found` says
 * what. No deaths and no failures: nothing. */
uint64_t poison_look(const struct poison_set *set, const struct range *range, struct poison *found);

/* Stops the program where an invariant of the set does not hold. */
void poison_check(const struct poison_set *set);
