/* SPDX-License-Identifier: MIT */
/* What is held against iterations: how many workers died while they computed them, how many times the kernel failed at
 * them, and where. Kept by iteration and not by chunk, since what comes back is cut anew, and may go to another master:
 * it stands until the iterations are done or given up. Empty as long as nothing goes wrong. */
#pragma once

#include "common/util/ranges.h"
#include "proto/message.h"

struct suspects {
    struct suspect *items; /* [count] sorted, without overlap; owned */
    size_t count, capacity;
};

void suspects_fini(struct suspects *set);

/* Adds deaths and failures to what is known of each iteration of `more`. -1 when memory is out. */
int suspects_add(struct suspects *set, const struct suspect *more);

/* Notes for each iteration at least what `known` says. -1 when memory is out. */
int suspects_raise(struct suspects *set, const struct suspect *known);

/* Forgets what is known of these iterations. -1 when memory is out. */
int suspects_forget(struct suspects *set, uint64_t first, uint64_t count);

/* Of how many iterations from the beginning of `range` on, at least 1, the same is known; `*found` says what. No deaths
 * and no failures: nothing. */
uint64_t suspects_look(const struct suspects *set, const struct range *range, struct suspect *found);

/* Stops the program where an invariant of the set does not hold. */
void suspects_check(const struct suspects *set);
