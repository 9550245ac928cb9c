/* SPDX-License-Identifier: MIT */
/* Runs one after the other: see chain.h. */
#include "tests/seeds/chain.h"

#include "common/util/error.h"
#include "tests/seeds/oracle.h"

#include <string.h>

void chain_init(struct chain *chain)
{
    *chain = (struct chain){.status = CHAIN_NOT_BEGUN};
    ranges_init(&chain->done);
}

void chain_fini(struct chain *chain)
{
    ranges_fini(&chain->done);
}

/* What was recorded in a run is done for the next one. */
static const char *take_over(struct chain *chain, const struct virtual_result *result)
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
    return NULL;
}

const char *chain_run(struct chain *chain, struct virtual_config *config, const struct refusal *refusal)
{
    static const struct refusal none;
    struct error error;
    config->done = &chain->done;
    config->done_digest = chain->digest;
    memory_refuse(refusal->running ? &none : refusal);
    config->in_machine = memory_in_machine;
    struct virtual_cluster *cluster = virtual_new(config, &error);
    if (cluster == NULL) {
        chain->status = CHAIN_NOT_SET_UP;
        chain->hits = memory_refused() > 0;
        return memory_refused() > 0 && strstr(error.text, "out of memory") != NULL ? NULL : "it could not be set up";
    }
    if (refusal->running)
        memory_refuse(refusal);
    const struct virtual_result result = virtual_run(cluster);
    const char *wrong = oracle_check(config, &result);
    chain->status = result.status;
    chain->hits = result.hits + result.failed_writes + result.failed_sends + (memory_refused() > 0);
    if (chain->seen != NULL)
        chain->seen(config, &result);
    if (wrong == NULL)
        wrong = take_over(chain, &result);
    virtual_free(cluster);
    return wrong;
}
