/* SPDX-License-Identifier: MIT */
/* The task pool: chunks that were cut but not yet handed out, each remembering for which worker it was cut.
 *
 * A request is served with the worker's own oldest chunk where there is one, else from the oldest of all: a pool
 * that holds work never sends anybody away. A chunk that was cut for a faster worker is split then: a slow worker that
 * took it whole would be the last to end. Every operation is O(1); nothing is allocated after pool_init().
 *
 * In a loop with dependencies the oldest of all goes first, whoever it was cut for: then a chunk is never handed out
 * before one that it depends on, and what a split leaves behind is behind what was taken. */
#pragma once

#include "common/util/ranges.h"

#include <stdbool.h>

struct pool_slot {
    struct range range;
    unsigned owner;
    unsigned older, newer;             /* among all chunks */
    unsigned owner_older, owner_newer; /* among the owner's; owner_newer also links the unused slots */
};

struct pool_list {
    unsigned oldest, newest;
};

/* The chunks of one worker, and how large the latest was that was cut for it; 0: there was none yet. */
struct pool_owner {
    struct pool_list chunks;
    uint64_t latest_count;
};

struct pool {
    struct pool_slot *slots; /* owned */
    struct pool_owner *own;  /* [workers + 1], owned */
    unsigned nobody;         /* index in `own` of the chunks that were cut for no worker: the last one */
    unsigned room;           /* in `own` */
    struct pool_list all;
    unsigned unused; /* first of the list of empty slots; slots from `used` on never held a chunk */
    unsigned used;
    unsigned count, capacity;
};

/* Room for `capacity` chunks cut for `workers` workers. -1 when memory is out. */
int pool_init(struct pool *pool, unsigned workers, unsigned capacity);
void pool_fini(struct pool *pool);

/* Makes room for chunks cut for `workers` workers, no fewer than there was room for. -1 when memory is out (nothing
 * changed). */
int pool_reserve(struct pool *pool, unsigned workers);

/* There are `workers` workers from now on, for whom there is room. */
void pool_add_workers(struct pool *pool, unsigned workers);

/* False when the pool is full (unchanged). */
bool pool_put(struct pool *pool, unsigned owner, struct range range);

/* Puts a chunk of a loop whose chunks are to be taken in the order in which they were put, whoever asks. No worker gets
 * less than `least` by a split. False when the pool is full. */
bool pool_put_in_order(struct pool *pool, unsigned owner, struct range range, uint64_t least);

/* False when the pool is empty. Of another's chunk that is at least twice as large as the latest that was cut for this
 * worker, it gets that much, and the rest, no smaller, stays where it was. */
bool pool_take(struct pool *pool, unsigned worker, struct range *range);

/* Takes up to `most` iterations from the end of the newest chunk, whoever it was cut for. False when the pool is empty.
 */
bool pool_take_newest(struct pool *pool, uint64_t most, struct range *range);

/* True if the pool has a chunk that was cut for the worker. */
bool pool_has_own(const struct pool *pool, unsigned worker);

/* Iterations in the pool. */
uint64_t pool_total(const struct pool *pool);

/* Stops the program where an invariant of the pool does not hold. */
void pool_check(const struct pool *pool);
