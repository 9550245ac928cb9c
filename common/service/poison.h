/* SPDX-License-Identifier: MIT */
/* A record of iterations at which workers died or the kernel failed. It holds for each iteration how many workers died
 * while they computed it, how often the kernel failed, and on which worker it failed last. The record is kept per
 * iteration and not per chunk: returned work is cut again and may go to another master. An iteration is removed after
 * it is done or given up. In most runs the record is empty. */
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

/* Sets `*found` to the record of the first iteration of `range`. If that iteration has no record, all counts of
 * `*found` are 0. Returns how many iterations at the beginning of `range` have the same record, at least 1. */
uint64_t poison_look(const struct poison_set *set, const struct range *range, struct poison *found);

void poison_check(const struct poison_set *set);
