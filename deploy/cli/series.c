/* SPDX-License-Identifier: MIT */
/* The chunks of a technique: see series.h. They are not stored, so memory does not grow with the series. */
#include "deploy/cli/series.h"

#include "common/job/technique_load.h"
#include "common/util/ranges.h"

#include <stdlib.h>

static int check_form(const struct series *series, struct error *error)
{
    enum sched_weighting weighting = series->setup->config.weighting;
    if (weighting != SCHED_WEIGHTING_NONE)
        return error_set(error,
                         "--weighting %s does not go with --form closed, which does not know the workers: "
                         "accepted is none",
                         sched_weighting_name(weighting));
    return sched_check_closed(&series->sched, error);
}

static int prepare_closed(struct series *series, struct error *error)
{
    if (check_form(series, error) < 0)
        return -1;
    return sched_bounds_init(&series->bounds, &series->sched, error);
}

static int prepare_recursive(struct series *series, struct error *error)
{
    if (!sched_spec_learns(&series->sched.spec))
        return 0;
    series->running = calloc(series->sched.workers, sizeof *series->running);
    return series->running != NULL ? 0 : error_set(error, "out of memory for %u workers", series->sched.workers);
}

int series_init(struct series *series, const struct series_setup *setup, const char *text, struct error *error)
{
    struct sched_spec spec;
    *series = (struct series){.setup = setup};
    if (technique_load(&spec, text, error) < 0 || sched_init(&series->sched, &spec, &setup->config, error) < 0)
        return -1;
    int status = setup->form == SCHED_FORM_CLOSED ? prepare_closed(series, error) : prepare_recursive(series, error);
    if (status < 0)
        sched_fini(&series->sched);
    return status;
}

void series_fini(struct series *series)
{
    if (series->setup->form == SCHED_FORM_CLOSED)
        sched_bounds_fini(&series->bounds);
    free(series->running);
    sched_fini(&series->sched);
}

/* Compares only two sizes. That is enough: if a technique has a formula for the start of a chunk, its chunk sizes
 * either never grow or never shrink. If all sizes are equal, cutting chunk by chunk gives the same chunks as the
 * formula. */
bool series_is_equal(const struct series *series, uint64_t *size)
{
    const struct sched *sched = &series->sched;
    const struct technique *technique = sched->technique;
    struct error error;
    if (sched->iterations == 0 || sched->weighting != SCHED_WEIGHTING_NONE || technique->start == NULL ||
        sched_check_closed(sched, &error) < 0 || technique->start(sched, 0) == SCHED_NO_START)
        return false;
    *size = sched_at(sched, 0);
    return sched_at(sched, (sched->iterations - 1) / *size) == *size;
}

static double power_of(const struct series *series, unsigned worker)
{
    const double *powers = series->setup->config.powers;
    return powers != NULL ? powers[worker] : 1;
}

static void series_report(struct series *series, unsigned worker)
{
    uint64_t count = series->running[worker];
    if (count == 0)
        return;
    struct sched_feedback feedback = {
        .worker = worker,
        .chunks = 1,
        .iterations = count,
        .compute_s = (double)count / power_of(series, worker),
        .samples = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX,
    };
    sched_feedback(&series->sched, &feedback);
}

static void cut_recursive(struct series *series, unsigned worker, struct chunk *chunk)
{
    struct range range;
    if (series->running != NULL)
        series_report(series, worker);
    sched_cut(&series->sched, worker, &range);
    chunk->first = range.first;
    chunk->count = range.count;
    if (series->running != NULL)
        series->running[worker] = chunk->count;
}

static void cut_closed(const struct series *series, struct chunk *chunk)
{
    chunk->first = sched_bounds_start(&series->bounds, series->step);
    chunk->count = sched_bounds_start(&series->bounds, series->step + 1) - chunk->first;
}

bool series_next(struct series *series, struct chunk *chunk)
{
    const struct series_setup *setup = series->setup;
    unsigned worker = setup->asked != NULL ? setup->asked[series->step % setup->asked_count]
                                           : (unsigned)(series->step % series->sched.workers);
    chunk->worker = worker + 1;
    if (setup->form == SCHED_FORM_CLOSED)
        cut_closed(series, chunk);
    else
        cut_recursive(series, worker, chunk);
    series->step++;
    return chunk->count > 0 && series->sched.failure == NULL;
}
