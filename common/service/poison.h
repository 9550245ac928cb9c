/* SPDX-License-Identifier: MIT */
/* A record of iterations at which workers died or the kernel failed: how many workers died while they computed the
 * iterations, how often the kernel failed, and on which worker it failed last. The record is per iteration and not per
 * chunk, because returned work is cut again and may go to another master. It is kept until the iterations are done or
 * given up. Normally the set is empty. */
#pragma once

#include "common/util/ranges.h"
#include "proto/message.h"

struct poison_set {
    struct poison *items; /* [count] sorted by iteration, without overlap; owned */
    size_t count, capacity;
};

void poison_fini(struct poison_set *set);

int poison_add(struct poison_set *set, const struct poison *more);

int poison_raise(struct poison_set *set, const struct poison *known);

int poison_forget(struct poison_set *set, uint64_t first, uint64_t count);

/* Sets `*found` to the record of the first iteration of `range`; all its counts are 0 if there is none. Returns how
 * many iterations from there on, at least 1, have the same record. */
uint64_t poison_look(const struct poison_set *set, const struct range *range, struct poison *found);

void poison_check(const struct poison_set *set);
