/* SPDX-License-Identifier: MIT */
/* Time steps: one loop after the other, over one ledger. The ledger grants the lowest free iterations first, and the
 * technique never has more to cut than the step at hand has free: so no chunk is of a later step, and whatever comes
 * back of this one goes before. A step is over when all of it is done; then the technique begins again, with what it
 * has learned, and those who wait are served. */
#include "supermaster/core.h"

#include "common/metrics/report.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limit of workers times steps up to which each worker's share of each step is kept. */
#define SHARES_MAX (1u << 22)

static uint64_t end_of_step(const struct supermaster *supermaster, uint64_t step)
{
    uint64_t step_iterations = supermaster->steps.step_iterations, count = supermaster->config.count;
    return step < count / step_iterations ? (step + 1) * step_iterations : count;
}

static int make_shares(struct timesteps *steps, unsigned workers)
{
    uint64_t *shares = calloc(steps->count * workers, sizeof *shares);
    if (shares == NULL)
        return -1;
    for (uint64_t i = 0; i < steps->count; i++)
        steps->list[i].cut = shares + i * workers;
    steps->places = workers;
    return 0;
}

/* The shares of the steps so far are moved to an array that has a place for each worker. Where that would be too large
 * there are none any more. */
int supermaster_steps_make_room(struct supermaster *supermaster, const struct room *room)
{
    struct timesteps *steps = &supermaster->steps;
    uint64_t *shares = steps->list != NULL ? steps->list[0].cut : NULL;
    const size_t places = steps->places;
    const bool fits = shares != NULL && room->workers.now <= SHARES_MAX / steps->count;
    if (shares == NULL || room->workers.now <= places)
        return 0;
    for (uint64_t i = 0; i < steps->count && !fits; i++)
        steps->list[i].cut = NULL;
    if (fits && make_shares(steps, room->workers.now) < 0)
        return -1;
    for (uint64_t i = 0; i < steps->count && fits; i++)
        memcpy(steps->list[i].cut, shares + i * places, places * sizeof *shares);
    free(shares);
    return 0;
}

int supermaster_steps_init(struct supermaster *supermaster)
{
    struct timesteps *steps = &supermaster->steps;
    uint64_t count = supermaster->config.count, step_iterations = supermaster->config.step_iterations;
    unsigned workers = supermaster->config.topology->workers;
    steps->step_iterations = step_iterations > 0 && step_iterations < count ? step_iterations : count > 0 ? count : 1;
    const uint64_t given_up = ranges_total(&supermaster->ledger.failed);
    const uint64_t over = supermaster->ledger.done + given_up;
    steps->number = over / steps->step_iterations;
    if (given_up > 0 && over % steps->step_iterations == 0) /* whether a step may follow it is seen when it begins */
        steps->number--;
    steps->end = end_of_step(supermaster, steps->number);
    steps->began_ns = NEVER;
    if (steps->step_iterations >= count)
        return 0;
    steps->count = count / steps->step_iterations + (count % steps->step_iterations != 0);
    steps->list = calloc(steps->count, sizeof *steps->list);
    if (steps->list == NULL)
        return -1;
    return workers <= SHARES_MAX / steps->count ? make_shares(steps, workers) : 0;
}

void supermaster_steps_fini(struct supermaster *supermaster)
{
    if (supermaster->steps.list != NULL)
        free(supermaster->steps.list[0].cut);
    free(supermaster->steps.list);
    supermaster->steps.list = NULL;
}

uint64_t supermaster_step_free(const struct supermaster *supermaster)
{
    return ranges_total(&supermaster->ledger.free) - (supermaster->ledger.loop.count - supermaster->steps.end);
}

void supermaster_grow_step(struct supermaster *supermaster)
{
    assert(supermaster->steps.list == NULL && "a loop that grows has one time step");
    supermaster->steps.step_iterations = supermaster->steps.end = supermaster->ledger.loop.count;
}

void supermaster_note_cut(struct supermaster *supermaster, unsigned w, uint64_t count)
{
    struct timesteps *steps = &supermaster->steps;
    assert(steps->number < steps->count && "chunks are cut of a time step that there is");
    struct report_step *step = &steps->list[steps->number];
    if (steps->began_ns == NEVER)
        steps->began_ns = supermaster->now_ns;
    uint64_t again = count < steps->returned ? count : steps->returned; /* cut before, for another worker */
    steps->returned -= again;
    step->chunks++;
    if (step->cut != NULL)
        step->cut[w] += count - again;
}

static void timesteps_end_step(struct supermaster *supermaster)
{
    struct timesteps *steps = &supermaster->steps;
    if (steps->list != NULL && steps->began_ns != NEVER)
        steps->list[steps->number].elapsed_s = (double)(supermaster->now_ns - steps->began_ns) / 1e9;
    steps->began_ns = NEVER;
}

/* Begins the next step. Results that it needs must be on the disk for the workers that read them there. */
static void timesteps_begin_step(struct supermaster *supermaster)
{
    struct error error;
    supermaster->steps.number++;
    supermaster->steps.returned = 0;
    assert(supermaster->steps.end < supermaster->config.count && "behind the last time step there is none");
    supermaster->steps.end = end_of_step(supermaster, supermaster->steps.number);
    supermaster_record_if_due(supermaster, supermaster->now_ns, true);
    if (supermaster_renew_technique(supermaster, &error) < 0)
        supermaster_fail(supermaster, supermaster->config.topology->supermaster, error.text);
    supermaster_recheck(supermaster);
}

void supermaster_next_step(struct supermaster *supermaster)
{
    char text[160];
    if (supermaster->state != SUPERMASTER_SERVING)
        return;
    timesteps_end_step(supermaster);
    if (supermaster->steps.end == supermaster->ledger.loop.count)
        return; /* the last step is over */
    if (!supermaster->config.steps_dependent || ranges_total(&supermaster->ledger.failed) == 0) {
        timesteps_begin_step(supermaster);
        return;
    }
    snprintf(text, sizeof text, "time step %" PRIu64 " is not complete, and the one after it needs its results%s",
             supermaster->steps.number, supermaster->config.journal ? ": --resume failed tries again" : "");
    supermaster_fail(supermaster, supermaster->config.topology->supermaster, text);
}
