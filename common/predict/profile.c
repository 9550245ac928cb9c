/* SPDX-License-Identifier: MIT */
/* Profiles of iteration times: see profile.h. */
#include "common/predict/profile.h"

#include <math.h>

static void integrate(struct profile *profile)
{
    double *integral = profile->integral;
    integral[0] = 0;
    for (int k = 0; k < PROFILE_CELLS; k++)
        integral[k + 1] = integral[k] + (profile->level[k] + profile->level[k + 1]) / (2 * PROFILE_CELLS);
    double whole = integral[PROFILE_CELLS];
    for (int k = 0; k <= PROFILE_CELLS; k++) {
        profile->level[k] = whole > 0 ? profile->level[k] / whole : 1;
        integral[k] = whole > 0 ? integral[k] / whole : (double)k / PROFILE_CELLS;
    }
}

void profile_init_flat(struct profile *profile, double cov)
{
    for (int k = 0; k <= PROFILE_CELLS; k++)
        profile->level[k] = 1;
    profile->cov = cov;
    integrate(profile);
}

struct split {
    double between, within; /* sum of squares between the parts of the loop, and sum of squares within the parts */
    uint64_t samples, cells;
};

static struct split split_variance(const struct profile_samples *samples)
{
    struct split split = {0};
    for (int k = 0; k < PROFILE_CELLS; k++) {
        double distance = samples->mean[k] - samples->overall_mean;
        split.between += (double)samples->count[k] * distance * distance;
        split.samples += samples->count[k];
        split.cells += samples->count[k] > 0;
    }
    double total = (double)split.samples * samples->overall_deviation * samples->overall_deviation;
    split.within = fmax(0, total - split.between);
    return split;
}

/* Returns to what extent differences between parts count as a trend, from 0 (none) to 1 (all). The formula is the
 * positive-part shrinkage of James and Stein 1961. Its noise is the variance within the parts. If each part has only
 * one sample, the noise is half of the mean squared difference of neighbouring samples (von Neumann 1941). */
static double trust(const struct profile_samples *samples, const struct split *split)
{
    if (split->cells < 3 || split->between <= 0)
        return 0;
    double noise;
    if (split->samples > split->cells) {
        noise = split->within / (double)(split->samples - split->cells);
    } else {
        double steps = 0, before = NAN;
        for (int k = 0; k < PROFILE_CELLS; k++) {
            if (samples->count[k] == 0)
                continue;
            if (!isnan(before))
                steps += (samples->mean[k] - before) * (samples->mean[k] - before);
            before = samples->mean[k];
        }
        noise = steps / (2 * (double)(split->cells - 1));
    }
    return fmax(0, 1 - (double)(split->cells - 2) * noise / split->between);
}

static double nearest_mean(const struct profile_samples *samples, int k)
{
    for (int away = 0; away < PROFILE_CELLS; away++) {
        if (k - away >= 0 && samples->count[k - away] > 0)
            return samples->mean[k - away];
        if (k + away < PROFILE_CELLS && samples->count[k + away] > 0)
            return samples->mean[k + away];
    }
    return samples->overall_mean;
}

static double mean_of_levels(const double cell[PROFILE_CELLS], int border)
{
    if (border == 0)
        return fmax(0, cell[0] + (cell[0] - cell[1]) / 2);
    if (border == PROFILE_CELLS)
        return fmax(0, cell[PROFILE_CELLS - 1] + (cell[PROFILE_CELLS - 1] - cell[PROFILE_CELLS - 2]) / 2);
    return (cell[border - 1] + cell[border]) / 2;
}

void profile_init(struct profile *profile, const struct profile_samples *samples)
{
    struct split split = split_variance(samples);
    double mean = samples->overall_mean, cell[PROFILE_CELLS], total = 0;
    if (split.samples == 0 || !(mean > 0) || !isfinite(mean)) {
        profile_init_flat(profile, 0);
        return;
    }
    double share = trust(samples, &split);
    for (int k = 0; k < PROFILE_CELLS; k++) {
        cell[k] = fmax(0, 1 + share * (nearest_mean(samples, k) / mean - 1));
        total += cell[k];
    }
    for (int border = 0; border <= PROFILE_CELLS; border++)
        profile->level[border] = mean_of_levels(cell, border) * PROFILE_CELLS / total;
    double variance = samples->overall_deviation * samples->overall_deviation;
    double explained = share * share * split.between / (double)split.samples;
    profile->cov = sqrt(fmax(0, variance - explained)) / mean;
    integrate(profile);
}

double profile_work(const struct profile *profile, double x)
{
    double place = fmin(fmax(x, 0), 1) * PROFILE_CELLS;
    int k = place < PROFILE_CELLS ? (int)place : PROFILE_CELLS - 1;
    double within = place - k, from = profile->level[k], to = from + (profile->level[k + 1] - from) * within;
    return profile->integral[k] + (from + to) / 2 * within / PROFILE_CELLS;
}
