/* SPDX-License-Identifier: MIT */
/* Deaths that iterations have caused, or may have: of the workers that computed them, and of the processes that ran
 * them for a worker. The services count within a run; here the deaths of all runs of a job are kept, and recorded in
 * the journal as soon as they are known, so that a run that is resumed goes on counting: what has died often enough is
 * given up before it begins. Where iterations depend on one another that is done with the last ones, which no others
 * need; with others the run ends before it begins, by their name.
 *
 * Workers that run the kernel themselves may die of an iteration that they probe. These are the same for all, so where
 * one worker gets through them it was not that. Where none does each iteration that is probed has one death more,
 * however many workers died. A run that is resumed does without the probe, and finds out in the loop which one it was.
 * That is not done where iterations depend on one another. */
#include "supermaster/core.h"

#include "common/machine/probe.h"
#include "common/service/poison.h"
#include "common/util/ranges.h"

static void deaths_fail_without_memory(struct supermaster *supermaster)
{
    supermaster_fail(supermaster, supermaster->config.topology->supermaster, "out of memory for what was lost");
}

static bool is_inside_loop(const struct supermaster *supermaster, uint64_t first, uint64_t count)
{
    const struct range *loop = &supermaster->ledger.loop;
    return count > 0 && first >= loop->first && count <= loop->count && first - loop->first <= loop->count - count;
}

/* --- what probes find out --- */

/* Adds the iterations that are probed, as far as they are few: which of them was the last one nobody knows. */
static void find_probed(const struct supermaster *supermaster, struct ranges *probed)
{
    const struct supermaster_config *config = &supermaster->config;
    const uint64_t step = config->step_iterations, count = step > 0 && step < config->count ? step : config->count;
    struct probe probe;
    ranges_init(probed);
    probe_init(&probe, config->first, count, 1);
    for (uint64_t k = 0; k < PROBE_SINGLES && k < count; k++)
        if (ranges_add(probed, probe_iteration(&probe, k), 1, NULL) < 0)
            return;
}

/* True if workers that die while they probe may have died of the iterations, and are to be counted. */
static bool probes_count(const struct supermaster *supermaster)
{
    const struct supermaster_config *config = &supermaster->config;
    return config->probe && config->probe_kills && config->distance == 0 && !supermaster->is_unprobed;
}

static bool probe_is_deadly(const struct supermaster *supermaster)
{
    struct ranges probed;
    bool is_deadly = false;
    if (!probes_count(supermaster) || supermaster->deaths.count == 0)
        return false;
    find_probed(supermaster, &probed);
    for (size_t i = 0; i < supermaster->deaths.count && !is_deadly; i++)
        is_deadly = ranges_overlap(&probed, supermaster->deaths.items[i].first, supermaster->deaths.items[i].count);
    ranges_fini(&probed);
    return is_deadly;
}

bool supermaster_note_probe_deaths(struct supermaster *supermaster)
{
    struct ranges probed;
    const bool has_begun = supermaster->has_speed || supermaster->chunks > 0;
    if (!probes_count(supermaster) || has_begun || !supermaster->config.journal || supermaster->losses.workers_left > 0)
        return false;
    find_probed(supermaster, &probed);
    for (size_t i = 0; i < ranges_length(&probed); i++) {
        const struct range *range = ranges_at(&probed, i);
        supermaster_note_deaths(supermaster,
                                &(struct poison){.first = range->first, .count = range->count, .deaths = 1}, false);
    }
    ranges_fini(&probed);
    return true;
}

/* --- what earlier runs have found out --- */

static bool has_too_many_deaths(const struct supermaster *supermaster, const struct poison *deaths)
{
    return deaths_are_too_many(deaths, supermaster->config.spec->retries, supermaster->config.distance > 0);
}

bool supermaster_is_needed(const struct supermaster *supermaster, uint64_t first, uint64_t count)
{
    const struct supermaster_config *config = &supermaster->config;
    return config->distance > 0 && first - config->first + count < config->count;
}

/* The number of free iterations right in front of `first` where they are too few for a chunk. Chunks of earlier runs
 * may have met elsewhere. */
static uint64_t too_few_before(const struct supermaster *supermaster, uint64_t first)
{
    const struct ranges *free = &supermaster->ledger.free;
    for (size_t i = 0; i < ranges_length(free); i++) {
        const struct range *range = ranges_at(free, i);
        if (range->first < first && first - range->first <= range->count)
            return first - range->first < supermaster->config.distance ? first - range->first : 0;
    }
    return 0;
}

