/* SPDX-License-Identifier: MIT */
/* Memory that a worker shares with its helper, the process that runs a user's kernel.
 *
 * The worker gives commands; the helper computes and publishes its progress. Neither process polls. Before a process
 * sleeps it sets a flag; the other process reads the flag, and wakes the sleeping one if there is news.
 *
 * Commands are numbered. While the helper runs a command, the worker may give the next one *ahead*, so that the helper
 * continues without a wake-up. The word `called` holds the number of a command and two marks; both processes change it
 * atomically. READY: the worker has given the command, and the helper has not taken it. NEXT: the following command is
 * given ahead. If all iterations of a command are done, the helper then takes the command that was given ahead.
 * Otherwise the helper puts back the command that was given ahead, and will not run it.
 *
 * The worker may withdraw a command that the helper has not taken. If a command was put back or withdrawn, the next
 * command gets the same number. There are two places for the data of commands. Commands use them in turn, so the data
 * of a command stay while the next command runs.
 *
 * An iteration of a command begins when the helper claims it. The word `claims` holds how many iterations have begun
 * and where the command ends. Before each call of the kernel the helper claims iterations by compare-and-swap; the
 * worker may lower the end at any time. The iterations from the new end on then belong to the worker at once, even
 * while the kernel runs.
 *
 * The helper writes records to the buffers from which the worker sends them. Variable output follows the channel as
 * blocks (proto/block.h) with their lengths, one or more for each call.
 *
 * After each call of the kernel the helper publishes what is done. There are two accounts; one of them is valid. The
 * helper writes bytes, digest and time to the other account. Then it writes the word `published`: it says which account
 * is now valid, and how many iterations are done. So the worker finds a complete account whenever the helper dies. The
 * iterations that had begun and were not done are suspected of the crash.
 *
 * In a loop with dependencies a command is one step of a chunk (struct hdss_block). Two *halos* for boundary data then
 * follow the channel: the worker writes the data of the previous chunk to one halo, and reads the data of this chunk
 * from the other halo. The rows of results follow the halos, at an offset that the worker chooses. */
#pragma once

#include "common/machine/spread.h"
#include "hdss/kernel.h"
#include "proto/record.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Raise this if the layout changes. Worker and helper must be of the same build. */
#define CHANNEL_VERSION 7
/* Descriptors in the helper: the shared memory, and the eventfd that wakes the worker. */
#define CHANNEL_FILE 3
#define CHANNEL_BELL 4
/* A command ends after the helper has written this many bytes of blocks for it. A single block may be longer. */
#define CHANNEL_BLOCKS (UINT64_C(1) << 20)
/* Distance between the two places for blocks; also the length of the longest possible block. This only reserves
 * addresses: memory that is not written to takes no space. */
#define CHANNEL_BLOCKS_APART (UINT64_C(1) << 36)
#define CHANNEL_SHORT_NS     50000u
#define CHANNEL_COUNT_MAX    UINT32_C(0x7fffffff)
#define CHANNEL_SKIPPED_MAX  8

enum channel_command {
    CHANNEL_OPEN,
    CHANNEL_PROBE,
    CHANNEL_RUN,
    CHANNEL_TEAM,
    CHANNEL_BLOCK,
    CHANNEL_LEAVE,
};

enum channel_result {
    CHANNEL_DONE,
    /* The meaning depends on the command. OPEN: the kernel cannot be opened. RUN: the first iteration that is not done
     * has failed. BLOCK: the step has failed. */
    CHANNEL_FAILED,
    CHANNEL_STUCK,
};

enum channel_sleep { CHANNEL_AWAKE, CHANNEL_ON_WORD, CHANNEL_ON_BELL };

struct channel_account {
    _Atomic uint64_t digest, compute_ns, bytes;
};

#define CHANNEL_HALOS 2
#define CHANNEL_ROWS  2

/* Elements [from, to) of `count` rows; the first of these rows is `first`. Offsets are from the start of the shared
 * memory. */
struct channel_block {
    uint64_t first, count, from, to;
    uint64_t before, after; /* offsets of the halos; before == 0: this is the first chunk of the loop */
    unsigned rows;
    uint64_t rows_at, rows_bytes; /* offset of the results (a multiple of the page size) and size of the results */
    uint64_t record_at;
};

#define CHANNEL_WORKS 2

struct channel_work {
    _Alignas(64) enum channel_command command;
    uint64_t first, count;
    uint64_t singly;
    uint64_t place; /* offset of the records, or of the blocks of variable output */
    uint64_t room;  /* bytes reserved for blocks; the helper reserves more if one iteration needs more */
    /* Lower half: how many iterations have begun. Upper half: how many may begin. For the command BLOCK: 1 after the
     * step has begun. */
    _Atomic uint64_t claims;
    _Atomic uint64_t wake_at;
    /* number of finished iterations times 2, plus the index of the valid account */
    _Alignas(64) _Atomic uint64_t published;
    struct channel_account account[2];
    enum channel_result result;
    bool final;
    bool is_complete;
    uint64_t began_ns;
    unsigned ran_on; /* the helper's CPU plus 1; 0: unknown */
    struct spread pieces;
    char error[HDSS_ERROR_MAX];
};

