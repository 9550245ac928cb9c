/* SPDX-License-Identifier: MIT */
/* What samples of a few runs tell: quartiles, intervals of confidence of the median, and whether two of them differ.
 * Nothing here assumes how the figures of runs are distributed: times of computers have long tails (Hoefler and Belli
 * 2015). Pure, and nothing is drawn at random. */
#pragma once

#include <stdbool.h>

/* --- one sample --- */

struct quartiles {
    double least, lower, median, upper, most;
};

/* Quartiles of a sample of at least one value, in ascending order: type 7 of Hyndman and Fan 1996, as R and NumPy have
 * them. The median of an even number of values is the mean of the two in the middle. */
struct quartiles quartiles_of(const double *sorted, unsigned count);

/* The ends of a box plot's whiskers: the values furthest from the box that are within 1.5 times its height (Tukey
 * 1977). What lies beyond them is drawn value by value. */
void whiskers_of(const double *sorted, unsigned count, double *low, double *high);

/* An interval takes so many values at least. */
#define BOOTSTRAP_LEAST 3
/* The confidence of the intervals. */
#define CONFIDENCE 0.95

struct interval {
    double low, high;
};

/* The 95 % interval of confidence of the median by the bootstrap's percentile method: of the medians of all samples
 * that can be drawn from this one, with replacement, as probable as they are, those without the outermost 2.5 % on
 * either side (Efron and Tibshirani 1993, equation 13.4). False where there are fewer than BOOTSTRAP_LEAST values: then
 * there is none; and when memory is out. */
bool bootstrap_median(const double *sorted, unsigned count, struct interval *interval);

/* The same of 100 (1 - median of the sample / median of the baseline), of all pairs of what can be drawn from both. No
 * value is negative. False where one of them has too few values, or the baseline one of 0. */
bool bootstrap_saving(const double *sorted, unsigned count, const double *baseline, unsigned baseline_count,
                      struct interval *interval);

/* The highest confidence with which an interval between values of so many runs can hold the median: 1 - 2^(1 - count).
 * Below 95 % for fewer than six runs, whatever the method says. */
double confidence_at_most(unsigned count);

/* --- two samples --- */

/* The probability, with two equal distributions, of a difference in ranks as large as that of these samples: the test
 * of Mann and Whitney 1947, two-sided. Exact for small samples, also where values are equal: of all ways to deal the
 * ranks out, equal values with the mean of theirs. Else the normal approximation with corrections for continuity and
 * for equal values (Lehmann 1975). 1 where a sample is empty; below 0 when memory is out. */
double mann_whitney(const double *a, unsigned a_count, const double *b, unsigned b_count);

/* The least such probability that samples of these sizes can have: no difference is significant where it is not below
 * the level. */
double mann_whitney_least(unsigned a_count, unsigned b_count);

/* Corrects the probabilities of several comparisons in place, so that the chance of one false finding among all of them
 * stays below the level: the step-down method of Holm 1979. */
void correct_holm(double *p, unsigned count);
