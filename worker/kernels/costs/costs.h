/* SPDX-License-Identifier: MIT */
/* Costs of the iterations of a simulated loop: how long each takes on a core of speed 1.
 *
 * From a model of the kernel, from a file that a real run has measured (--record-costs), or from a distribution. Both
 * backends ask for the sum over a range. Sums are kept for up to COSTS_ENTRIES places of the loop, so that a sum takes
 * the same time for few and many iterations. */
#pragma once

#include "common/util/error.h"
#include "worker/kernels/costs/recorded.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COSTS_ENTRIES (1u << 24)
/* The limit for a loop whose costs are a function or a distribution: each is asked for once, and more would take too
 * long. */
#define COSTS_ITERATIONS_MAX (UINT64_C(1) << 34)

struct costs;

/* Nanoseconds of the iterations [first, first + count) together, which must be in the part that the costs are for. */
double costs_ns(const struct costs *costs, uint64_t first, uint64_t count);
void costs_free(struct costs *costs);

/* For the iterations [first, first + count) an iteration's cost by a function of its index, which is given a copy of
 * the `size` bytes of `context`. `release` is called with that copy at the end, and on failure; NULL where there is
 * nothing to do. NULL with one line where there are too many of them or memory is out. */
struct costs *costs_of_function(double (*cost_ns)(void *context, uint64_t iteration), void (*release)(void *context),
                                const void *context, size_t size, uint64_t first, uint64_t count, struct error *error);

/* Makes iterations of equal cost. NULL when memory is out. */
struct costs *costs_constant(double cost_ns);

/* From the text of a file: lines "COST", the n-th is that of iteration n - 1; or lines "FIRST COUNT COST", with or
 * without the rank of the worker that has computed them, blocks of iterations in order and without a gap, COST is that
 * of each. In microseconds; # comments. It must have all of [first, first + count). NULL with one line where it does
 * not or is no such file; that has the number of the line. */
struct costs *costs_parse(const char *text, uint64_t first, uint64_t count, struct error *error);

/* True for those of a file each line of which has the rank of a worker. */
bool costs_have_workers(const struct costs *costs);

/* Finds how fast the workers of such a file were (recorded.h), the one of the lowest rank first, and makes the costs
 * those of a worker of mean speed; they stay as they are where the speeds may well be equal. -1 with one line when
 * memory is out; `speeds` owns nothing then. */
int costs_separate_workers(struct costs *costs, struct recorded_speeds *speeds, struct error *error);

#define COSTS_DISTRIBUTIONS                                                                                            \
    "constant, uniform, normal, exponential, gamma, bimodal, increasing, decreasing, lognormal, pareto, phases"

/* True if the text begins with the name of a distribution, or with that of a part of a mixture. */
bool costs_is_distribution(const char *spec);

/* From a distribution, `name` or `name:param=value,..`, one of COSTS_DISTRIBUTIONS, with mean= (us), cov= (uniform,
 * normal, gamma, lognormal: standard deviation over mean), spread= (bimodal, increasing, decreasing, phases: relative
 * to the mean, 0 to 1), alpha= (pareto: its index, above 1), phases= (phases: how many parts are cheap and costly in
 * turn), seed=, period= (iterations of a time step: the costs of each are those of the first) and trend= (what they
 * grow by in each, in parts of those of the first). A mixture is `share*name:..+share*name:..`: so many of the
 * iterations are of each part, which ones is drawn by the seed of the first. The cost of an iteration depends on
 * nothing but its index, the parameters and, where the costs grow or shrink or have phases, on the range. NULL with one
 * line. */
struct costs *costs_distributed(const char *spec, uint64_t first, uint64_t count, struct error *error);
