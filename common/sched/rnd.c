/* SPDX-License-Identifier: MIT */
/* rnd: chunks of random size, a baseline for comparisons.
 *
 * The size of chunk i is an integer function of the seed and of i, so it is the same on every machine, and in the
 * recursive and the closed form. */
#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/util/error.h"
#include "common/util/random.h"

enum { PARAM_LO, PARAM_HI, PARAM_SEED, PARAM_BOUNDS };
enum { BOUNDS_DCA, BOUNDS_2L };
enum { LO, SPAN, SEED }; /* in sched->constant: lo, hi - lo + 1, and the seed */

#define SEED_DEFAULT 1

static const struct technique_param rnd_params[] = {
    [PARAM_LO] = {.name = "lo",
                  .kind = SCHED_PARAM_INTEGER,
                  .fallback = "by bounds",
                  .minimum = 1,
                  .maximum = (double)SCHED_ITERATIONS_MAX,
                  .summary = "smallest chunk, iterations"},
    [PARAM_HI] = {.name = "hi",
                  .kind = SCHED_PARAM_INTEGER,
                  .fallback = "by bounds",
                  .minimum = 1,
                  .maximum = (double)SCHED_ITERATIONS_MAX,
                  .summary = "largest chunk, iterations"},
    [PARAM_SEED] = {.name = "seed",
                    .kind = SCHED_PARAM_INTEGER,
                    .fallback = "1",
                    .minimum = 0,
                    .maximum = (double)SCHED_ITERATIONS_MAX,
                    .summary = "the same seed gives the same series"},
    [PARAM_BOUNDS] = {.name = "bounds",
                      .kind = SCHED_PARAM_CHOICE,
                      .fallback = "dca",
                      .choices = "dca|2l",
                      .summary = "lo and hi by default: 1 and floor(N/P), or ceil(N/(100P)) and floor(N/(2P))"},
    {.name = NULL},
};

static int rnd_init(struct sched *sched, struct error *error)
{
    const bool two_level = param_integer(sched, PARAM_BOUNDS, BOUNDS_DCA) == BOUNDS_2L;
    const uint64_t workers = sched->workers, hundredth = ceil_div(sched->iterations, 100 * workers);
    const uint64_t most = sched->iterations / (two_level ? 2 * workers : workers);
    uint64_t lo = param_integer(sched, PARAM_LO, two_level && hundredth > 1 ? hundredth : 1);
    uint64_t hi = param_integer(sched, PARAM_HI, most > lo ? most : lo);
    if (lo > hi)
        return error_set(error, "technique rnd: lo=%" PRIu64 " is larger than hi=%" PRIu64 ": accepted is lo <= hi", lo,
                         hi);
    sched->constant.integer[LO] = lo;
    sched->constant.integer[SPAN] = hi - lo + 1;
    sched->constant.integer[SEED] = param_integer(sched, PARAM_SEED, SEED_DEFAULT);
    return 0;
}

/* Returns a random number that is uniform in [lo, hi], [DCA] eq 12. It is the span multiplied by 64 random bits, which
 * are read as a fraction. This is the method of Lemire 2019, Fast random integer generation in an interval, without its
 * rejection step. Therefore the probability of a size is not exact: its relative error is below span/2^64. */
static uint64_t rnd_at(const struct sched *sched, uint64_t step)
{
    const uint64_t *constant = sched->constant.integer;
    return constant[LO] + (uint64_t)((uint128)splitmix64_at(constant[SEED], step) * constant[SPAN] >> 64);
}

static uint64_t rnd_next(struct sched *sched, unsigned worker)
{
    (void)worker;
    return rnd_at(sched, sched->step);
}

static uint64_t rnd_start(const struct sched *sched, uint64_t step)
{
    const uint64_t *constant = sched->constant.integer;
    bool equal = constant[SPAN] == 1 || constant[LO] + constant[SPAN] - 1 <= sched->min_chunk;
    return equal ? start_of_equal(sched, constant[LO], step) : SCHED_NO_START;
}

const struct technique technique_rnd = {
    .name = "rnd",
    .title = "random self-scheduling",
    .rule = "K_i uniform in [lo, hi]: lo + floor(z_i (hi-lo+1) / 2^64), with z_i the output number i from 0 of "
            "SplitMix64 for seed",
    .source = "Eleliemy and Ciorba, A Distributed Chunk Calculation Approach for Self-scheduling, eq 12; generator: "
              "Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators (OOPSLA 2014)",
    .when = "to compare other techniques with it, or to test a set-up with chunks of all sizes",
    .params = rnd_params,
    .for_comparison = true,
    .init = rnd_init,
    .next = rnd_next,
    .at = rnd_at,
    .start = rnd_start,
};
