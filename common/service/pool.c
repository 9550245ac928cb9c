/* SPDX-License-Identifier: MIT */
/* The task pool: see pool.h. Two kinds of doubly linked lists use one array of slots: a list of all chunks by age, and
 * for each owner a list of its chunks by age. Chunks that must go in order belong to an extra owner, `nobody`. No
 * worker requests chunks as this owner. */
#include "common/service/pool.h"

#include "common/util/grow.h"

#include <assert.h>
#include <stdlib.h>

#define NO_SLOT UINT32_MAX

int pool_init(struct pool *pool, unsigned workers, unsigned capacity)
{
    *pool = (struct pool){.all = {NO_SLOT, NO_SLOT}, .unused = NO_SLOT, .capacity = capacity};
    pool->slots = calloc(capacity > 0 ? capacity : 1, sizeof *pool->slots);
    pool->own = calloc((size_t)workers + 1, sizeof *pool->own);
    if (pool->slots == NULL || pool->own == NULL) {
        pool_fini(pool);
        return -1;
    }
    pool->nobody = workers;
    pool->room = workers + 1;
    for (unsigned i = 0; i <= workers; i++)
        pool->own[i].chunks = (struct pool_list){NO_SLOT, NO_SLOT};
    return 0;
}

int pool_reserve(struct pool *pool, unsigned workers)
{
    if (workers < pool->room)
        return 0;
    if (grow_to(&pool->own, pool->room, (size_t)workers + 1, sizeof *pool->own) < 0)
        return -1;
    pool->room = workers + 1;
    return 0;
}

void pool_add_workers(struct pool *pool, unsigned workers)
{
    const unsigned before = pool->nobody;
    assert(workers < pool->room && "there is room for those who join");
    pool->own[workers] = pool->own[before];
    for (unsigned i = before; i < workers; i++)
        pool->own[i] = (struct pool_owner){.chunks = {NO_SLOT, NO_SLOT}};
    for (unsigned i = 0; i < pool->used; i++)
        if (pool->slots[i].owner == before)
            pool->slots[i].owner = workers;
    pool->nobody = workers;
}

void pool_fini(struct pool *pool)
{
    free(pool->slots);
    free(pool->own);
    *pool = (struct pool){0};
}

bool pool_put(struct pool *pool, unsigned owner, struct range range)
{
    unsigned index = pool->unused;
    if (index == NO_SLOT && pool->used == pool->capacity)
        return false;
    if (index == NO_SLOT)
        index = pool->used++;
    else
        pool->unused = pool->slots[index].owner_newer;
    struct pool_slot *slot = &pool->slots[index];
    struct pool_list *own = &pool->own[owner].chunks;
    pool->own[owner].latest_count = range.count;
    *slot = (struct pool_slot){range, owner, pool->all.newest, NO_SLOT, own->newest, NO_SLOT};
    *(slot->older == NO_SLOT ? &pool->all.oldest : &pool->slots[slot->older].newer) = index;
    *(slot->owner_older == NO_SLOT ? &own->oldest : &pool->slots[slot->owner_older].owner_newer) = index;
    pool->all.newest = index;
    own->newest = index;
    pool->count++;
    return true;
}

bool pool_put_in_order(struct pool *pool, unsigned owner, struct range range, uint64_t least)
{
    if (range.count >= least)
        pool->own[owner].latest_count = range.count;
    return pool_put(pool, pool->nobody, range);
}

static inline void unlink_slot(struct pool *pool, unsigned index)
{
    struct pool_slot *slot = &pool->slots[index];
    struct pool_list *own = &pool->own[slot->owner].chunks;
    *(slot->older == NO_SLOT ? &pool->all.oldest : &pool->slots[slot->older].newer) = slot->newer;
    *(slot->newer == NO_SLOT ? &pool->all.newest : &pool->slots[slot->newer].older) = slot->older;
    *(slot->owner_older == NO_SLOT ? &own->oldest : &pool->slots[slot->owner_older].owner_newer) = slot->owner_newer;
    *(slot->owner_newer == NO_SLOT ? &own->newest : &pool->slots[slot->owner_newer].owner_older) = slot->owner_older;
    slot->owner_newer = pool->unused;
    pool->unused = index;
    pool->count--;
}

bool pool_take(struct pool *pool, unsigned worker, struct range *range)
{
    const struct pool_owner *own = &pool->own[worker];
    bool has_own = own->chunks.oldest != NO_SLOT;
    unsigned index = has_own ? own->chunks.oldest : pool->all.oldest;
    if (index == NO_SLOT)
        return false;
    struct range *chunk = &pool->slots[index].range;
    *range = *chunk;
    if (!has_own && own->latest_count > 0 && chunk->count / 2 >= own->latest_count) {
        range->count = own->latest_count;
        chunk->first += range->count;
        chunk->count -= range->count;
        return true;
    }
    unlink_slot(pool, index);
    return true;
}

bool pool_take_newest(struct pool *pool, uint64_t most, struct range *range)
{
    if (pool->all.newest == NO_SLOT || most == 0)
        return false;
    struct range *newest = &pool->slots[pool->all.newest].range;
    uint64_t count = newest->count < most ? newest->count : most;
    newest->count -= count;
    *range = (struct range){newest->first + newest->count, count};
    if (newest->count == 0)
        unlink_slot(pool, pool->all.newest);
    return true;
}

bool pool_has_own(const struct pool *pool, unsigned worker)
{
    return pool->own[worker].chunks.oldest != NO_SLOT;
}

uint64_t pool_total(const struct pool *pool)
{
    uint64_t total = 0;
    for (unsigned i = pool->all.oldest; i != NO_SLOT; i = pool->slots[i].newer)
        total += pool->slots[i].range.count;
    return total;
}

static unsigned check_pool_owner(const struct pool *pool, unsigned owner)
{
    const struct pool_list *list = &pool->own[owner].chunks;
    unsigned count = 0, older = NO_SLOT;
    for (unsigned i = list->oldest; i != NO_SLOT; older = i, i = pool->slots[i].owner_newer) {
        assert(count < pool->count && "the list of an owner ends");
        assert(pool->slots[i].owner == owner && "the list of an owner has its chunks only");
        assert(pool->slots[i].owner_older == older && "the list of an owner reads the same in both directions");
        count++;
    }
    assert(list->newest == older && "the list of an owner ends with its newest chunk");
    return count;
}

void pool_check(const struct pool *pool)
{
    unsigned count = 0, older = NO_SLOT, owned = 0, unused = 0;
    assert(pool->count <= pool->used && pool->used <= pool->capacity && "a pool has no more chunks than room");
    for (unsigned i = pool->all.oldest; i != NO_SLOT; older = i, i = pool->slots[i].newer) {
        assert(i < pool->used && count < pool->count && "the list of all chunks ends");
        assert(pool->slots[i].range.count > 0 && "no chunk of a pool is empty");
        assert(pool->slots[i].older == older && "the list of all chunks reads the same in both directions");
        count++;
    }
    assert(pool->all.newest == older && "the list of all chunks ends with the newest");
    assert(count == pool->count && "the list of all chunks has as many as are counted");
    for (unsigned owner = 0; owner <= pool->nobody; owner++)
        owned += check_pool_owner(pool, owner);
    assert(owned == pool->count && "each chunk is in the list of one owner");
    for (unsigned i = pool->unused; i != NO_SLOT; i = pool->slots[i].owner_newer)
        unused++;
    assert(unused == pool->used - pool->count && "a slot that was used holds a chunk or is in the list of the unused");
}
