/* SPDX-License-Identifier: MIT */
/* Runs chunks by several threads: ring.h explains how they share a chunk.
 *
 * The interface is that of the executor of one thread (inline.h). The worker's main thread calls these functions;
 * between two looks at its messages it computes, too. The other threads are in thread_pool_serve(). Several chunks may
 * run at once, because each chunk begins when it arrives. A thread that finds nothing left in the oldest chunk draws
 * from the next one. All events are about the oldest chunk. Its results are sent in order, until FINISHED.
 *
 * Each thread has its own instance of the kernel, unless the kernel permits sharing. The pool also has an executor of
 * one thread, which repeats parts in which the kernel has failed, and runs chunks that need a child process.
 *
 * compute_ns of a chunk is its wall time, without the time that counts for later chunks. While chunks overlap, the time
 * that threads spend in later chunks counts for those chunks, divided by the number of threads. So the sum over all
 * chunks is the time during which there was work. */
#pragma once

#include "common/machine/executor.h"
#include "common/machine/spread.h"
#include "common/util/error.h"
#include "hdss/kernel.h"
#include "proto/message.h"
#include "worker/exec/inline.h"
#include "worker/exec/remote_team.h"
#include "worker/exec/ring.h"

/* Limit of the chunks in a pool: those of the worker's queue, and the oldest chunk. */
#define POOL_CHUNKS_MAX (2 * ASKS_MAX + 1)

struct thread_pool_config {
    struct exec_config exec;
    unsigned threads; /* at least 2 */
    const struct sched_spec *technique;
    unsigned cores;
};

struct pool_thread {
    _Alignas(RING_LINE) void *instance;
    unsigned char *scratch; /* records that are only digested go here; owned */
    bool open;
    uint64_t next, end;
    double iteration_ns;
    uint64_t piece_most;
    uint64_t tick_most;
    uint64_t untimed;
    uint64_t draws;
    uint64_t read_ns;
    double waiting_ns;
    char error[HDSS_ERROR_MAX];
};

struct thread_pool_chunk {
    uint64_t first, count, mark;
    uint64_t given;
    bool isolated;
};

struct thread_pool_slot {
    bool isolated;
    bool last;
    bool cancelled;
    bool over;
    unsigned char *bytes; /* EXEC_HEADROOM and the records; owned; NULL: none */
    size_t size;
    unsigned sent;
    bool is_kept;
    bool has_moved;
    unsigned char *small; /* copy of a part that is sent inside a message; owned; may be NULL */
    bool small_sent;
    struct spread spread; /* protected by pool->lock */
};

struct team_oldest {
    uint64_t slot;
    uint64_t told;
    uint64_t before;
    uint64_t told_ns;
    bool alone;
    uint64_t began_ns;
};

struct team_sharing {
    bool probes;
    bool ends;
    struct speed speed;
    struct remote_team *remote; /* the worker's side; owned; NULL: the threads are in this process */
    struct team_share *share;
    struct channel *channel;
    struct spread *spread; /* [threads * ring.slots] */
    /* shared memory for 2 * ring.slots times slot_room bytes; NULL: records are only digested */
    unsigned char *records;
    size_t slot_room;
    void (*notify)(void *context);
    int (*run)(struct thread_pool *pool, int (*work)(void *context), void *context);
};

struct thread_pool {
    struct executor executor;
    struct thread_pool_config config;
    struct exec exec;
    struct ring ring;
    struct pool_thread *pool_thread; /* [threads], owned */
    struct thread_pool_slot *slot;
    uint64_t record_bytes;
    uint64_t part_most, slot_most, scratch_most; /* limits of iterations; 0: none */
    size_t bytes_in_use;
    struct thread_pool_chunk chunk[POOL_CHUNKS_MAX];
    unsigned chunk_first, chunk_count, begun;
    struct team_oldest oldest;
    uint64_t last_ended_ns;
    double last_later_ns;
    uint64_t off_ns;
    uint64_t off_since_ns; /* when the pool was put off; 0: it is not put off */
    bool empty_told;
    int bell;
    bool rests;
    _Atomic bool blocked, has_work;
    pthread_mutex_t lock;
    struct error problem;
    bool has_problem, problem_told;
    struct team_sharing team;
    char error[HDSS_ERROR_MAX];
};

/* Opens the kernel for all threads; executor_fini() closes it after all threads have left thread_pool_serve(). If
 * config->exec.helper is set, the threads are in that helper; the technique must then have a closed form, and the
 * caller does not use thread_pool_serve(). On failure pool->error is set and nothing is owned. Events: DRY, and those
 * of inline.h except STOLEN. */
int thread_pool_init(struct thread_pool *pool, const struct thread_pool_config *config);

/* Computes in a thread other than the main one, `thread` from 1 on. Returns after thread_pool_stop(). */
void thread_pool_serve(struct thread_pool *pool, unsigned thread);
void thread_pool_stop(struct thread_pool *pool);

int thread_pool_join(struct thread_pool *pool, const struct exec *exec, struct channel *channel, int bell);

/* Makes the kernel's instances of all threads enter the time step of `iteration`. If an instance cannot enter the step,
 * reports that to the worker and returns false. */
bool thread_pool_enter_step(struct thread_pool *pool, uint64_t iteration);

static inline bool thread_pool_has_work(const struct thread_pool *pool)
{
    return atomic_load_explicit(&pool->has_work, memory_order_relaxed);
}

void thread_pool_add_spread(struct thread_pool *pool, unsigned thread, uint64_t iterations, double elapsed_ns);

void thread_pool_share(struct thread_pool *pool, void *share, size_t slot_room);

bool thread_pool_work(struct thread_pool *pool, unsigned thread, uint64_t until_ns);
