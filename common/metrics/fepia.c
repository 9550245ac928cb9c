/* SPDX-License-Identifier: MIT */
/* Robustness radius: see fepia.h. */
#include "common/metrics/fepia.h"

#include <math.h>
#include <stdlib.h>

/* The nearest first, and of those at one distance the slowest. */
static int compare_fepia_runs(const void *a, const void *b)
{
    const struct fepia_run *x = a, *y = b;
    if (x->distance < y->distance || x->distance > y->distance)
        return x->distance < y->distance ? -1 : 1;
    return (x->elapsed_s < y->elapsed_s) - (x->elapsed_s > y->elapsed_s);
}

struct fepia_radius fepia_radius_of(struct fepia_run *runs, unsigned count, double nominal_s, double tolerance)
{
    struct fepia_run before = {0, nominal_s};
    struct fepia_radius radius = {.is_known = count > 0 && nominal_s > 0, .tolerable_s = tolerance * nominal_s};
    if (!radius.is_known)
        return (struct fepia_radius){.is_known = false};
    qsort(runs, count, sizeof *runs, compare_fepia_runs);
    for (unsigned i = 0; i < count; i++) {
        if (i > 0 && runs[i].distance <= before.distance)
            continue; /* a slower one of the same distance has been looked at */
        if (runs[i].elapsed_s >= radius.tolerable_s) {
            const double part = isinf(runs[i].elapsed_s)
                                    ? 0
                                    : (radius.tolerable_s - before.elapsed_s) / (runs[i].elapsed_s - before.elapsed_s);
            radius.radius = before.distance + part * (runs[i].distance - before.distance);
            return radius;
        }
        before = runs[i];
    }
    radius.is_beyond = true;
    radius.radius = before.distance;
    return radius;
}
