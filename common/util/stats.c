/* SPDX-License-Identifier: MIT */
/* Running statistics: see stats.h. */
#include "common/util/stats.h"

#include <math.h>

void stats_init(struct stats *stats)
{
    *stats = (struct stats){.minimum = INFINITY, .maximum = -INFINITY};
}

void stats_add(struct stats *stats, double value)
{
    stats->count++;
    stats->sum += value;
    double distance = value - stats->mean;
    stats->mean += distance / (double)stats->count;
    stats->m2 += distance * (value - stats->mean);
    stats->minimum = fmin(stats->minimum, value);
    stats->maximum = fmax(stats->maximum, value);
}

double stats_deviation(const struct stats *stats)
{
    return stats->count < 2 ? 0 : sqrt(stats->m2 / (double)stats->count);
}

double stats_cov(const struct stats *stats)
{
    return stats->mean == 0 ? 0 : stats_deviation(stats) / stats->mean;
}
