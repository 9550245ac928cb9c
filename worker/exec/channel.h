/* SPDX-License-Identifier: MIT */
/* Memory that a worker shares with its helper, the process that runs a user's kernel for it.
 *
 * The worker gives commands; the helper computes and publishes how far it is. Neither waits for the other to look: each
 * has a flag that says that it sleeps, and whoever has news for a sleeper wakes it.
 *
 * Commands have numbers. While the helper is at one, the worker may give the next one *ahead*, so that the helper goes
 * on with that at once, and nobody has to wake the other between the two. One word has the number of a command and two
 * marks, which both sides change by a compare-and-swap:
 *
 *     READY   the worker has given the command, and the helper has not taken it
 *     NEXT    the one behind it is given ahead. When the helper comes to the end of the first it takes that, where all
 *             of the first is done: then its number is in the word; else it puts it back
 *
 * Until it is taken the worker may withdraw it; a command that was put back or withdrawn has never been. What is known
 * of a command is in one of two places, by its number: that of one that is over stays while the next one runs.
 *
 * The iterations of a command are claimed. One word has how many have begun and how many there are; the helper takes
 * the next ones by a compare-and-swap, call of the kernel by call, and the worker lowers the end in the same way, at
 * any time. What has not begun is the worker's at once, also while the kernel runs.
 *
 * Records are written where they leave from. Variable output is put behind the channel, call by call, as blocks
 * (proto/block.h) with their length before them.
 *
 * What is done is published behind each call: its number, digest and time go into the one of two places that is not
 * valid, and a word then says which is. So the worker finds a whole account whenever the helper dies, and the
 * iterations that had begun and were not done are those that may have killed it.
 *
 * Of a loop with dependencies a command is one step of a chunk (struct hdss_block). Behind the channel are two *halos*
 * then, places for boundary data: the worker puts those of the chunk before into one, and takes those of the chunk from
 * the other. Rows of results lie where the worker says, behind them. */
#pragma once

#include "common/machine/spread.h"
#include "hdss/kernel.h"
#include "proto/record.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Raised when the layout changes: worker and helper must be of one build. */
#define CHANNEL_VERSION 7
/* Descriptors of a helper: the shared memory, and the eventfd that wakes the worker. */
#define CHANNEL_FILE 3
#define CHANNEL_BELL 4
/* Bytes for blocks, with which a command ends. A single block may be longer. */
#define CHANNEL_BLOCKS (UINT64_C(1) << 20)
/* From the blocks of one command to those of the next: as long as any block can be. What lies between takes no memory.
 */
#define CHANNEL_BLOCKS_APART (UINT64_C(1) << 36)
/* A command that takes less is short: who waits for it, or for the next one, does not go to sleep for that where it can
 * be helped. */
#define CHANNEL_SHORT_NS 50000u
/* The most iterations of a command. */
#define CHANNEL_COUNT_MAX UINT32_C(0x7fffffff)
/* Probe iterations that have killed a helper, and are left out when the probe is run again. */
#define CHANNEL_SKIPPED_MAX 8

enum channel_command {
    CHANNEL_OPEN,  /* open the kernel: what a helper begins with */
    CHANNEL_PROBE, /* time the probe iterations */
    CHANNEL_RUN,   /* compute a range */
    CHANNEL_TEAM,  /* have the threads compute until their ring is stopped: see remote_team.h */
    CHANNEL_BLOCK, /* compute a step of a chunk, in a loop with dependencies */
    CHANNEL_LEAVE, /* close the kernel and end */
};

enum channel_result {
    CHANNEL_DONE,
    CHANNEL_FAILED, /* OPEN: the kernel cannot be opened; RUN: the iteration behind those that are done has failed;
                       BLOCK: the step has */
    CHANNEL_STUCK,  /* RUN: the time step cannot be entered */
};

/* What a worker sleeps on. */
enum channel_sleep { CHANNEL_AWAKE, CHANNEL_ON_WORD, CHANNEL_ON_BELL };

