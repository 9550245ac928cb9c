/* SPDX-License-Identifier: MIT */
/* Statistics of small samples: see inference.h.
 *
 * The test compares ranks rather than means, as runs of one setting are few, not normal, and now and then one of them
 * is disturbed: its rank is the last one, however long it took. It is exact up to EXACT_MOST values: there are so many
 * ways to deal the ranks of both samples out, each as probable as any other if the samples do not differ, and the
 * probability is the part of them with a difference as large as that seen. They are counted by their sum of ranks, one
 * value after another, as a knapsack is filled, so that equal values, whose ranks are halves, cost nothing more.
 *
 * The bootstrap draws nothing either: how probable it is that a resample has this or that median is known, and so is
 * the same of the quotient of two. */
#include "deploy/cli/study/inference.h"

#include <math.h>
#include <stdlib.h>

/* Of both samples together, up to which the test is exact. */
#define EXACT_MOST 40

/* Medians that are less probable are left out: even all of them together have no effect on a figure. */
#define NEGLIGIBLE 1e-18

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

/* A value that the median of a resample can have, and how probable it is. */
struct atom {
    double value, probability;
};

/* All of them, in ascending order once they are sorted. */
struct medians {
    struct atom *atoms; /* owned */
    size_t count, room;
    bool has_failed; /* memory is out */
};

static int compare_atoms(const void *a, const void *b)
{
    return inference_compare(&((const struct atom *)a)->value, &((const struct atom *)b)->value);
}

static void add_atom(struct medians *medians, double value, double probability)
{
    if (medians->count == medians->room) {
        const size_t room = medians->room > 0 ? 2 * medians->room : 64;
        struct atom *atoms = realloc(medians->atoms, room * sizeof *atoms);
        medians->has_failed = medians->has_failed || atoms == NULL;
        if (atoms == NULL)
            return;
        medians->atoms = atoms;
        medians->room = room;
    }
    medians->atoms[medians->count++] = (struct atom){value, probability};
}

