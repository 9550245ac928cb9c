/* SPDX-License-Identifier: MIT */
/* Costs of the iterations of a simulated loop. A cost is the time on a core of speed 1.
 *
 * Costs come from a model of the kernel, from a file measured by a real run (--record-costs), or from a distribution.
 * Both simulators need sums of costs over ranges of iterations. So the sums up to at most COSTS_ENTRIES positions in
 * the loop are stored. The time to find a sum does not depend on the number of iterations. */
#pragma once

#include "common/util/error.h"
#include "worker/kernels/costs/recorded.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COSTS_ENTRIES        (1u << 24)
#define COSTS_ITERATIONS_MAX (UINT64_C(1) << 34)

struct costs;

/* Sum of the costs of [first, first + count), in ns. The range must lie within that of `costs`. */
double costs_ns(const struct costs *costs, uint64_t first, uint64_t count);
void costs_free(struct costs *costs);

/* Makes costs from a function: cost_ns() computes the cost of an iteration. Its `context` is a copy of the `size` bytes
 * at `context`. release() frees what the context points to; it is called at the end or on failure, and may be NULL.
 * Returns NULL if there are too many iterations or memory runs out. */
struct costs *costs_of_function(double (*cost_ns)(void *context, uint64_t iteration), void (*release)(void *context),
                                const void *context, size_t size, uint64_t first, uint64_t count, struct error *error);

struct costs *costs_constant(double cost_ns);

/* Parses a file. A line "COST" is for one iteration; such lines count from iteration 0. A line "FIRST COUNT COST" is
 * for a block of iterations; it may end with the RANK of the worker that computed the block. Blocks follow one another.
 * COST is the cost of each iteration in microseconds; # starts a comment. The file must cover [first, first + count).
 * Returns NULL on failure; the error has the line number. */
struct costs *costs_parse(const char *text, uint64_t first, uint64_t count, struct error *error);

bool costs_have_workers(const struct costs *costs);

/* Estimates the speeds of the workers, in ascending order of ranks (recorded.h). If the speeds differ, converts the
 * costs to those on a worker of mean speed. Fails if memory runs out; `speeds` then owns nothing. */
int costs_separate_workers(struct costs *costs, struct recorded_speeds *speeds, struct error *error);

#define COSTS_DISTRIBUTIONS                                                                                            \
    "constant, uniform, normal, exponential, gamma, bimodal, increasing, decreasing, lognormal, pareto, phases"

bool costs_is_distribution(const char *spec);

const char *costs_nearest_distribution(const char *spec);

/* Costs from a distribution: `name` or `name:param=value,..`. COSTS_DISTRIBUTIONS has the names. The parameters are:
 *
 *   mean=    in microseconds
 *   cov=     uniform, normal, gamma, lognormal: standard deviation over mean
 *   spread=  bimodal, increasing, decreasing, phases: relative to the mean, 0 to 1
 *   alpha=   pareto: index, above 1
 *   phases=  phases: number of alternately cheap and costly parts
 *   seed=    for random numbers
 *   period=  iterations of a time step; each step has the costs of the first one
 *   trend=   relative growth per time step
 *
 * A mixture is `share*name:..+share*name:..`; the seed of its first part decides which part each iteration is drawn
 * from. The cost of an iteration depends only on its index and the parameters. If costs grow, shrink or have phases, it
 * also depends on the range. Returns NULL on failure. */
struct costs *costs_distributed(const char *spec, uint64_t first, uint64_t count, struct error *error);
