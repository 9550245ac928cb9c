/* SPDX-License-Identifier: MIT */
/* Statistics of small samples against published examples and figures that were computed by other means: SciPy 1.10
 * (mannwhitneyu), NumPy (percentile), all ways to choose one by one, and the bootstrap's exact distribution in Python's
 * fractions. */
#include "deploy/cli/study/inference.h"
#include "tests/lib/suite.h"

#include <math.h>
#include <stdlib.h>

#define COUNT(LIST) ((unsigned)(sizeof(LIST) / sizeof *(LIST)))

/* Survival of mice in days: Table 2.1 of Efron and Tibshirani 1993, in ascending order. */
static const double treatment[] = {16, 23, 38, 94, 99, 141, 197};
static const double control[] = {10, 27, 30, 40, 46, 51, 52, 104, 146};

static void check_near(double value, double expected)
{
    ck_assert_msg(fabs(value - expected) <= 1e-9 * fmax(1, fabs(expected)), "%.12g is not %.12g", value, expected);
}

START_TEST(quartiles_are_those_of_numpy)
{
    static const struct {
        unsigned count;
        double values[9], lower, median, upper;
    } cases[] = {
        {7, {16, 23, 38, 94, 99, 141, 197}, 30.5, 94, 120},
        {9, {10, 27, 30, 40, 46, 51, 52, 104, 146}, 30, 46, 52},
        {4, {1, 2, 3, 4}, 1.75, 2.5, 3.25},
        {2, {1, 2}, 1.25, 1.5, 1.75},
        {1, {7}, 7, 7, 7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct quartiles found = quartiles_of(cases[i].values, cases[i].count);
        check_near(found.least, cases[i].values[0]);
        check_near(found.lower, cases[i].lower);
        check_near(found.median, cases[i].median);
        check_near(found.upper, cases[i].upper);
        check_near(found.most, cases[i].values[cases[i].count - 1]);
    }
}
END_TEST

START_TEST(whiskers_end_at_values)
{
    double low, high;
    whiskers_of(control, COUNT(control), &low, &high); /* quartiles 30 and 52: -3 .. 85 */
    check_near(low, 10);
    check_near(high, 52);
    whiskers_of(treatment, COUNT(treatment), &low, &high);
    check_near(low, 16);
    check_near(high, 197);
    static const double outlying[] = {1, 10, 10, 10, 10, 10, 20}; /* a box without height */
    whiskers_of(outlying, COUNT(outlying), &low, &high);
    check_near(low, 10);
    check_near(high, 10);
    static const double alone[] = {3};
    whiskers_of(alone, 1, &low, &high);
    check_near(low, 3);
    check_near(high, 3);
}
END_TEST

/* P(median of a resample <= k-th value) is P(Bin(n, k / n) >= (n + 1) / 2): with n = 7 it is 0.0102 for the first value
 * and 0.1083 for the second, so that 2.5 % lie below the second. */
START_TEST(intervals_are_those_of_the_exact_distribution)
{
    static const double ascending[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}; /* 0.0072 and 0.0512 for 2 and 3 */
    static const double even[] = {1, 2, 3, 4, 5, 6}; /* 0.0087 and 0.0349 for 1 and 1.5, by enumeration */
    static const double three[] = {1, 2, 4};         /* 0.2593 for the first: the interval is the range */
    static const double same[] = {5, 5, 5, 5};
    struct interval found;
    ck_assert(bootstrap_median(treatment, COUNT(treatment), &found));
    check_near(found.low, 23);
    check_near(found.high, 141);
    ck_assert(bootstrap_median(ascending, COUNT(ascending), &found));
    check_near(found.low, 3);
    check_near(found.high, 9);
    ck_assert(bootstrap_median(even, COUNT(even), &found));
    check_near(found.low, 1.5);
    check_near(found.high, 5.5);
    ck_assert(bootstrap_median(three, COUNT(three), &found));
    check_near(found.low, 1);
    check_near(found.high, 4);
    ck_assert(bootstrap_median(same, COUNT(same), &found));
    check_near(found.low, 5);
    check_near(found.high, 5);
}
END_TEST

/* Intervals of the squares from 1 on, so that each pair of values has a mean of its own: from fractions, whose
 * distribution was found for 3 to 6 values by a list of all resamples, too. With 9 values 2.8 % lie up to the second.
 */
START_TEST(intervals_are_exact_for_all_counts)
{
    static const struct {
        unsigned count;
        double low, high;
    } cases[] = {
        {3, 1, 9},  {4, 1, 16},  {5, 1, 25},  {6, 2.5, 30.5},   {7, 4, 36},     {8, 4, 49},
        {9, 4, 64}, {10, 9, 65}, {11, 9, 81}, {12, 12.5, 90.5}, {47, 289, 961}, {60, 529, 1444},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        double squares[60];
        struct interval found;
        for (unsigned k = 0; k < cases[i].count; k++)
            squares[k] = (k + 1.0) * (k + 1.0);
        ck_assert(bootstrap_median(squares, cases[i].count, &found));
        check_near(found.low, cases[i].low);
        check_near(found.high, cases[i].high);
    }
}
END_TEST

/* The values the other way round have the interval the other way round, also where there are so many that the
 * probabilities of single resamples are too small for any number. */
START_TEST(intervals_are_symmetric)
{
    enum { MOST = 10000 };
    static double values[MOST];
    for (unsigned k = 0; k < MOST; k++)
        values[k] = k + 1;
    for (unsigned count = BOOTSTRAP_LEAST; count <= MOST; count = count < 60 ? count + 1 : count * 5 / 2 + 1) {
        struct interval found;
        ck_assert(bootstrap_median(values, count, &found));
        check_near(found.low + found.high, count + 1);
        ck_assert(found.low < (count + 1) / 2.0);
    }
    struct interval found;
    ck_assert(bootstrap_median(values, MOST, &found)); /* 1.96 standard deviations, each of half the root */
    ck_assert(fabs(found.low - (MOST / 2.0 - 98)) < 2 && fabs(found.high - (MOST / 2.0 + 98)) < 2);
    ck_assert(bootstrap_saving(values, MOST, values, MOST, &found));
    ck_assert(fabs(found.low + 2.77) < 0.1 && fabs(found.high - 2.77) < 0.1); /* 1 % each, root of 2 */
}
END_TEST

START_TEST(few_values_have_no_interval)
{
    struct interval found;
    ck_assert(!bootstrap_median(control, 0, &found));
    ck_assert(!bootstrap_median(control, 1, &found));
    ck_assert(!bootstrap_median(control, 2, &found));
    ck_assert(!bootstrap_saving(control, 3, treatment, 2, &found));
    check_near(confidence_at_most(3), 0.75);
    check_near(confidence_at_most(5), 0.9375);
    ck_assert(confidence_at_most(6) > CONFIDENCE);
}
END_TEST

START_TEST(savings_have_intervals)
{
    static const double before[] = {10, 10, 10, 10}, after[] = {5, 6, 7, 8, 9};
    static const double zero[] = {0, 1, 2};
    struct interval found, median;
    ck_assert(bootstrap_saving(after, COUNT(after), before, COUNT(before), &found));
    check_near(found.low, 10); /* the baseline does not vary: 5 .. 9 of 10 */
    check_near(found.high, 50);
    ck_assert(bootstrap_median(after, COUNT(after), &median));
    check_near(median.low, 5);
    check_near(median.high, 9);
    ck_assert(!bootstrap_saving(after, COUNT(after), zero, COUNT(zero), &found));
    static const double odd[] = {10, 13, 14, 15, 19, 22, 30}, even[] = {3, 4, 6, 9, 11, 12, 17, 20, 21, 25};
    ck_assert(bootstrap_saving(even, COUNT(even), odd, COUNT(odd), &found)); /* from fractions, of all pairs */
    check_near(found.low, -40);
    check_near(found.high, 200.0 / 3);
}
END_TEST

/* Hollander and Wolfe 1973, the example of R's wilcox.test(): permeability of membranes, W = 35, p = 0.1272 one-sided.
 */
START_TEST(small_samples_are_compared_exactly)
{
    static const double at_term[] = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
    static const double earlier[] = {1.15, 0.88, 0.90, 0.74, 1.21};
    static const double one[] = {1, 2, 3}, two[] = {4, 5, 6}, low[] = {1, 2, 3, 4}, high[] = {5, 6, 7, 8};
    check_near(mann_whitney(at_term, COUNT(at_term), earlier, COUNT(earlier)), 0.2544122544122544);
    check_near(mann_whitney(earlier, COUNT(earlier), at_term, COUNT(at_term)), 0.2544122544122544);
    check_near(mann_whitney(one, 3, two, 3), 0.1);
    check_near(mann_whitney(low, 4, high, 4), 2.0 / 70);
    double twenty[20], other[20];
    for (int i = 0; i < 20; i++) {
        twenty[i] = i * 1.5 + 0.01;
        other[i] = i * 1.7 + 3;
    }
    check_near(mann_whitney(twenty, 20, other, 20), 0.14170503074115778);
}
END_TEST

/* Of all ways to choose the ranks of the first sample, by enumeration. */
START_TEST(equal_values_share_their_rank)
{
    static const double a[] = {1, 2, 2, 3}, b[] = {2, 3, 4, 5, 5}, same[] = {1, 1, 1};
    static const double c[] = {5.1, 5.3, 5.2, 5.9, 5.4}, d[] = {5.0, 5.3, 5.3, 6.1, 6.2, 6.4};
    check_near(mann_whitney(a, COUNT(a), b, COUNT(b)), 1.0 / 9);
    check_near(mann_whitney(c, COUNT(c), d, COUNT(d)), 0.42424242424242425);
    check_near(mann_whitney(same, 3, same, 3), 1);
}
END_TEST

/* Ozone in New York in May and August of a year, the other example of R's wilcox.test(): W = 127.5, p = 0.0001208. */
START_TEST(large_samples_are_compared_by_the_normal_distribution)
{
    static const double may[] = {41, 36, 12, 18, 28, 23, 19, 8, 7,  16, 11, 14,  18,
                                 14, 34, 6,  30, 11, 1,  11, 4, 32, 23, 45, 115, 37};
    static const double august[] = {39, 9,  16, 78, 35, 66, 122, 89,  110, 44, 28,  65, 22,
                                    59, 23, 31, 44, 21, 9,  45,  168, 73,  76, 118, 84, 85};
    static const double a[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4};
    static const double b[] = {2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5, 9, 0, 4, 5, 2, 3, 5, 3, 6};
    double same[60];
    check_near(mann_whitney(may, COUNT(may), august, COUNT(august)), 0.00012080783076877434);
    check_near(mann_whitney(a, COUNT(a), b, COUNT(b)), 0.5900713920715759);
    for (int i = 0; i < 60; i++)
        same[i] = 2;
    check_near(mann_whitney(same, 30, same + 30, 30), 1);
}
END_TEST

START_TEST(few_runs_cannot_differ)
{
    check_near(mann_whitney_least(3, 3), 0.1);
    check_near(mann_whitney_least(4, 4), 2.0 / 70);
    check_near(mann_whitney_least(1, 1), 1);
    check_near(mann_whitney_least(0, 9), 1);
    ck_assert(mann_whitney_least(30, 30) < 1e-9);
    static const double none[] = {1}, some[] = {2, 3};
    check_near(mann_whitney(none, 0, some, 2), 1);
}
END_TEST

START_TEST(several_comparisons_are_corrected)
{
    double p[] = {0.01, 0.04, 0.03, 0.005}, large[] = {0.5, 0.9}, alone[] = {0.04};
    correct_holm(p, 4); /* 0.005 * 4, 0.01 * 3, 0.03 * 2, and no less for 0.04 */
    check_near(p[0], 0.03);
    check_near(p[1], 0.06);
    check_near(p[2], 0.06);
    check_near(p[3], 0.02);
    correct_holm(large, 2);
    check_near(large[0], 1);
    check_near(large[1], 1);
    correct_holm(alone, 1);
    check_near(alone[0], 0.04);
    correct_holm(NULL, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("inference");
    TCase *tests = tcase_create("inference");
    tcase_add_test(tests, quartiles_are_those_of_numpy);
    tcase_add_test(tests, whiskers_end_at_values);
    tcase_add_test(tests, intervals_are_those_of_the_exact_distribution);
    tcase_add_test(tests, intervals_are_exact_for_all_counts);
    tcase_add_test(tests, intervals_are_symmetric);
    tcase_add_test(tests, few_values_have_no_interval);
    tcase_add_test(tests, savings_have_intervals);
    tcase_add_test(tests, small_samples_are_compared_exactly);
    tcase_add_test(tests, equal_values_share_their_rank);
    tcase_add_test(tests, large_samples_are_compared_by_the_normal_distribution);
    tcase_add_test(tests, few_runs_cannot_differ);
    tcase_add_test(tests, several_comparisons_are_corrected);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