struct channel_account {
    _Atomic uint64_t digest, compute_ns, bytes;
};

/* Places for boundary data. */
#define CHANNEL_HALOS 2
/* Places for rows of results, which a helper keeps mapped. */
#define CHANNEL_ROWS 2

/* A step of a chunk. Offsets are those in the shared memory. */
struct channel_block {
    uint64_t first, count, from, to; /* as in struct hdss_block */
    uint64_t before, after;          /* offsets of the halos; before: 0 where nothing is before the chunk */
    unsigned rows;                   /* the place of the results, below CHANNEL_ROWS */
    uint64_t rows_at, rows_bytes;    /* all of that place: its offset, a multiple of the size of a page, and bytes */
    uint64_t record_at;              /* the record of `first`, from rows_at on */
};

/* Commands of which something is known: the one that runs, and the one before or behind it. */
#define CHANNEL_WORKS 2

/* A command, and what is known of it. */
struct channel_work {
    /* --- what is to be done --- */
    _Alignas(64) enum channel_command command;
    uint64_t first, count;
    uint64_t singly;         /* so many iterations are run one by one, as one of them may have killed a helper */
    uint64_t place;          /* offset of the records of `first` in the shared memory, or of the blocks */
    uint64_t room;           /* bytes for blocks; a helper makes more where one iteration yields more */
    _Atomic uint64_t claims; /* begun in the lower half, their end in the upper; BLOCK: 1 is begun where the step has */
    _Atomic uint64_t wake_at; /* iterations done with which the worker is woken */
    /* --- what is done --- */
    _Alignas(64) _Atomic uint64_t published; /* iterations done, twice, and the valid account */
    struct channel_account account[2];
    /* --- the answer, valid when the command is over --- */
    enum channel_result result;
    bool final;        /* FAILED: for good */
    bool is_complete;  /* RUN: all of `count` is done */
    uint64_t began_ns; /* RUN: when the first iteration began; BLOCK: when the step did */
    unsigned ran_on;   /* the CPU, and 1, on which the helper is; 0: not known */
    struct spread pieces;
    char error[HDSS_ERROR_MAX];
};

struct channel {
    uint32_t version;
    pid_t worker_pid;
    /* --- set before a helper begins --- */
    struct hdss_worker worker;
    double slowdown;
    bool collect, spread;
    unsigned threads; /* the helper has so many; 0: only its main one */
    size_t slot_room; /* bytes for the records of a slot of theirs; 0: they are only digested */
    bool team_spread; /* they show how iterations differ */
    uint64_t record_bytes;
    uint64_t records_at;   /* offset of the worker's buffers in the shared memory, of the blocks, or of the halos */
    size_t bytes;          /* of the shared memory */
    uint64_t blocks_apart; /* CHANNEL_BLOCKS_APART; 0: files cannot be that long, and no command is given ahead */
    /* --- a command --- */
    uint64_t skipped[CHANNEL_SKIPPED_MAX];
    unsigned skipped_count;
    struct channel_block block;           /* BLOCK */
    _Alignas(64) _Atomic uint32_t called; /* number of a command, and marks */
    _Atomic uint32_t helper_sleeps;       /* on `called` */
    _Atomic uint64_t until_ns;      /* RUN: no call but the first begins behind this moment, nor does a command that
                                       was given ahead */
    _Atomic uint32_t worker_sleeps; /* an enum channel_sleep */
    struct channel_work works[CHANNEL_WORKS];
    /* --- its answer --- */
    _Alignas(64) _Atomic uint32_t answered; /* number of the latest command that is over */
    _Atomic uint64_t probing;               /* PROBE: the iteration that runs, and 1; 0: none */
    _Atomic uint64_t probed;                /* PROBE: runs of iterations that have begun */
    uint64_t block_ns;                      /* BLOCK: time of the step, waiting of a slow worker included */
    struct speed speed;
};

/* --- commands --- */

/* Numbers are multiples of CHANNEL_STEP, so that the marks fit into the word. */
#define CHANNEL_STEP  4u
#define CHANNEL_READY 1u
#define CHANNEL_NEXT  2u

