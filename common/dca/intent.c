/* SPDX-License-Identifier: MIT */
/* The intents of a node's workers: see intent.h. */
#include "common/dca/intent.h"

#include <assert.h>

#define LINE_WORDS 8

static size_t stride_of(unsigned workers)
{
    return ((size_t)workers + LINE_WORDS - 1) / LINE_WORDS * LINE_WORDS;
}

size_t dca_intents_bytes(unsigned workers)
{
    return workers * (sizeof(struct dca_intent) + stride_of(workers) * sizeof(uint64_t));
}

struct dca_intents dca_intents_at(void *memory, unsigned workers)
{
    assert(workers <= DCA_OWNERS && (uintptr_t)memory % _Alignof(struct dca_intent) == 0);
    struct dca_intent *of = memory;
    return (struct dca_intents){
        .workers = workers, .of = of, .seen = (_Atomic uint64_t *)(void *)(of + workers), .stride = stride_of(workers)};
}

const void *dca_intent_record(const struct dca_intents *intents, unsigned worker)
{
    const struct dca_intent *intent = &intents->of[worker];
    return intent->record[atomic_load(&intent->draws) % 2];
}

static bool is_carried_out(const struct dca_intents *intents, unsigned worker, uint64_t head)
{
    const struct dca_intent *intent = &intents->of[worker];
    const uint64_t intended = atomic_load(&intent->head);
    bool is_seen = intended == head || atomic_load(&intent->taken) == atomic_load(&intent->draws);
    for (unsigned w = 0; w < intents->workers && !is_seen; w++)
        is_seen = atomic_load(&intents->seen[w * intents->stride + worker]) == intended;
    return is_seen;
}

/* The worker gives up the end of its chunk, and may be lost before it has shortened the chunk by that. */
bool dca_intent_find(const struct dca_intents *intents, unsigned worker, uint64_t head, struct range *chunk)
{
    const struct dca_intent *intent = &intents->of[worker];
    *chunk = (struct range){0, 0};
    if (atomic_load(&intent->draw) != atomic_load(&intent->draws) || !is_carried_out(intents, worker, head))
        return false;
    *chunk = intent->chunk;
    if (atomic_load(&intent->puts) && intent->big.first - chunk->first < chunk->count)
        chunk->count = intent->big.first - chunk->first;
    return chunk->count > 0;
}

const char *dca_intent_check(const struct dca_intents *intents, unsigned worker, uint64_t head, uint64_t iterations)
{
    struct range chunk;
    if (!dca_intent_find(intents, worker, head, &chunk))
        return NULL;
    if (chunk.first >= iterations || chunk.count > iterations - chunk.first)
        return "a lost worker had what is not in the loop";
    return atomic_load(&intents->of[worker].hungry) ? "a hungry worker had a chunk" : NULL;
}
