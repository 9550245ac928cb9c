/* SPDX-License-Identifier: MIT */
/* Taking iterations out of shared memory: see span.h. */
#include "common/machine/span.h"

#include <assert.h>

/* Layout of the word. The upper bits are the number of the call of span_open(). Below them are two counts of BITS bits
 * each. If a chunk has more than MOST iterations, both counts are in units of several iterations. */
#define BITS  20
#define MOST  ((UINT64_C(1) << BITS) - 1)
#define TRIES 8

static uint64_t word_of(uint32_t opening, uint64_t begun, uint64_t end)
{
    return (uint64_t)opening << 2 * BITS | begun << BITS | end;
}

static uint64_t begun_of(uint64_t word)
{
    return word >> BITS & MOST;
}

static uint64_t end_of(uint64_t word)
{
    return word & MOST;
}

static uint64_t units_of(uint64_t iterations, uint64_t unit)
{
    return (iterations + unit - 1) / unit;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t read_relaxed(const _Atomic uint64_t *value)
{
    return atomic_load_explicit(value, memory_order_relaxed);
}

bool span_open(struct span *span, unsigned server, uint32_t chunk, uint64_t first, uint64_t count, uint64_t begun)
{
    const uint64_t unit = count / MOST + 1;
    const uint32_t most = UINT32_MAX >> (2 * BITS - 32);
    assert(begun > 0 && begun <= count && atomic_load_explicit(&span->word, memory_order_relaxed) == 0);
    if (chunk == 0 || units_of(begun, unit) >= units_of(count, unit))
        return false;
    uint32_t opening = atomic_load_explicit(&span->openings, memory_order_relaxed);
    opening = opening < most ? opening + 1 : 1;
    atomic_store_explicit(&span->openings, opening, memory_order_relaxed);
    atomic_store_explicit(&span->chunk, chunk, memory_order_relaxed);
    atomic_store_explicit(&span->first, first, memory_order_relaxed);
    atomic_store_explicit(&span->count, count, memory_order_relaxed);
    atomic_store_explicit(&span->unit, unit, memory_order_relaxed);
    atomic_store_explicit(&span->server, server, memory_order_relaxed);
    atomic_store_explicit(&span->word, word_of(opening, units_of(begun, unit), units_of(count, unit)),
                          memory_order_release);
    return true;
}

uint64_t span_claim(struct span *span, uint64_t begun)
{
    const uint64_t unit = read_relaxed(&span->unit);
    uint64_t word = atomic_load_explicit(&span->word, memory_order_relaxed), claimed;
    do {
        const uint64_t end = end_of(word);
        claimed = word_of((uint32_t)(word >> 2 * BITS), least(units_of(begun, unit), end), end);
    } while (!atomic_compare_exchange_weak_explicit(&span->word, &word, claimed, memory_order_acq_rel,
                                                    memory_order_relaxed));
    return least(end_of(claimed) * unit, read_relaxed(&span->count));
}

uint64_t span_close(struct span *span)
{
    const uint64_t word = atomic_exchange_explicit(&span->word, 0, memory_order_acq_rel);
    return least(end_of(word) * read_relaxed(&span->unit), read_relaxed(&span->count));
}

bool span_steal(struct span *span, unsigned server, unsigned waiting, struct stolen *stolen)
{
    uint64_t word = atomic_load_explicit(&span->word, memory_order_acquire);
    for (unsigned tries = 0; tries < TRIES && word != 0; tries++) {
        const uint64_t first = read_relaxed(&span->first), count = read_relaxed(&span->count);
        const uint64_t unit = read_relaxed(&span->unit);
        const uint32_t chunk = atomic_load_explicit(&span->chunk, memory_order_relaxed);
        const bool may = atomic_load_explicit(&span->server, memory_order_relaxed) == server;
        const uint64_t end = least(end_of(word) * unit, count), begun = least(begun_of(word) * unit, end);
        const uint64_t kept = end - recall_share(end - begun, 1, waiting), units = unit > 0 ? kept / unit : 0;
        if (!may || units >= end_of(word))
            break;
        const uint64_t shorter = word_of((uint32_t)(word >> 2 * BITS), begun_of(word), units);
        if (atomic_compare_exchange_strong_explicit(&span->word, &word, shorter, memory_order_acq_rel,
                                                    memory_order_acquire)) {
            *stolen = (struct stolen){.range = {first + units * unit, end - units * unit}, .chunk = chunk};
            return true;
        }
    }
    *stolen = (struct stolen){.chunk = atomic_load_explicit(&span->chunk, memory_order_relaxed)};
    return false;
}