static inline uint32_t channel_number(uint32_t called)
{
    return called - called % CHANNEL_STEP;
}

/* The command with that number, and what is known of it. */
static inline struct channel_work *channel_work(struct channel *channel, uint32_t number)
{
    return &channel->works[number / CHANNEL_STEP % CHANNEL_WORKS];
}

/* True where the command is over. */
static inline bool channel_is_over(const struct channel *channel, uint32_t number)
{
    return (int32_t)(atomic_load(&channel->answered) - number) >= 0;
}

/* --- claims --- */

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

/* The helper claims the next iterations, `most` of them at most; returns how many it got. */
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

/* The worker lowers the end to `kept`, but to no less than what has begun; returns the end. */
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

/* --- what is done --- */

/* The account of the iterations that are done, as one of the two sides has it. */
struct channel_done {
    uint64_t count, digest, compute_ns;
    uint64_t bytes; /* of the blocks of variable output */
};

/* Publishes, behind a call of the kernel. */
static inline void channel_publish(struct channel_work *work, const struct channel_done *done)
{
    uint64_t valid = atomic_load_explicit(&work->published, memory_order_relaxed) & 1;
    struct channel_account *account = &work->account[valid ^ 1];
    atomic_store_explicit(&account->digest, done->digest, memory_order_release);
    atomic_store_explicit(&account->compute_ns, done->compute_ns, memory_order_release);
    atomic_store_explicit(&account->bytes, done->bytes, memory_order_release);
    atomic_store(&work->published, done->count << 1 | (valid ^ 1));
}

/* Reads what was published last, as a whole: whoever reads of an account what is written for the next time but one has
 * also seen that the other is valid meanwhile. */
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

/* Bytes that a block takes with its length, which is a multiple of 8. */
static inline uint64_t channel_block_bytes(uint64_t bytes)
{
    return 8 + (bytes + 7) / 8 * 8;
}

/* Offset of the i-th halo of a loop with so many bytes of boundary data. */
static inline uint64_t channel_halo_at(const struct channel *channel, unsigned i, uint64_t halo_bytes)
{
    return channel->records_at + i * ((halo_bytes + 4095) / 4096 * 4096);
}

/* Offset of the blocks of a command. */
static inline uint64_t channel_blocks_at(const struct channel *channel, uint32_t number)
{
    return channel->records_at + number / CHANNEL_STEP % CHANNEL_WORKS * channel->blocks_apart;
}

/* --- waking --- */

/* Gives the helper the command of that number, and wakes it. The one before is over. */
void channel_call(struct channel *channel, uint32_t number);

/* Gives the helper the command behind that of the number ahead, and wakes it where it sleeps. */
void channel_call_ahead(struct channel *channel, uint32_t number);

/* Takes back what was given ahead, behind the command of that number. True where the helper has not taken it, and never
 * will. */
bool channel_withdraw(struct channel *channel, uint32_t number);

/* Makes it the helper's in any case, as all of the command of that number is done. False where it was put back. */
bool channel_confirm(struct channel *channel, uint32_t number);

/* Takes, in the helper, a command that was given; puts one back that was given ahead, where it may not go on to that.
 * False: there is none. */
bool channel_take_call(struct channel *channel, bool goes_on, uint64_t (*now)(void), uint32_t *number);

/* Waits, in the helper, for the next command and takes it; returns its number. `spin_ns`: looks for so long before it
 * sleeps, and gives the core away meanwhile, once at least. `goes_on`: it may take one that was given ahead. */
uint32_t channel_await_call(struct channel *channel, uint64_t spin_ns, bool goes_on);

/* Wakes the worker, if it sleeps. `bell` is its eventfd. */
void channel_wake_worker(struct channel *channel, int bell);

/* Waits, in the worker, until the command is over or `most_ns` have passed; returns whether it is over. */
bool channel_await_answer(struct channel *channel, uint32_t number, uint64_t most_ns);
