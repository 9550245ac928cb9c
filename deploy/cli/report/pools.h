/* SPDX-License-Identifier: MIT */
/* How many iterations and chunks lay in the task pools of the masters over the time of a loop, followed in the trace.
 *
 * A trace has no rows about pools. An iteration lies in the pool of a master from the scheduling step in which the
 * technique cut it for one of the workers of that master, until a worker is given it for the first time, by whomever:
 * by the master itself, or, where it was recalled, by another one. Its chunk is there as long as any iteration of it
 * is. What lies there when its master is lost is cut again, for workers of others. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/report/run_trace.h"

#include <stddef.h>
#include <stdint.h>

/* A course has the most at any time within each of so many parts of the time that is followed, of the same length. */
#define POOL_PARTS 240

struct pool_course {
    uint64_t iterations[POOL_PARTS], chunks[POOL_PARTS];
    uint64_t most_iterations, most_chunks;
    double most_s;      /* when the most iterations lay there, in the times of the trace */
    double mean_chunks; /* mean over the time that was followed */
    double empty;       /* share of that time for which nothing lay there */
    uint64_t cut;       /* iterations that were cut for it */
    uint64_t moved;     /* those of them that lay there and that a master of another course gave */
};

/* Which course the pool of each master belongs to: pools of several masters may be one course. */
struct pool_map {
    const uint32_t *course_of; /* [rank_end] by the rank of the master; borrowed */
    uint32_t rank_end;
    uint32_t count; /* of courses */
};

/* Fills `courses`, which has map->count and behind these one for all of them together, from begin_s to end_s. -1 with
 * one line when memory is out. */
int pools_follow(struct pool_course *courses, const struct pool_map *map, const struct run_trace *trace, double begin_s,
                 double end_s, struct error *error);
