/* SPDX-License-Identifier: MIT */
/* Running chunks by several threads: see ring.h for how they share a chunk.
 *
 * The same calls as the executor of one thread (inline.h), by the worker's main thread, which computes as well, between
 * its looks at the messages; the others are in thread_pool_serve(), wherever they come from. Several chunks may run at
 * once: each that has come begins, and a thread for which the oldest has nothing left takes from the next. Events are
 * of the oldest chunk, whose results leave in order, until it has FINISHED.
 *
 * Each thread has an instance of the kernel of its own, unless the kernel says that one may be shared. What a thread
 * cannot do is left to the executor of one thread, which the pool has, too: iterations at which the kernel has failed,
 * with those of the same part of the chunk, and chunks that are to be run in a child process.
 *
 * A chunk's compute_ns is its wall time. While chunks overlap, the time that threads spent in later ones, divided by
 * the number of threads, counts there: so the sum over the chunks is the time in which there was something to compute.
 */
#pragma once

#include "common/machine/executor.h"
#include "common/machine/spread.h"
#include "common/util/error.h"
#include "hdss/kernel.h"
#include "proto/message.h"
#include "worker/exec/inline.h"
#include "worker/exec/remote_team.h"
#include "worker/exec/ring.h"

/* Chunks that run, or are to: those of the worker's queue, and the oldest. */
#define POOL_CHUNKS_MAX (2 * ASKS_MAX + 1)

struct thread_pool_config {
    struct exec_config exec;
    unsigned threads; /* at least 2 */
    const struct sched_spec *technique;
    unsigned cores; /* cores that the threads may run on */
};

struct pool_thread {
    _Alignas(RING_LINE) void *instance;
    unsigned char *scratch; /* for records that are only digested; owned */
    bool open;              /* the instance is its own */
    uint64_t next, end;     /* iterations left of the latest draw */
    double iteration_ns;    /* estimate; 0: not known */
    uint64_t piece_most;    /* iterations of a call of the kernel, by that; at least 1 */
    uint64_t tick_most;     /* iterations between two readings of the clock, by the same estimate */
    uint64_t untimed;       /* iterations since the clock was read */
    uint64_t draws;         /* draws that are not in `chunks` yet */
    uint64_t read_ns;       /* when the clock was read */
    double waiting_ns;      /* owed to the slowdown */
    char error[HDSS_ERROR_MAX];
};

struct thread_pool_chunk {
    uint64_t first, count, mark;
    uint64_t given; /* iterations that are in slots */
    bool isolated;
};

/* A slot of the ring, as the main thread sees it. */
struct thread_pool_slot {
    bool isolated;
    bool last; /* the last slot of a chunk */
    bool cancelled;
    bool over;            /* all iterations of the slot have been told */
    unsigned char *bytes; /* EXEC_HEADROOM and its records; owned, NULL: none */
    size_t size;          /* bytes of the records */
    unsigned sent;        /* parts of it on their way */
    bool is_kept;         /* MPI may read the records until the process ends */
    bool has_moved;       /* records that are shared with a helper go to the second place that the slot has there */
    unsigned char *small; /* a part that goes in the message, which is written before it; owned; NULL: not needed yet */
    bool small_sent;
    struct spread spread; /* under pool->lock */
};

/* The oldest chunk, of which the events tell. */
struct team_oldest {
    uint64_t slot;     /* the number of its slot that is being told: those before it are out of use */
    uint64_t told;     /* iterations of that slot that have left, or failed */
    uint64_t before;   /* iterations of the chunk in slots before that one */
    uint64_t told_ns;  /* when the latest iterations left */
    bool alone;        /* the main thread computes the next of them with `exec` */
    uint64_t began_ns; /* 0: not known yet */
};

/* Where the threads are in a helper, what its end and the worker's share: see remote_team.h. */
struct team_sharing {
    bool probes;                /* the helper does */
    bool ends;                  /* nothing is computed any more: the helper is about to end, and what is done is told */
    struct speed speed;         /* that was probed */
    struct remote_team *remote; /* the worker's end, owned; NULL: the threads are of this process */
    struct team_share *share;   /* both ends'; NULL: nothing is shared */
    struct channel *channel;    /* both ends' */
    struct spread *spread;      /* [threads * ring.slots] */
    unsigned char *records;     /* [2 * ring.slots] times slot_room bytes; NULL: records are only digested */
    size_t slot_room;
    void (*notify)(void *context); /* has the worker look at what there is */
    int (*run)(struct thread_pool *pool, int (*work)(void *context), void *context); /* in the helper */
};

struct thread_pool {
    struct executor executor; /* first; figures: when the latest chunk was over */
    struct thread_pool_config config;
    struct exec exec; /* the main thread's, with the instance of thread 0 */
    struct ring ring;
    struct pool_thread *pool_thread; /* [threads], owned */
    struct thread_pool_slot *slot;   /* [ring.slots], owned */
    uint64_t record_bytes;
    uint64_t part_most, slot_most, scratch_most; /* iterations; 0: no limit */
    size_t bytes_in_use;                         /* bytes of records in all slots */
    struct thread_pool_chunk chunk[POOL_CHUNKS_MAX];
    unsigned chunk_first, chunk_count, begun; /* begun: chunks whose iterations are all in slots */
    struct team_oldest oldest;
    /* time */
    uint64_t last_ended_ns; /* when the latest chunk was over */
    double last_later_ns;   /* time in later ones then */
    uint64_t off_ns;        /* of the oldest chunk, since then: time for which the pool was put off */
    uint64_t off_since_ns;  /* put off since then; 0: it is not */
    bool empty_told;        /* told since the latest chunk came */
    /* for the main thread */
    int bell;   /* an eventfd; the helper's, where the threads are in one */
    bool rests; /* the main thread was blocked when it looked last */
    _Atomic bool blocked, has_work;
    pthread_mutex_t lock;
    struct error problem;
    bool has_problem, problem_told;
    struct team_sharing team;
    char error[HDSS_ERROR_MAX];
};

/* Opens the kernel for all threads; where config->exec.helper is set these are in that helper, the technique has a
 * closed form, and thread_pool_serve() is not for the caller. executor_fini() closes it when no thread is in
 * thread_pool_serve(). -1 with one line in pool->error, nothing owned. The events of the executor are those of
 * inline.h, and DRY. */
int thread_pool_init(struct thread_pool *pool, const struct thread_pool_config *config);

/* Computes in a thread other than the main one, with its index from 1; returns after thread_pool_stop(). */
void thread_pool_serve(struct thread_pool *pool, unsigned thread);
void thread_pool_stop(struct thread_pool *pool);

/* Makes ready the threads of a helper, whose executor has opened the kernel. -1 with one line in pool->error. */
int thread_pool_join(struct thread_pool *pool, const struct exec *exec, struct channel *channel, int bell);

/* Brings the threads' instances to the time step of the iteration. False: it cannot be entered, as the worker is told.
 */
bool thread_pool_enter_step(struct thread_pool *pool, uint64_t iteration);

/* --- between the two --- */

static inline bool thread_pool_has_work(const struct thread_pool *pool)
{
    return atomic_load_explicit(&pool->has_work, memory_order_relaxed);
}

void thread_pool_add_spread(struct thread_pool *pool, unsigned thread, uint64_t iterations, double elapsed_ns);

/* Takes over what the worker has made ready for the threads behind its channel. */
void thread_pool_share(struct thread_pool *pool, void *share, size_t slot_room);

/* Computes until `until_ns`, or until there is nothing to draw. Returns whether it did anything. */
bool thread_pool_work(struct thread_pool *pool, unsigned thread, uint64_t until_ns);
