/* SPDX-License-Identifier: MIT */
/* Memory that a worker shares with its helper, the process that runs a user's kernel.
 *
 * The worker gives commands; the helper computes and publishes its progress. Neither polls: each has a flag that it
 * sleeps, and the other wakes it if there is news.
 *
 * Commands are numbered. While the helper runs one, the worker may give the next one *ahead*, so that the helper
 * continues without a wake-up. One word has the number of a command and two marks, which both change by
 * compare-and-swap:
 *
 *     READY   the worker has given the command, the helper has not taken it
 *     NEXT    the following command is given ahead. At the end of the first one the helper takes it, if all of the
 * first was done; else it puts it back
 *
 * The worker may withdraw a command that was not taken; a command that was put back or withdrawn does not count. The
 * data of a command are in one of two places, chosen by its number, so those of the previous one stay while the next
 * one runs.
 *
 * Iterations of a command are claimed. One word has the number that have begun and the end; the helper claims the next
 * ones by compare-and-swap for each call of the kernel, and the worker may lower the end at any time. Iterations that
 * have not begun belong to the worker at once, even while the kernel runs.
 *
 * Records are written where they are sent from. Variable output follows the channel as blocks (proto/block.h) with
 * their lengths, one or more per call.
 *
 * After each call the helper publishes what is done: it writes number, digest and time to the one of two accounts that
 * is not valid, then sets a word that says which one is. So the worker finds a complete account whenever the helper
 * dies, and iterations that had begun but were not done are suspected.
 *
 * In a loop with dependencies a command is one step of a chunk (struct hdss_block). The channel is then followed by two
 * *halos* for boundary data: the worker puts those of the previous chunk into one and takes those of this chunk from
 * the other. Rows of results follow, where the worker decides. */
#pragma once

#include "common/machine/spread.h"
#include "hdss/kernel.h"
#include "proto/record.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Raise this if the layout changes: worker and helper must be of one build. */
#define CHANNEL_VERSION 7
/* Descriptors of a helper: the shared memory, and the eventfd that wakes the worker. */
#define CHANNEL_FILE 3
#define CHANNEL_BELL 4
/* After this many bytes of blocks a command ends. A single block may be longer. */
#define CHANNEL_BLOCKS (UINT64_C(1) << 20)
/* Distance between the blocks of the two commands: the longest possible block. Unused address space takes no memory. */
#define CHANNEL_BLOCKS_APART (UINT64_C(1) << 36)
/* A command up to this long is short: the worker and the helper should spin rather than sleep while they wait for it or
 * for the next one. */
#define CHANNEL_SHORT_NS  50000u
#define CHANNEL_COUNT_MAX UINT32_C(0x7fffffff)
/* Limit of probe iterations that are left out when the probe is repeated, because they have crashed a helper. */
#define CHANNEL_SKIPPED_MAX 8

enum channel_command {
    CHANNEL_OPEN, /* open the kernel: a helper's first command */
    CHANNEL_PROBE,
    CHANNEL_RUN,
    CHANNEL_TEAM, /* the threads compute until their ring is stopped: see remote_team.h */
    CHANNEL_BLOCK,
    CHANNEL_LEAVE,
};

enum channel_result {
    CHANNEL_DONE,
    CHANNEL_FAILED, /* OPEN: the kernel cannot be opened; RUN: the iteration after the finished ones has failed; BLOCK:
                       the step has failed */
    CHANNEL_STUCK,  /* RUN: the time step cannot be entered */
};

/* What the worker sleeps on: nothing, the word `answered`, or the eventfd CHANNEL_BELL. */
enum channel_sleep { CHANNEL_AWAKE, CHANNEL_ON_WORD, CHANNEL_ON_BELL };

struct channel_account {
    _Atomic uint64_t digest, compute_ns, bytes;
};

#define CHANNEL_HALOS 2
/* Number of places for rows of results. The helper keeps both mapped. */
#define CHANNEL_ROWS 2

/* A step of a chunk. Offsets are from the start of the shared memory. */
struct channel_block {
    uint64_t first, count, from, to;
    uint64_t before, after;       /* offsets of the halos; before == 0 for the first chunk */
    unsigned rows;                /* index of the place of the results */
    uint64_t rows_at, rows_bytes; /* offset of that place, a multiple of the page size, and its size */
    uint64_t record_at;           /* record of `first`, relative to rows_at */
};

