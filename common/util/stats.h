/* SPDX-License-Identifier: MIT */
/* Running statistics in one pass (Welford 1962). */
#pragma once

#include <stdint.h>

struct stats {
    uint64_t count;
    double mean;
    double m2;
    double minimum, maximum;
    double sum;
};

void stats_init(struct stats *stats);
void stats_add(struct stats *stats, double value);

/* Returns the population standard deviation; 0 if there are fewer than two values. */
double stats_deviation(const struct stats *stats);

double stats_cov(const struct stats *stats);
