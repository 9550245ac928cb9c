/* SPDX-License-Identifier: MIT */
/* Deaths that iterations have caused, or may have: of the workers that computed them, and of the processes that ran
 * them for a worker. The services count within a run; here the deaths of all runs of a job are kept, and recorded in
 * the journal as soon as they are known, so that a run that is resumed goes on counting: what has died often enough is
 * given up before it begins. Iterations that depend on one another are not counted. */
#include "supermaster/core.h"

#include "common/service/poison.h"

static void deaths_fail_without_memory(struct supermaster *supermaster)
{
    supermaster_fail(supermaster, supermaster->config.topology->supermaster, "out of memory for what was lost");
}

static bool is_inside_loop(const struct supermaster *supermaster, uint64_t first, uint64_t count)
{
    const struct supermaster_config *config = &supermaster->config;
    return count > 0 && first >= config->first && count <= config->count &&
           first - config->first <= config->count - count;
}

/* --- what earlier runs have found out --- */

/* Gives up what has died often enough, or warns the services of it. -1 when memory is out. */
static int take_over(struct supermaster *supermaster, const struct poison *deaths)
{
    struct poison known = *deaths;
    if (deaths_are_too_many(deaths, supermaster->config.spec->retries))
        return ledger_give_up(&supermaster->ledger, deaths->first, deaths->count) < 0 ||
                       supermaster_note_hopeless(supermaster, deaths->first, deaths->count) < 0
                   ? -1
                   : 0;
    known.failed_by = known.failures > 0 ? supermaster->config.topology->supermaster : 0; /* any worker may try */
    service_warn(&supermaster->service, &known);
    return supermaster->service.out_of_memory ? -1 : 0;
}

int supermaster_deaths_init(struct supermaster *supermaster)
{
    const struct poison_set *earlier = supermaster->config.deaths;
    if (earlier == NULL || supermaster->config.distance > 0)
        return 0;
    for (size_t i = 0; i < earlier->count; i++)
        if (poison_add(&supermaster->deaths, &earlier->items[i]) < 0 || take_over(supermaster, &earlier->items[i]) < 0)
            return -1;
    return 0;
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
    const bool is_wanted = supermaster->config.journal && supermaster->config.distance == 0;
    struct poison least = {.first = more->first, .count = more->count};
    if (!is_wanted || !is_inside_loop(supermaster, more->first, more->count))
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

void supermaster_forget_deaths(struct supermaster *supermaster, uint64_t first, uint64_t count)
{
    if (poison_forget(&supermaster->deaths, first, count) < 0)
        deaths_fail_without_memory(supermaster);
}
