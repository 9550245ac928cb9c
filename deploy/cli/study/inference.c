/* SPDX-License-Identifier: MIT */
/* Statistics of small samples: see inference.h.
 *
 * The test compares ranks rather than means, as runs of one setting are few, not normal, and now and then one of them
 * is disturbed: its rank is the last one, however long it took. It is exact up to EXACT_MOST values: there are so many
 * ways to deal the ranks of both samples out, each as probable as any other if the samples do not differ, and the
 * probability is the part of them with a difference as large as that seen. They are counted by their sum of ranks, one
 * value after another, as a knapsack is filled, so that equal values, whose ranks are halves, cost nothing more. */
#include "deploy/cli/study/inference.h"

#include "common/util/random.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Of both samples together, up to which the test is exact. */
#define EXACT_MOST 40

/* The interval of a sample is the same whenever it is computed. */
#define BOOTSTRAP_SEED UINT64_C(1993)

static int inference_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* --- quartiles --- */

/* The value at so large a part of the way from the least value to the greatest. */
static double quantile_of(const double *sorted, unsigned count, double part)
{
    const double place = part * (count - 1);
    const unsigned below = (unsigned)place;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (place - below) * (sorted[below + 1] - sorted[below]);
}

static double median_of(const double *sorted, unsigned count)
{
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

struct quartiles quartiles_of(const double *sorted, unsigned count)
{
    return (struct quartiles){.least = sorted[0],
                              .lower = quantile_of(sorted, count, 0.25),
                              .median = median_of(sorted, count),
                              .upper = quantile_of(sorted, count, 0.75),
                              .most = sorted[count - 1]};
}

void whiskers_of(const double *sorted, unsigned count, double *low, double *high)
{
    const struct quartiles box = quartiles_of(sorted, count);
    const double reach = 1.5 * (box.upper - box.lower);
    unsigned first = 0, last = count - 1;
    while (first < last && sorted[first] < box.lower - reach)
        first++;
    while (last > first && sorted[last] > box.upper + reach)
        last--;
    *low = fmin(sorted[first], box.lower); /* no value may lie between the box and its reach */
    *high = fmax(sorted[last], box.upper);
}

/* --- the bootstrap --- */

/* The median of as many values drawn from the sample; `drawn` [count] is room to count how often each was. */
static double resample(const double *sorted, unsigned count, unsigned *drawn, struct random *random)
{
    memset(drawn, 0, count * sizeof *drawn);
    for (unsigned i = 0; i < count; i++)
        drawn[random_between(random, 0, count - 1)]++;
    const unsigned low = (count - 1) / 2, high = count / 2; /* places of the middle of what was drawn */
    unsigned at = 0, passed = drawn[0];
    while (passed <= low)
        passed += drawn[++at];
    const double below = sorted[at];
    while (passed <= high)
        passed += drawn[++at];
    return (below + sorted[at]) / 2;
}

/* From the 50th to the 1950th of the values of all 2,000 resamples, which are sorted here. */
static struct interval middle_of(double *values)
{
    const long outside = lround((1 - CONFIDENCE) / 2 * BOOTSTRAP_RESAMPLES);
    qsort(values, BOOTSTRAP_RESAMPLES, sizeof *values, inference_compare);
    return (struct interval){values[outside - 1], values[BOOTSTRAP_RESAMPLES - outside - 1]};
}

bool bootstrap_median(const double *sorted, unsigned count, struct interval *interval)
{
    if (count < BOOTSTRAP_LEAST)
        return false;
    struct random random;
    double *medians = malloc(BOOTSTRAP_RESAMPLES * sizeof *medians);
    unsigned *drawn = malloc(count * sizeof *drawn);
    const bool is_ready = medians != NULL && drawn != NULL;
    random_init(&random, BOOTSTRAP_SEED);
    for (unsigned i = 0; is_ready && i < BOOTSTRAP_RESAMPLES; i++)
        medians[i] = resample(sorted, count, drawn, &random);
    if (is_ready)
        *interval = middle_of(medians);
    free(medians);
    free(drawn);
    return is_ready;
}

bool bootstrap_saving(const double *sorted, unsigned count, const double *baseline, unsigned baseline_count,
                      struct interval *interval)
{
    if (count < BOOTSTRAP_LEAST || baseline_count < BOOTSTRAP_LEAST || baseline[0] <= 0)
        return false;
    struct random random;
    double *savings = malloc(BOOTSTRAP_RESAMPLES * sizeof *savings);
    unsigned *drawn = malloc((count > baseline_count ? count : baseline_count) * sizeof *drawn);
    const bool is_ready = savings != NULL && drawn != NULL;
    random_init(&random, BOOTSTRAP_SEED);
    for (unsigned i = 0; is_ready && i < BOOTSTRAP_RESAMPLES; i++) {
        const double before = resample(baseline, baseline_count, drawn, &random);
        savings[i] = 100 * (1 - resample(sorted, count, drawn, &random) / before);
    }
    if (is_ready)
        *interval = middle_of(savings);
    free(savings);
    free(drawn);
    return is_ready;
}

double confidence_at_most(unsigned count)
{
    return count > 0 ? 1 - pow(2, 1 - (double)count) : 0;
}

/* --- two samples --- */

/* The values of both samples in ascending order, with twice their ranks, which are whole numbers. */
struct ranked {
    double value;
    unsigned twice_rank;
    bool is_first; /* of the first sample */
};

static int compare_ranked(const void *a, const void *b)
{
    return inference_compare(&((const struct ranked *)a)->value, &((const struct ranked *)b)->value);
}

/* Ranks the values: equal ones have the mean of their ranks. Returns the sum of t^3 - t over groups of t equal values.
 */
static double rank(struct ranked *all, unsigned count)
{
    double ties = 0;
    qsort(all, count, sizeof *all, compare_ranked);
    for (unsigned first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && all[next].value <= all[first].value; next++)
            ;
        const double equal = next - first;
        for (unsigned i = first; i < next; i++)
            all[i].twice_rank = first + 1 + next; /* 2 (first + 1 + next) / 2 */
        ties += equal * equal * equal - equal;
    }
    return ties;
}

