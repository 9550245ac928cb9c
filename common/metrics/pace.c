/* SPDX-License-Identifier: MIT */
/* Rate of the last half minute: see pace.h. */
#include "common/metrics/pace.h"

#include <math.h>

#define ERRORS_APART 2

#define RATES_LEAST 2

void pace_note(struct pace *pace, const struct progress *progress)
{
    const struct pace_look *latest = &pace->looks[(pace->count + PACE_LOOKS - 1) % PACE_LOOKS];
    if (progress->elapsed_s <= 0 || (pace->count > 0 && progress->elapsed_s < latest->at_s + PACE_GAP_S))
        return;
    pace->looks[pace->count++ % PACE_LOOKS] = (struct pace_look){progress->elapsed_s, progress->done};
}

/* Computes the rates between successive looks. Sets `*mean` to their time-weighted mean (0 if there are no rates)
 * and `*error` to the standard error of this mean. Returns the number of rates. */
static size_t mean_of_rates(const struct pace *pace, double *mean, double *error)
{
    const size_t looks = pace->count < PACE_LOOKS ? pace->count : PACE_LOOKS, oldest = pace->count - looks;
    const struct pace_look *first = &pace->looks[oldest % PACE_LOOKS];
    const struct pace_look *last = &pace->looks[(pace->count + PACE_LOOKS - 1) % PACE_LOOKS];
    double squares = 0;
    *mean = *error = 0;
    if (looks < 2 || last->done < first->done)
        return 0;
    *mean = (double)(last->done - first->done) / (last->at_s - first->at_s);
    for (size_t i = oldest + 1; i < pace->count; i++) {
        const struct pace_look *before = &pace->looks[(i - 1) % PACE_LOOKS], *look = &pace->looks[i % PACE_LOOKS];
        const double rate = ((double)look->done - (double)before->done) / (look->at_s - before->at_s);
        squares += (rate - *mean) * (rate - *mean);
    }
    const double rates = (double)(looks - 1);
    if (looks - 1 >= RATES_LEAST)
        *error = sqrt(squares / (rates - 1) / rates);
    return looks - 1;
}

struct pace_band pace_foresee(const struct pace *pace, const struct progress *progress)
{
    struct pace_band band = {-1, -1, -1};
    double mean, error;
    const size_t rates = mean_of_rates(pace, &mean, &error);
    const double at_mean_s = progress_left_s(progress);
    if (rates == 0)
        return band;
    band.rate_per_s = mean;
    if (rates < RATES_LEAST || progress->grows || progress->done >= progress->total || at_mean_s < 0)
        return band;
    const double left = (double)(progress->total - progress->done);
    const double low = mean - ERRORS_APART * error, high = mean + ERRORS_APART * error;
    band.soonest_s = high > 0 ? fmin(left / high, at_mean_s) : at_mean_s;
    band.latest_s = low > 0 ? fmax(left / low, at_mean_s) : -1;
    return band;
}