/* Gives up what has died often enough, unless others need it, or warns the services of it. With it goes what is in
 * front of it and too little for a chunk. -1 when memory is out. */
static int take_over(struct supermaster *supermaster, const struct poison *deaths)
{
    struct poison known = *deaths;
    if (has_too_many_deaths(supermaster, deaths) && !supermaster_is_needed(supermaster, deaths->first, deaths->count)) {
        const uint64_t more = too_few_before(supermaster, deaths->first);
        return supermaster_give_up_hopeless(supermaster, deaths->first - more, more + deaths->count);
    }
    known.failed_by = known.failures > 0 ? supermaster->config.topology->supermaster : 0; /* any worker may try */
    service_warn(&supermaster->service, &known);
    return supermaster->service.out_of_memory ? -1 : 0;
}

int supermaster_deaths_init(struct supermaster *supermaster)
{
    const struct poison_set *earlier = supermaster->config.deaths;
    if (earlier == NULL)
        return 0;
    for (size_t i = 0; i < earlier->count; i++)
        if (poison_add(&supermaster->deaths, &earlier->items[i]) < 0 || take_over(supermaster, &earlier->items[i]) < 0)
            return -1;
    supermaster->is_unprobed = probe_is_deadly(supermaster);
    return 0;
}

void supermaster_end_if_hopeless(struct supermaster *supermaster)
{
    const struct poison_set *known = &supermaster->deaths;
    struct error text;
    size_t i = 0;
    while (i < known->count && (!has_too_many_deaths(supermaster, &known->items[i]) ||
                                !supermaster_is_needed(supermaster, known->items[i].first, known->items[i].count)))
        i++;
    if (i == known->count)
        return;
    const struct range range = {known->items[i].first, known->items[i].count};
    const char *object = range.count == 1 ? "it" : "them";
    char what[RANGE_TEXT_MAX];
    supermaster_describe_range(&range, false, what);
    error_set(&text,
              "what ran %s in earlier runs has died, and what depends on %s cannot be computed (--resume failed tries "
              "%s again)",
              what, object, object);
    supermaster_fail(supermaster, supermaster->config.topology->supermaster, text.text);
}

void supermaster_deaths_fini(struct supermaster *supermaster)
{
    poison_fini(&supermaster->deaths);
}

/* --- what this run finds out --- */

/* Records what is known of the iterations. */
static void record_deaths(struct supermaster *supermaster, uint64_t first, uint64_t count)
{
    struct action action = {.type = ACTION_DEATHS};
    for (struct range rest = {first, count}; rest.count > 0;) {
        uint64_t alike = poison_look(&supermaster->deaths, &rest, &action.deaths);
        action.deaths.first = rest.first;
        action.deaths.count = alike;
        if (action.deaths.deaths + action.deaths.failures > 0)
            actions_add(supermaster->actions, &action);
        rest.first += alike;
        rest.count -= alike;
    }
}

void supermaster_note_deaths(struct supermaster *supermaster, const struct poison *more, bool are_last)
{
    struct poison least = {.first = more->first, .count = more->count};
    if (!supermaster->config.journal || !is_inside_loop(supermaster, more->first, more->count))
        return;
    if (are_last && more->failures > 0)
        least.failures = supermaster->config.spec->retries + 1;
    else if (are_last)
        least.deaths = DEATHS_MAX;
    if ((more->deaths + more->failures > 0 && poison_add(&supermaster->deaths, more) < 0) ||
        (are_last && poison_raise(&supermaster->deaths, &least) < 0))
        deaths_fail_without_memory(supermaster);
    else
        record_deaths(supermaster, more->first, more->count);
}

bool supermaster_has_died_too_often(const struct supermaster *supermaster, uint64_t first, uint64_t count)
{
    const struct range range = {first, count};
    struct poison known;
    poison_look(&supermaster->deaths, &range, &known);
    return has_too_many_deaths(supermaster, &known);
}

void supermaster_forget_deaths(struct supermaster *supermaster, uint64_t first, uint64_t count)
{
    if (poison_forget(&supermaster->deaths, first, count) < 0)
        deaths_fail_without_memory(supermaster);
}