struct channel {
    uint32_t version;
    pid_t worker_pid;
    struct hdss_worker worker;
    double slowdown;
    bool collect, spread;
    unsigned threads;
    size_t slot_room;
    bool team_spread;
    uint64_t record_bytes;
    uint64_t records_at;
    size_t bytes;
    uint64_t blocks_apart; /* CHANNEL_BLOCKS_APART; 0: a file cannot be that long, so commands are never given ahead */
    uint64_t skipped[CHANNEL_SKIPPED_MAX];
    unsigned skipped_count;
    struct channel_block block;
    _Alignas(64) _Atomic uint32_t called;
    _Atomic uint32_t helper_sleeps;
    /* For the command RUN. After this time the helper makes no call of the kernel except the first one of a command. It
     * also does not take a command that was given ahead. */
    _Atomic uint64_t until_ns;
    _Atomic uint32_t worker_sleeps;
    struct channel_work works[CHANNEL_WORKS];
    _Alignas(64) _Atomic uint32_t answered;
    _Atomic uint64_t probing; /* PROBE: the running iteration plus 1; 0: none runs */
    _Atomic uint64_t probed;
    uint64_t block_ns;
    struct speed speed;
};

/* Command numbers are multiples of CHANNEL_STEP, so that the marks fit into the same word. */
#define CHANNEL_STEP  4u
#define CHANNEL_READY 1u
#define CHANNEL_NEXT  2u

static inline uint32_t channel_number(uint32_t called)
{
    return called - called % CHANNEL_STEP;
}

static inline struct channel_work *channel_work(struct channel *channel, uint32_t number)
{
    return &channel->works[number / CHANNEL_STEP % CHANNEL_WORKS];
}

static inline bool channel_is_over(const struct channel *channel, uint32_t number)
{
    return (int32_t)(atomic_load(&channel->answered) - number) >= 0;
}

static inline uint64_t channel_claims_of(uint64_t begun, uint64_t end)
{
    assert(begun <= end && end <= CHANNEL_COUNT_MAX && "iterations begin before their end");
    return begun | end << 32;
}

static inline uint64_t channel_begun(uint64_t claims)
{
    return (uint32_t)claims;
}

static inline uint64_t channel_end(uint64_t claims)
{
    return claims >> 32;
}

static inline uint64_t channel_claim(_Atomic uint64_t *claims, uint64_t most)
{
    uint64_t known = atomic_load_explicit(claims, memory_order_relaxed), taken;
    do {
        uint64_t left = channel_end(known) - channel_begun(known);
        taken = most < left ? most : left;
        if (taken == 0)
            return 0;
    } while (!atomic_compare_exchange_weak(claims, &known,
                                           channel_claims_of(channel_begun(known) + taken, channel_end(known))));
    return taken;
}

static inline uint64_t channel_cut(_Atomic uint64_t *claims, uint64_t kept)
{
    uint64_t known = atomic_load(claims), end;
    do {
        end = kept > channel_begun(known) ? kept : channel_begun(known);
        if (end >= channel_end(known))
            return channel_end(known);
    } while (!atomic_compare_exchange_weak(claims, &known, channel_claims_of(channel_begun(known), end)));
    return end;
}

struct channel_done {
    uint64_t count, digest, compute_ns;
    uint64_t bytes;
};

static inline void channel_publish(struct channel_work *work, const struct channel_done *done)
{
    uint64_t valid = atomic_load_explicit(&work->published, memory_order_relaxed) & 1;
    struct channel_account *account = &work->account[valid ^ 1];
    atomic_store_explicit(&account->digest, done->digest, memory_order_release);
    atomic_store_explicit(&account->compute_ns, done->compute_ns, memory_order_release);
    atomic_store_explicit(&account->bytes, done->bytes, memory_order_release);
    atomic_store(&work->published, done->count << 1 | (valid ^ 1));
}

/* Reads the valid account. The helper writes only to the other account. If it publishes twice meanwhile, it overwrites
 * the account that is being read. Then `published` has changed, and this function reads again. */
static inline void channel_look(const struct channel_work *work, struct channel_done *done)
{
    uint64_t published = atomic_load(&work->published), before;
    do {
        const struct channel_account *account = &work->account[published & 1];
        before = published;
        done->count = published >> 1;
        done->digest = atomic_load_explicit(&account->digest, memory_order_acquire);
        done->compute_ns = atomic_load_explicit(&account->compute_ns, memory_order_acquire);
        done->bytes = atomic_load_explicit(&account->bytes, memory_order_acquire);
        published = atomic_load(&work->published);
    } while (published != before);
}

static inline uint64_t channel_block_bytes(uint64_t bytes)
{
    return 8 + (bytes + 7) / 8 * 8;
}

static inline uint64_t channel_halo_at(const struct channel *channel, unsigned i, uint64_t halo_bytes)
{
    return channel->records_at + i * ((halo_bytes + 4095) / 4096 * 4096);
}

static inline uint64_t channel_blocks_at(const struct channel *channel, uint32_t number)
{
    return channel->records_at + number / CHANNEL_STEP % CHANNEL_WORKS * channel->blocks_apart;
}

void channel_call(struct channel *channel, uint32_t number);

void channel_call_ahead(struct channel *channel, uint32_t number);

bool channel_withdraw(struct channel *channel, uint32_t number);

/* Continues with the command that was given ahead. Call it after all of command `number` is done. Returns false if the
 * helper has put back the command that was given ahead. */
bool channel_confirm(struct channel *channel, uint32_t number);

/* For the helper: takes the command that the worker has given; returns false if there is none. If `goes_on` is false or
 * the time `until_ns` has passed, puts back a command that was given ahead. */
bool channel_take_call(struct channel *channel, bool goes_on, uint64_t (*now)(void), uint32_t *number);

/* For the helper: waits for the next command, takes it and returns its number. Spins for `spin_ns` before it sleeps.
 * `goes_on`: true if the helper may take a command that was given ahead. */
uint32_t channel_await_call(struct channel *channel, uint64_t spin_ns, bool goes_on);

void channel_wake_worker(struct channel *channel, int bell);

bool channel_await_answer(struct channel *channel, uint32_t number, uint64_t most_ns);