static unsigned twice_rank_sum(const struct ranked *all, unsigned count)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < count; i++)
        if (all[i].is_first)
            sum += all[i].twice_rank;
    return sum;
}

/* Of all ways to choose `chosen` of the ranks, the part whose sum is at most `sum`, and the part whose sum is at least
 * that. -1 when memory is out. */
static int count_choices(const struct ranked *all, unsigned count, unsigned chosen, unsigned sum, double *below,
                         double *above)
{
    const size_t sums = (size_t)count * (count + 1) + 1; /* twice the sum of all ranks, at most */
    double *ways = calloc((chosen + 1) * sums, sizeof *ways), total = 0;
    if (ways == NULL)
        return -1;
    ways[0] = 1; /* [k * sums + s] ways to choose k of the ranks so far whose sum is s */
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = chosen; k > 0; k--)
            for (size_t s = sums - 1; s >= all[i].twice_rank; s--)
                ways[k * sums + s] += ways[(k - 1) * sums + s - all[i].twice_rank];
    *below = *above = 0;
    for (size_t s = 0; s < sums; s++) {
        const double here = ways[chosen * sums + s];
        total += here;
        *below += s <= sum ? here : 0;
        *above += s >= sum ? here : 0;
    }
    free(ways);
    *below /= total;
    *above /= total;
    return 0;
}

/* The normal approximation. All values are equal where nothing varies. */
static double approximate(unsigned a_count, unsigned b_count, double rank_sum, double ties)
{
    const double m = a_count, n = b_count, all = m + n;
    const double distance = fabs(rank_sum - m * (all + 1) / 2);
    const double variance = m * n / 12 * (all + 1 - ties / (all * (all - 1)));
    if (variance <= 0)
        return 1;
    return erfc(fmax(distance - 0.5, 0) / sqrt(variance) / sqrt(2));
}

double mann_whitney(const double *a, unsigned a_count, const double *b, unsigned b_count)
{
    const unsigned count = a_count + b_count;
    if (a_count == 0 || b_count == 0)
        return 1;
    struct ranked *all = malloc(count * sizeof *all);
    if (all == NULL)
        return -1;
    for (unsigned i = 0; i < count; i++)
        all[i] = (struct ranked){i < a_count ? a[i] : b[i - a_count], 0, i < a_count};
    const double ties = rank(all, count);
    const unsigned sum = twice_rank_sum(all, count);
    double below, above, p = -1;
    if (count > EXACT_MOST)
        p = approximate(a_count, b_count, sum / 2.0, ties);
    else if (count_choices(all, count, a_count, sum, &below, &above) == 0)
        p = fmin(1, 2 * fmin(below, above));
    free(all);
    return p;
}

double mann_whitney_least(unsigned a_count, unsigned b_count)
{
    const double m = a_count, n = b_count;
    if (a_count == 0 || b_count == 0)
        return 1;
    if (a_count + b_count > EXACT_MOST)
        return approximate(a_count, b_count, m * (m + 1) / 2, 0);
    return fmin(1, 2 * exp(lgamma(m + 1) + lgamma(n + 1) - lgamma(m + n + 1)));
}

void correct_holm(double *p, unsigned count)
{
    double before = 0;
    for (unsigned done = 0; done < count; done++) { /* the least that is left: those that are done are negative */
        unsigned least = count;
        for (unsigned i = 0; i < count; i++)
            if (p[i] >= 0 && (least == count || p[i] < p[least]))
                least = i;
        before = fmax(before, fmin(1, (count - done) * p[least]));
        p[least] = -1 - before;
    }
    for (unsigned i = 0; i < count; i++)
        p[i] = -1 - p[i];
}
