/* SPDX-License-Identifier: MIT */
/* The given-up iterations of a job, with the reasons, in the order in which they were given up.
 *
 * The place of an iteration is the number of iterations that were given up before it. The place stays the same while
 * the list grows. Only the last range of the list may grow, at its end. Limits bound the memory: after
 * GIVEN_UP_RANGES_MAX ranges no further ranges are listed, and after GIVEN_UP_REASONS_MAX different reasons no further
 * reasons are stored. */
#pragma once

#include "common/machine/topology.h"
#include "common/metrics/failure.h"
#include "common/util/ranges.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GIVEN_UP_RANGES_MAX  100000
#define GIVEN_UP_REASONS_MAX 10000

struct given_up_range {
    struct range range;
    uint64_t place;
    unsigned rank;
    unsigned reason;
};

/* Must be initialised with zeros. The lists and the texts of the reasons are owned. */
struct given_up {
    struct given_up_range *list;
    size_t count, capacity;
    uint64_t total;
    char **reasons;
    size_t reason_count, reason_capacity;
};

void given_up_fini(struct given_up *given_up);

/* Adds iterations, which must not be in the list yet. Copies the reason. */
int given_up_add(struct given_up *given_up, const struct range *range, unsigned rank, const char *reason);

/* Describes the iteration at `place`, and the iterations after it in the same range. Returns false if the list has no
 * such place. */
bool given_up_tell(const struct given_up *given_up, const struct topology *topology, uint64_t place,
                   struct failure_figures *figures);

void given_up_check(const struct given_up *given_up);
