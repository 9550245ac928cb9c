/* SPDX-License-Identifier: MIT */
/* The iterations of a job that are given up: each once, in the order in which it became known, with its reason.
 *
 * A place in that order is the number of iterations that were given up before. It stays what it is while the list
 * grows, though a range of the list grows at its end by iterations that follow with the same reason. Memory is bounded:
 * ranges behind the first GIVEN_UP_RANGES_MAX are not in the list, and reasons behind the first GIVEN_UP_REASONS_MAX
 * different ones are not kept. Pure. */
#pragma once

#include "common/machine/topology.h"
#include "common/metrics/failure.h"
#include "common/util/ranges.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GIVEN_UP_RANGES_MAX  100000
#define GIVEN_UP_REASONS_MAX 10000

/* Iterations that one worker has given up for one reason. */
struct given_up_range {
    struct range range;
    uint64_t place; /* of its first iteration */
    unsigned rank;  /* REPORT_NO_RANK: no worker */
    unsigned reason;
};

/* Empty where all is 0. */
struct given_up {
    struct given_up_range *list; /* [count]; owned */
    size_t count, capacity;
    uint64_t total; /* iterations of the list */
    char **reasons; /* [reason_count]; owned, as the texts are */
    size_t reason_count, reason_capacity;
};

void given_up_fini(struct given_up *given_up);

/* Adds iterations that are not in the list. The reason is copied; `rank` may be REPORT_NO_RANK. -1 when memory is
 * out. */
int given_up_add(struct given_up *given_up, const struct range *range, unsigned rank, const char *reason);

/* Tells of the iteration at that place, and of those that follow it in the same range. False where the list ends before
 * it. */
bool given_up_tell(const struct given_up *given_up, const struct topology *topology, uint64_t place,
                   struct failure_figures *figures);

/* Stops the program where an invariant of the list does not hold. */
void given_up_check(const struct given_up *given_up);
