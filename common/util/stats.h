/* SPDX-License-Identifier: MIT */
/* Running statistics in one pass (Welford 1962). */
#pragma once

#include <stdint.h>

struct stats {
    uint64_t count;
    double mean;
    double m2; /* sum of squared distances from the mean */
    double minimum, maximum;
    double sum;
};

void stats_init(struct stats *stats);
void stats_add(struct stats *stats, double value);

/* Population standard deviation; 0 for fewer than two values. */
double stats_deviation(const struct stats *stats);

/* Coefficient of variation, deviation / mean; 0 if the mean is 0. */
double stats_cov(const struct stats *stats);