/* The logarithm of the ways to choose k of n. */
static double log_choose(double n, double k)
{
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

/* The probability of `least` successes or more of `n`, from the summand next to the mean to where they vanish. */
static double binomial_tail(unsigned n, unsigned least, double p)
{
    if (p <= 0 || p >= 1)
        return p >= 1;
    const bool is_above = least > n * p;
    double k = is_above ? least : least - 1.0, sum = 0;
    double term = exp(log_choose(n, k) + k * log(p) + (n - k) * log1p(-p));
    while (k >= 0 && k <= n && term > 0 && term > NEGLIGIBLE * sum) {
        sum += term;
        term *= is_above ? (n - k) / (k + 1) * p / (1 - p) : k / (n - k + 1) * (1 - p) / p;
        k += is_above ? 1 : -1;
    }
    return is_above ? sum : 1 - sum;
}

/* The logarithm of (k / n)^m - ((k - 1) / n)^m: so probable is it that the greatest of m draws from n values is the
 * k-th, or, seen from the other end, the least. */
static double log_greatest_is(unsigned k, unsigned n, unsigned m)
{
    return m * log((double)k / n) + log(-expm1(m * log1p(-1.0 / k)));
}

/* The medians whose lower middle value is the i-th, which has that probability, and whose upper one is the j-th: half
 * of the draws have the i-th as their greatest, the others the j-th as their least. Where both are the i-th is what is
 * left. */
static void add_pairs(struct medians *medians, const double *sorted, unsigned count, unsigned i, double probability)
{
    const unsigned half = count / 2;
    const double lower = log_choose(count, half) + log_greatest_is(i, count, half);
    double left = probability;
    for (unsigned j = i + 1; j <= count; j++) {
        const double pair = exp(lower + log_greatest_is(count - j + 1, count, half));
        if (pair < NEGLIGIBLE)
            break;
        add_atom(medians, (sorted[i - 1] + sorted[j - 1]) / 2, pair);
        left -= pair;
    }
    add_atom(medians, sorted[i - 1], fmax(left, 0));
}

/* The distribution of the median of as many values drawn from the sample, with replacement. Its lower middle value is
 * the i-th or less where so many draws are: a binomial probability. -1 when memory is out. */
static int list_medians(struct medians *medians, const double *sorted, unsigned count)
{
    double below = 0;
    *medians = (struct medians){0};
    for (unsigned i = 1; i <= count; i++) {
        const double up_to = binomial_tail(count, (count + 1) / 2, (double)i / count);
        if (up_to - below >= NEGLIGIBLE && count % 2 == 1)
            add_atom(medians, sorted[i - 1], up_to - below);
        else if (up_to - below >= NEGLIGIBLE)
            add_pairs(medians, sorted, count, i, up_to - below);
        below = up_to;
    }
    if (medians->has_failed) {
        free(medians->atoms);
        return -1;
    }
    qsort(medians->atoms, medians->count, sizeof *medians->atoms, compare_atoms);
    return 0;
}

/* The least value up to which, and the greatest from which on, there is as much as lies outside at least. */
static struct interval middle_of(const struct medians *medians)
{
    const double outside = (1 - CONFIDENCE) / 2;
    size_t low = 0, high = medians->count - 1;
    for (double sum = medians->atoms[low].probability; sum < outside; sum += medians->atoms[low].probability)
        low++;
    for (double sum = medians->atoms[high].probability; sum < outside; sum += medians->atoms[high].probability)
        high--;
    return (struct interval){medians->atoms[low].value, medians->atoms[high].value};
}

bool bootstrap_median(const double *sorted, unsigned count, struct interval *interval)
{
    struct medians medians;
    if (count < BOOTSTRAP_LEAST || list_medians(&medians, sorted, count) < 0)
        return false;
    *interval = middle_of(&medians);
    free(medians.atoms);
    return true;
}

/* How probable it is that the quotient of two medians is so large at most: of each dividend, which rise, the part of
 * the divisors that are large enough. */
static double quotient_at_most(const struct medians *dividend, const struct medians *divisor, double most)
{
    double sum = 0, large = 1;
    size_t k = 0;
    for (size_t i = 0; i < dividend->count; i++) {
        while (k < divisor->count && dividend->atoms[i].value / divisor->atoms[k].value > most)
            large -= divisor->atoms[k++].probability;
        sum += dividend->atoms[i].probability * (k < divisor->count ? large : 0);
    }
    return sum;
}

/* The least quotient up to which there is such a part of all: halves the range until no number lies between. */
static double quotient_quantile(const struct medians *dividend, const struct medians *divisor, double part)
{
    double low = dividend->atoms[0].value / divisor->atoms[divisor->count - 1].value;
    double high = dividend->atoms[dividend->count - 1].value / divisor->atoms[0].value;
    if (quotient_at_most(dividend, divisor, low) >= part)
        return low;
    for (double middle = (low + high) / 2; middle > low && middle < high; middle = (low + high) / 2)
        *(quotient_at_most(dividend, divisor, middle) >= part ? &high : &low) = middle;
    return high;
}

bool bootstrap_saving(const double *sorted, unsigned count, const double *baseline, unsigned baseline_count,
                      struct interval *interval)
{
    const double outside = (1 - CONFIDENCE) / 2;
    struct medians own, before;
    if (count < BOOTSTRAP_LEAST || baseline_count < BOOTSTRAP_LEAST || baseline[0] <= 0 ||
        list_medians(&own, sorted, count) < 0)
        return false;
    const bool is_ready = list_medians(&before, baseline, baseline_count) == 0;
    if (is_ready) {
        interval->low = 100 * (1 - quotient_quantile(&own, &before, 1 - outside));
        interval->high = 100 * (1 - quotient_quantile(&own, &before, outside));
        free(before.atoms);
    }
    free(own.atoms);
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
