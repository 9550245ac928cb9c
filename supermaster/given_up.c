/* SPDX-License-Identifier: MIT */
/* The iterations that are given up: see given_up.h. */
#include "supermaster/given_up.h"

#include "common/metrics/rank.h"
#include "common/metrics/report.h"
#include "common/util/grow.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define REASONS_SOUGHT 16

void given_up_fini(struct given_up *given_up)
{
    for (size_t i = 0; i < given_up->reason_count; i++)
        free(given_up->reasons[i]);
    free(given_up->reasons);
    free(given_up->list);
    *given_up = (struct given_up){0};
}

/* Finds the reason in the list, or adds it. Sets `*number` to the number of the reason. If the list has no room, sets
 * `*number` to GIVEN_UP_REASONS_MAX. */
static int number_of_reason(struct given_up *given_up, const char *reason, unsigned *number)
{
    const size_t count = given_up->reason_count;
    for (size_t i = count; i > 0 && i + REASONS_SOUGHT > count; i--)
        if (strcmp(given_up->reasons[i - 1], reason) == 0) {
            *number = (unsigned)i - 1;
            return 0;
        }
    *number = (unsigned)count;
    if (count == GIVEN_UP_REASONS_MAX)
        return 0;
    char **reasons = grow(given_up->reasons, count, &given_up->reason_capacity, sizeof *reasons);
    if (reasons == NULL)
        return -1;
    given_up->reasons = reasons;
    reasons[count] = strdup(reason);
    if (reasons[count] == NULL)
        return -1;
    given_up->reason_count++;
    return 0;
}

int given_up_add(struct given_up *given_up, const struct range *range, unsigned rank, const char *reason)
{
    unsigned number;
    if (number_of_reason(given_up, reason, &number) < 0)
        return -1;
    struct given_up_range *last = given_up->count > 0 ? &given_up->list[given_up->count - 1] : NULL;
    const bool goes_on = last != NULL && last->rank == rank && last->reason == number &&
                         last->range.first + last->range.count == range->first;
    if (!goes_on && given_up->count == GIVEN_UP_RANGES_MAX)
        return 0;
    if (!goes_on) {
        struct given_up_range *list = grow(given_up->list, given_up->count, &given_up->capacity, sizeof *list);
        if (list == NULL)
            return -1;
        given_up->list = list;
        last = &list[given_up->count++];
        *last = (struct given_up_range){{range->first, 0}, given_up->total, rank, number};
    }
    last->range.count += range->count;
    given_up->total += range->count;
    return 0;
}

bool given_up_tell(const struct given_up *given_up, const struct topology *topology, uint64_t place,
                   struct failure_figures *figures)
{
    size_t low = 0, high = given_up->count;
    if (place >= given_up->total)
        return false;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        *(given_up->list[middle].place <= place ? &low : &high) = middle;
    }
    const struct given_up_range *entry = &given_up->list[low];
    const uint64_t skipped = place - entry->place;
    const unsigned worker = topology_worker(topology, entry->rank);
    const bool has_worker = worker < topology->workers;
    *figures = (struct failure_figures){
        .range = {entry->range.first + skipped, entry->range.count - skipped},
        .rank = has_worker ? entry->rank : RANK_NONE,
        .node = has_worker ? topology->worker_node[worker] : RANK_NONE,
        .reason = entry->reason < given_up->reason_count ? given_up->reasons[entry->reason]
                                                         : "not kept, as there are too many different reasons",
    };
    return true;
}

void given_up_check(const struct given_up *given_up)
{
    uint64_t total = 0;
    assert(given_up->count <= GIVEN_UP_RANGES_MAX && given_up->reason_count <= GIVEN_UP_REASONS_MAX &&
           "the list is bounded");
    for (size_t i = 0; i < given_up->count; i++) {
        assert(given_up->list[i].place == total && given_up->list[i].range.count > 0 &&
               "each range stands behind the one before it");
        total += given_up->list[i].range.count;
    }
    assert(total == given_up->total && "the list has as many iterations as are counted");
}