#define CHANNEL_WORKS 2

struct channel_work {
    _Alignas(64) enum channel_command command;
    uint64_t first, count;
    uint64_t singly; /* this many iterations are run one at a time, because one of them may have crashed a helper */
    uint64_t place;  /* offset of the records of `first`; for variable output, of the blocks */
    uint64_t room;   /* bytes for blocks; the helper extends it if one iteration needs more */
    _Atomic uint64_t claims; /* number of iterations that have begun in the lower half, their end in the upper; BLOCK: 1
                                after the step has begun */
    _Atomic uint64_t wake_at;                /* the helper wakes the worker after this many finished iterations */
    _Alignas(64) _Atomic uint64_t published; /* number of finished iterations, and which account is valid */
    struct channel_account account[2];
    enum channel_result result;
    bool final; /* FAILED: do not retry */
    bool is_complete;
    uint64_t began_ns; /* RUN: when the first iteration began; BLOCK: when the step began */
    unsigned ran_on;   /* CPU on which the helper ran, plus 1; 0 if unknown */
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
    size_t slot_room; /* bytes for the records in a thread's slot; 0: records are only digested */
    bool team_spread;
    uint64_t record_bytes;
    uint64_t records_at;
    size_t bytes;
    uint64_t blocks_apart; /* CHANNEL_BLOCKS_APART; 0 if files cannot be that long: then no command is given ahead */
    uint64_t skipped[CHANNEL_SKIPPED_MAX];
    unsigned skipped_count;
    struct channel_block block;
    _Alignas(64) _Atomic uint32_t called;
    _Atomic uint32_t helper_sleeps; /* true if the helper sleeps on `called` */
    _Atomic uint64_t until_ns; /* RUN: after this time no further call of the kernel begins, except a command's first,
                                  and no command that was given ahead */
    _Atomic uint32_t worker_sleeps;
    struct channel_work works[CHANNEL_WORKS];
    _Alignas(64) _Atomic uint32_t answered;
    _Atomic uint64_t probing; /* PROBE: the running iteration plus 1; 0 if none runs */
    _Atomic uint64_t probed;
    uint64_t block_ns; /* BLOCK: duration of the step, including the pauses of a worker that is slowed on purpose */
    struct speed speed;
};

/* Numbers are multiples of CHANNEL_STEP, so that the marks fit into the word. */
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

/* The helper claims up to `most` iterations. Returns how many it got. */
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

/* The worker lowers the end to `kept`, but never below the iterations that have begun. Returns the new end. */
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

/* Reads the published account consistently: a reader that sees data of the update after the next also sees that the
 * valid account has changed, and reads again. */
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

/* Bytes that a block takes with its length; a multiple of 8. */
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

/* Gives the helper a command and wakes it. The previous one must be finished. */
void channel_call(struct channel *channel, uint32_t number);

/* Gives the helper the command after `number` ahead, and wakes it if it sleeps. */
void channel_call_ahead(struct channel *channel, uint32_t number);

/* Withdraws the command after `number`. True if the helper has not taken it. */
bool channel_withdraw(struct channel *channel, uint32_t number);

/* Makes the command that was given ahead current, because all of command `number` is done. False if the helper has put
 * it back. */
bool channel_confirm(struct channel *channel, uint32_t number);

/* Helper: takes the given command; false if there is none. A command that was given ahead is put back if `goes_on` is
 * false or its time is over. */
bool channel_take_call(struct channel *channel, bool goes_on, uint64_t (*now)(void), uint32_t *number);

/* Helper: waits for the next command, takes it and returns its number. `spin_ns`: how long it spins before it sleeps,
 * yielding the core at least once. `goes_on`: it may take a command that was given ahead. */
uint32_t channel_await_call(struct channel *channel, uint64_t spin_ns, bool goes_on);

void channel_wake_worker(struct channel *channel, int bell);

/* Worker: waits until the command is finished, for at most `most_ns`; returns whether it is finished. */
bool channel_await_answer(struct channel *channel, uint32_t number, uint64_t most_ns);
