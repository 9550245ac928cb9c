/* SPDX-License-Identifier: MIT */
/* Runs one after the other: see chain.h. */
#include "tests/seeds/chain.h"

#include "common/service/service.h"
#include "common/util/error.h"
#include "tests/seeds/oracle.h"
#include "tests/seeds/traced.h"

#include <stdlib.h>
#include <string.h>

void chain_init(struct chain *chain)
{
    *chain = (struct chain){.status = CHAIN_NOT_BEGUN};
    ranges_init(&chain->done);
    ranges_init(&chain->failed);
}

void chain_fini(struct chain *chain)
{
    ranges_fini(&chain->done);
    ranges_fini(&chain->failed);
    poison_fini(&chain->deaths);
    free(chain->point);
}

/* The latest record of deaths counts, until the iterations are done. */
static int take_over_deaths(struct chain *chain, const struct poison_set *recorded)
{
    int result = 0;
    for (size_t i = 0; i < recorded->count && result == 0; i++) {
        const struct poison *deaths = &recorded->items[i];
        result =
            poison_forget(&chain->deaths, deaths->first, deaths->count) < 0 ? -1 : poison_add(&chain->deaths, deaths);
    }
    for (size_t i = 0; i < ranges_length(&chain->done) && result == 0; i++)
        result = poison_forget(&chain->deaths, ranges_at(&chain->done, i)->first, ranges_at(&chain->done, i)->count);
    return result;
}

void chain_forgive(struct chain *chain)
{
    for (size_t i = 0; i < chain->deaths.count; i++) {
        struct poison *deaths = &chain->deaths.items[i];
        deaths->failures = 0;
        deaths->deaths = deaths->deaths < ISOLATED_DEATHS ? deaths->deaths : ISOLATED_DEATHS;
    }
}

/* Takes the last recovery point that can be gone on from, chosen as by journal_find_point(). */
static const char *take_point(struct chain *chain, const struct virtual_config *config,
                              const struct virtual_result *result)
{
    const uint64_t distance = config->distance > 0 ? config->distance : 1;
    const struct range *done = ranges_length(&chain->done) > 0 ? ranges_at(&chain->done, 0) : NULL;
    const uint64_t end = done != NULL && done->first == config->first ? done->first + done->count : config->first;
    for (unsigned i = 0; i < result->point_count; i++) {
        const struct virtual_point *point = &result->points[i];
        if (point->at > end || (point->at < end && end - point->at < distance) || point->at <= chain->point_at)
            continue;
        free(chain->point);
        chain->point = malloc(point->bytes);
        if (chain->point == NULL)
            return "the test is out of memory";
        memcpy(chain->point, point->data, point->bytes);
        chain->point_at = point->at;
    }
    return NULL;
}

const char *chain_take_over(struct chain *chain, const struct virtual_result *result)
{
    for (size_t i = 0; i < ranges_length(result->journalled); i++) {
        const struct range *range = ranges_at(result->journalled, i);
        uint64_t added;
        if (ranges_add(&chain->done, range->first, range->count, &added) < 0)
            return "the test is out of memory";
        if (added != range->count)
            return "recorded again what an earlier run had";
    }
    chain->digest += result->journalled_digest;
    if (chain->keeps_deaths && take_over_deaths(chain, result->deaths) < 0)
        return "the test is out of memory";
    return NULL;
}

/* Finds what is done and called failed. */
static int find_failed(struct chain *chain, const struct virtual_config *config)
{
    ranges_clear(&chain->failed);
    for (size_t r = 0; config->precedence != NULL && config->outcome != NULL && r < ranges_length(&chain->done); r++) {
        const struct range range = *ranges_at(&chain->done, r);
        for (uint64_t i = range.first; i < range.first + range.count; i++)
            if (config->outcome(config->context, 0, i) == VIRTUAL_IS_CALLED_FAILED &&
                ranges_add(&chain->failed, i, 1, NULL) < 0)
                return -1;
    }
    return 0;
}

const char *chain_run(struct chain *chain, struct virtual_config *config, const struct refusal *refusal)
{
    static const struct refusal none;
    struct error error;
    if (find_failed(chain, config) < 0)
        return "the test is out of memory";
    config->done = &chain->done;
    config->done_failed = &chain->failed;
    config->done_digest = chain->digest;
    config->deaths = chain->keeps_deaths ? &chain->deaths : NULL;
    config->point_at = chain->point_at;
    config->point = chain->point;
    memory_refuse(refusal->running ? &none : refusal);
    config->in_machine = memory_in_machine;
    struct traced traced;
    if (!traced_begin(&traced, config)) {
        traced_fini(&traced);
        return "the test is out of memory";
    }
    struct virtual_cluster *cluster = virtual_new(config, &error);
    if (cluster == NULL) {
        chain->status = CHAIN_NOT_SET_UP;
        chain->hits = memory_refused() > 0;
        traced_fini(&traced);
        return memory_refused() > 0 && strstr(error.text, "out of memory") != NULL ? NULL : "it could not be set up";
    }
    if (refusal->running)
        memory_refuse(refusal);
    const struct virtual_result result = virtual_run(cluster);
    const char *wrong = oracle_check(config, &result);
    if (wrong == NULL)
        wrong = traced_check(&traced, config, &result);
    traced_fini(&traced);
    config->sinks = NULL;
    chain->status = result.status;
    chain->hits = result.hits + result.failed_writes + result.failed_sends + (memory_refused() > 0);
    if (chain->seen != NULL)
        chain->seen(config, &result);
    if (wrong == NULL && chain->judge != NULL)
        wrong = chain->judge(config, &result);
    if (wrong == NULL)
        wrong = chain_take_over(chain, &result);
    if (wrong == NULL)
        wrong = take_point(chain, config, &result);
    virtual_free(cluster);
    return wrong;
}
