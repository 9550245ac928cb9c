/* SPDX-License-Identifier: MIT */
/* Deaths and their judge: see deaths.h. */
#include "tests/seeds/deaths.h"

#include "common/service/poison.h"
#include "common/service/service.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "supermaster/ledger.h"
#include "supermaster/supermaster.h"

#include <stddef.h>

struct deadly *deaths_find(const struct deaths *deaths, uint64_t iteration)
{
    for (unsigned i = 0; i < deaths->count; i++)
        if (deaths->list[i].iteration == iteration)
            return (struct deadly *)&deaths->list[i];
    return NULL;
}

enum virtual_outcome deaths_outcome(const struct deaths *deaths, unsigned rank, uint64_t iteration)
{
    const struct deadly *deadly = deaths_find(deaths, iteration);
    if (deadly == NULL || deaths->is_mended || (deadly->kind == DEADLY_HALF && rank % 2 != 0) ||
        (deadly->kind == DEADLY_AT_FIRST && deadly->before + deadly->helpers >= deadly->times))
        return VIRTUAL_WORKS;
    return deadly->kind == DEADLY_WORKER ? VIRTUAL_CRASHES : VIRTUAL_KILLS_HELPER;
}

void deaths_note(struct deaths *deaths, uint64_t iteration, bool is_worker)
{
    struct deadly *deadly = deaths_find(deaths, iteration);
    if (is_worker)
        deadly->workers++;
    else
        deadly->helpers++;
}

void deaths_begin_run(struct deaths *deaths, bool forgives)
{
    for (unsigned i = 0; i < deaths->count; i++) {
        struct deadly *deadly = &deaths->list[i];
        deadly->before = forgives ? 0 : deadly->before + deadly->helpers;
        deadly->helpers = deadly->workers = 0;
    }
}

/* --- the judge --- */

static struct poison known_of(const struct poison_set *set, uint64_t iteration)
{
    struct poison found = {0};
    if (set != NULL)
        poison_look(set, &(struct range){iteration, 1}, &found);
    return found;
}

/* What is known after the run: records tell of all runs. */
static struct poison known_after(const struct virtual_config *config, const struct virtual_result *result,
                                 uint64_t iteration)
{
    struct poison recorded = known_of(result->deaths, iteration);
    return recorded.deaths + recorded.failures > 0 ? recorded : known_of(config->deaths, iteration);
}

static bool is_done(const struct virtual_config *config, const struct virtual_result *result, uint64_t iteration)
{
    return ranges_contains(result->journalled, iteration) ||
           (config->done != NULL && ranges_contains(config->done, iteration));
}

/* True where all that happened is known to the supermaster: of a worker that was killed the latest words are not. */
static bool is_exact(const struct deaths *deaths, const struct virtual_result *result)
{
    return deaths->are_exact && result->status >= 0 && result->killed == 0;
}

/* True where the supermaster was killed: the journal may lack what it did last. */
static bool may_be_unrecorded(const struct virtual_result *result)
{
    return result->status < 0;
}

/* Who kills is given up with the last try that is allowed: a death of a helper more than there are retries, or the
 * first one in a chunk that is run with care since it has killed workers. */
static const char *check_deadly(const struct deaths *deaths, const struct deadly *deadly,
                                const struct virtual_config *config, const struct virtual_result *result)
{
    const uint64_t i = deadly->iteration;
    const struct poison before = known_of(config->deaths, i), after = known_after(config, result, i);
    const unsigned limit = config->spec.retries + 1, tries = before.failures + deadly->helpers;
    const bool is_given_up = ranges_contains(&result->supermaster->ledger.failed, i),
               had_care = deadly->kind == DEADLY_WORKER && tries > 0; /* it has ended a child process */
    if (is_given_up && tries < limit && !had_care && after.deaths < DEATHS_MAX && !may_be_unrecorded(result))
        return "an iteration was given up that had tries left";
    if (after.failures > tries && !(after.failures == limit && (had_care || after.deaths >= DEATHS_MAX)))
        return "the journal has more helpers killed than there were";
    if (!is_exact(deaths, result))
        return NULL;
    if (deadly->helpers > 0 && tries > limit)
        return "an iteration was tried more often than is allowed";
    if (deadly->workers > 0 && before.failures >= limit)
        return "an iteration was tried that had been given up";
    if (!is_given_up && tries >= limit)
        return "an iteration that had no tries left was not given up";
    if (!is_done(config, result, i) && after.failures < tries)
        return "a helper was killed, and the journal does not have it";
    return NULL;
}

/* Others are given up where three workers died of them, as far as anybody knows. */
static const char *check_others(const struct deaths *deaths, const struct virtual_config *config,
                                const struct virtual_result *result)
{
    const struct ranges *failed = &result->supermaster->ledger.failed;
    for (size_t k = 0; k < ranges_length(failed); k++)
        for (uint64_t i = ranges_at(failed, k)->first; i < ranges_at(failed, k)->first + ranges_at(failed, k)->count;
             i++)
            if (deaths_find(deaths, i) == NULL && known_after(config, result, i).deaths < DEATHS_MAX &&
                !may_be_unrecorded(result))
                return "an iteration was given up that has killed nobody";
    for (size_t k = 0; k < result->deaths->count; k++) {
        const struct poison *item = &result->deaths->items[k];
        for (uint64_t i = item->first; i < item->first + item->count; i++) {
            const struct poison before = known_of(config->deaths, i);
            if (deaths_find(deaths, i) == NULL && item->failures > before.failures)
                return "the journal blames an iteration for a helper that it has not killed";
            if (item->deaths > before.deaths + result->supermaster->losses.workers_lost && item->deaths != DEATHS_MAX)
                return "the journal has more workers killed than were lost";
        }
    }
    return NULL;
}

const char *deaths_check(const struct deaths *deaths, const struct virtual_config *config,
                         const struct virtual_result *result)
{
    for (unsigned i = 0; i < deaths->count; i++) {
        const char *wrong = check_deadly(deaths, &deaths->list[i], config, result);
        if (wrong != NULL)
            return wrong;
    }
    return check_others(deaths, config, result);
}
