/* SPDX-License-Identifier: MIT */
/* Runs chunks by several threads: ring.h explains how they share a chunk.
 *
 * The interface is that of the executor of one thread (inline.h), called by the worker's main thread, which also
 * computes between looking at messages; other threads are in thread_pool_serve(). Several chunks may run at once: each
 * begins when it comes, and a thread for which the oldest has nothing left takes from the next. Events concern the
 * oldest chunk, whose results are sent in order, until FINISHED.
 *
 * Each thread has its own instance of the kernel, unless the kernel permits sharing. The pool also has an executor of
 * one thread, which repeats parts in which the kernel has failed, and runs chunks that need a child process.
 *
 * compute_ns of a chunk is its wall time. While chunks overlap, time that threads spent in later ones, divided by the
 * number of threads, counts there: the sum over all chunks is the time in which there was work. */
#pragma once

#include "common/machine/executor.h"
#include "common/machine/spread.h"
#include "common/util/error.h"
#include "hdss/kernel.h"
#include "proto/message.h"
#include "worker/exec/inline.h"
#include "worker/exec/remote_team.h"
#include "worker/exec/ring.h"

/* Limit of chunks: those of the worker's queue, and the oldest. */
#define POOL_CHUNKS_MAX (2 * ASKS_MAX + 1)

struct thread_pool_config {
    struct exec_config exec;
    unsigned threads; /* at least 2 */
    const struct sched_spec *technique;
    unsigned cores; /* available to the threads */
};

struct pool_thread {
    _Alignas(RING_LINE) void *instance;
    unsigned char *scratch; /* for records that are only digested; owned */
    bool open;              /* owned instance */
    uint64_t next, end;     /* rest of its last draw */
    double iteration_ns;    /* estimate; 0: unknown */
    uint64_t piece_most;    /* iterations per call of the kernel, from the estimate; at least 1 */
    uint64_t tick_most;     /* iterations between two readings of the clock, likewise */
    uint64_t untimed;       /* iterations since the last reading */
    uint64_t draws;         /* draws not yet added to `chunks` */
    uint64_t read_ns;       /* time of the last reading */
    double waiting_ns;      /* owed to the slowdown */
    char error[HDSS_ERROR_MAX];
};

struct thread_pool_chunk {
    uint64_t first, count, mark;
    uint64_t given; /* iterations put into slots */
    bool isolated;
};

/* A slot of the ring, for the main thread. */
struct thread_pool_slot {
    bool isolated;
    bool last; /* last slot of a chunk */
    bool cancelled;
    bool over;            /* all its iterations were reported */
    unsigned char *bytes; /* EXEC_HEADROOM and records; owned, NULL: none */
    size_t size;
    unsigned sent;        /* parts being sent */
    bool is_kept;         /* MPI may read the records until the process ends */
    bool has_moved;       /* shared records use the second place of the slot */
    unsigned char *small; /* copy of a part that is sent within a message; owned; NULL: not needed yet */
    bool small_sent;
    struct spread spread; /* protected by pool->lock */
};

/* The oldest chunk, which events concern. */
struct team_oldest {
    uint64_t slot;     /* number of its present slot; earlier ones are out of use */
    uint64_t told;     /* iterations of that slot sent or failed */
    uint64_t before;   /* iterations of the chunk in earlier slots */
    uint64_t told_ns;  /* time of the last report */
    bool alone;        /* the main thread computes the next ones with `exec` */
    uint64_t began_ns; /* 0: unknown */
};

/* If the threads are in a helper, what both sides share: see remote_team.h. */
struct team_sharing {
    bool probes;                /* the helper probes */
    bool ends;                  /* the helper is ending; nothing more is computed */
    struct speed speed;         /* result of the probe */
    struct remote_team *remote; /* the worker's side, owned; NULL: threads of this process */
    struct team_share *share;   /* shared; NULL: none */
    struct channel *channel;    /* shared */
    struct spread *spread;      /* [threads * ring.slots] */
    unsigned char *records;     /* [2 * ring.slots] times slot_room bytes; NULL: records are only digested */
    size_t slot_room;
    void (*notify)(void *context);                                                   /* calls the worker */
    int (*run)(struct thread_pool *pool, int (*work)(void *context), void *context); /* in the helper */
};

struct thread_pool {
    struct executor executor; /* first; figures: at the end of the last chunk */
    struct thread_pool_config config;
    struct exec exec; /* of the main thread, with the instance of thread 0 */
    struct ring ring;
    struct pool_thread *pool_thread; /* [threads], owned */
    struct thread_pool_slot *slot;   /* [ring.slots], owned */
    uint64_t record_bytes;
    uint64_t part_most, slot_most, scratch_most; /* iterations; 0: no limit */
    size_t bytes_in_use;                         /* of records in all slots */
    struct thread_pool_chunk chunk[POOL_CHUNKS_MAX];
    unsigned chunk_first, chunk_count, begun; /* begun: chunks that are entirely in slots */
    struct team_oldest oldest;
    uint64_t last_ended_ns; /* end of the last chunk */
    double last_later_ns;   /* time in later chunks at that moment */
    uint64_t off_ns;        /* of the oldest chunk, since then: time put off */
    uint64_t off_since_ns;  /* begin of being put off; 0: not put off */
    bool empty_told;        /* reported since the last chunk came */
    int bell;               /* eventfd for the main thread; the helper's, if the threads are in one */
    bool rests;             /* the main thread was blocked at its last look */
    _Atomic bool blocked, has_work;
    pthread_mutex_t lock;
    struct error problem;
    bool has_problem, problem_told;
    struct team_sharing team;
    char error[HDSS_ERROR_MAX];
};

/* Opens the kernel for all threads. With config->exec.helper the threads are in that helper, the technique must have a
 * closed form, and the caller does not use thread_pool_serve(). executor_fini() closes it when no thread is in
 * thread_pool_serve(). On failure pool->error is set and nothing is owned. Events: those of inline.h, and DRY. */
int thread_pool_init(struct thread_pool *pool, const struct thread_pool_config *config);

/* Computes in a thread other than the main one, index from 1; returns after thread_pool_stop(). */
void thread_pool_serve(struct thread_pool *pool, unsigned thread);
void thread_pool_stop(struct thread_pool *pool);

/* Prepares the threads of a helper, whose executor has opened the kernel. */
int thread_pool_join(struct thread_pool *pool, const struct exec *exec, struct channel *channel, int bell);

/* Advances the threads' instances to the time step of the iteration. False, which is reported to the worker:
 * impossible. */
bool thread_pool_enter_step(struct thread_pool *pool, uint64_t iteration);

static inline bool thread_pool_has_work(const struct thread_pool *pool)
{
    return atomic_load_explicit(&pool->has_work, memory_order_relaxed);
}

void thread_pool_add_spread(struct thread_pool *pool, unsigned thread, uint64_t iterations, double elapsed_ns);

/* Takes over the share that the worker has prepared after its channel. */
void thread_pool_share(struct thread_pool *pool, void *share, size_t slot_room);

/* Computes until `until_ns`, or nothing is left to draw. True if it did anything. */
bool thread_pool_work(struct thread_pool *pool, unsigned thread, uint64_t until_ns);
