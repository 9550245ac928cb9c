/* SPDX-License-Identifier: MIT */
/* Deaths and failures of iterations: how many workers died while computing them, how often the kernel failed at them,
 * and on which worker. They are recorded per iteration and not per chunk, because returned work is cut again and may go
 * to another master. A record stays until the iterations are done or given up; normally the set is empty. */
#pragma once

#include "common/util/ranges.h"
#include "proto/message.h"

struct poison_set {
    struct poison *items; /* [count] sorted, without overlap; owned */
    size_t count, capacity;
};

void poison_fini(struct poison_set *set);

int poison_add(struct poison_set *set, const struct poison *more);

int poison_raise(struct poison_set *set, const struct poison *known);

int poison_forget(struct poison_set *set, uint64_t first, uint64_t count);

/* Sets `*found` to the record of the first iteration of `range`, or to zeros. Returns how many iterations from there
 * on, at least 1, have the same record. */
uint64_t poison_look(const struct poison_set *set, const struct range *range, struct poison *found);

void poison_check(const struct poison_set *set);
