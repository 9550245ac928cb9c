/* SPDX-License-Identifier: MIT */
/* The task pool: chunks that are cut but not handed out, each with the worker that it was cut for.
 *
 * A request gets the oldest chunk cut for its worker, otherwise the oldest of all, so a pool that holds work serves
 * every worker. A chunk that was cut for a faster worker is split first, because a slow worker that took it whole would
 * finish last. Putting and taking are O(1); only pool_init() and pool_reserve() allocate.
 *
 * In a loop with dependencies the oldest chunk of all goes first, whichever worker it was cut for. So no chunk is
 * handed out before a chunk that it depends on, and a split leaves its rest behind the part taken. */
#pragma once

#include "common/util/ranges.h"

#include <stdbool.h>

struct pool_slot {
    struct range range;
    unsigned owner;
    unsigned older, newer;
    unsigned owner_older, owner_newer; /* `owner_newer` also links the unused slots */
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
    struct pool_owner *own; /* [workers + 1] owned */
    unsigned nobody;        /* the last index of `own`, for chunks that were cut for no worker */
    unsigned room;
    struct pool_list all;
    unsigned unused; /* head of the list of empty slots; slots from `used` on have never held a chunk */
    unsigned used;
    unsigned count, capacity;
};

int pool_init(struct pool *pool, unsigned workers, unsigned capacity);
void pool_fini(struct pool *pool);

int pool_reserve(struct pool *pool, unsigned workers);

void pool_add_workers(struct pool *pool, unsigned workers);

/* These two return false if the pool is full. */
bool pool_put(struct pool *pool, unsigned owner, struct range range);

/* Appends a chunk that goes to any worker, in order. If it is split, its rest has at least `least` iterations. */
bool pool_put_in_order(struct pool *pool, unsigned owner, struct range range, uint64_t least);

/* Takes the next chunk for the worker; returns false if the pool is empty. A chunk that was cut for another worker is
 * split if it is at least twice as large as the latest chunk cut for this worker: the worker gets as many iterations as
 * that latest chunk had, and the rest keeps its place in the pool. */
bool pool_take(struct pool *pool, unsigned worker, struct range *range);

/* From the end of the newest chunk of all. Returns false if the pool is empty. */
bool pool_take_newest(struct pool *pool, uint64_t most, struct range *range);

bool pool_has_own(const struct pool *pool, unsigned worker);

uint64_t pool_total(const struct pool *pool);

void pool_check(const struct pool *pool);
