/* SPDX-License-Identifier: MIT */
/* The task pool: chunks that are cut but not handed out, each with the worker that it was cut for.
 *
 * A worker that requests a chunk gets the oldest chunk that was cut for it. If there is none, it gets the oldest chunk
 * of all. So a pool that is not empty serves every worker. A chunk that was cut for a faster worker is split first: a
 * slow worker would finish the whole chunk long after the others. Putting and taking are O(1). Only pool_init() and
 * pool_reserve() allocate.
 *
 * In a loop with dependencies a worker always gets the oldest chunk of all. So no chunk is handed out before a chunk on
 * which it depends. If a chunk is split, its first part is handed out, and the rest stays the oldest chunk. */
#pragma once

#include "common/util/ranges.h"

#include <stdbool.h>

struct pool_slot {
    struct range range;
    unsigned owner;
    unsigned older, newer;
    unsigned owner_older, owner_newer; /* in empty slots, `owner_newer` is the next slot in the list of empty slots */
};

struct pool_list {
    unsigned oldest, newest;
};

struct pool_owner {
    struct pool_list chunks;
    uint64_t latest_count;
};

struct pool {
    struct pool_slot *slots;
    struct pool_owner *own; /* [workers + 1] the entry of each worker, and that of `nobody`; owned */
    unsigned nobody;        /* last index of `own`; the chunks that were cut for no worker are in this entry */
    unsigned room;
    struct pool_list all;
    /* The first empty slot that has held a chunk before; such slots form a list. Slots from `used` on have never held a
     * chunk, and are not in this list. */
    unsigned unused;
    unsigned used;
    unsigned count, capacity;
};

int pool_init(struct pool *pool, unsigned workers, unsigned capacity);
void pool_fini(struct pool *pool);

int pool_reserve(struct pool *pool, unsigned workers);

void pool_add_workers(struct pool *pool, unsigned workers);

/* pool_put() and pool_put_in_order() return false if the pool is full. */
bool pool_put(struct pool *pool, unsigned owner, struct range range);

/* Appends a chunk of a loop with dependencies, which may go to any worker. If the chunk is split later, the rest has at
 * least `least` iterations. */
bool pool_put_in_order(struct pool *pool, unsigned owner, struct range range, uint64_t least);

/* Takes the next chunk for the worker. Returns false if the pool is empty. A chunk that was cut for another worker may
 * be split. It is split if it is at least twice as large as the latest chunk that was cut for this worker. Then this
 * worker gets as many iterations as its latest chunk had, and the rest keeps its place in the pool. */
bool pool_take(struct pool *pool, unsigned worker, struct range *range);

/* Takes at most `most` iterations from the end of the newest chunk. Returns false if the pool is empty. */
bool pool_take_newest(struct pool *pool, uint64_t most, struct range *range);

bool pool_has_own(const struct pool *pool, unsigned worker);

uint64_t pool_total(const struct pool *pool);

void pool_check(const struct pool *pool);
