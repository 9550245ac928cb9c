/* SPDX-License-Identifier: MIT */
/* Executors: compute the chunks of a worker for a runtime.
 *
 * An executor is the first member of the structure that implements it, and is used by one thread. Implementations:
 * worker/exec/inline.h computes in the caller's thread, thread_pool.h in several threads, pipeline.h computes a loop
 * with dependencies; deploy/simulate/simgrid advances simulated time. A machine (machine.h) decides, an executor
 * computes, and the runtime carries actions to the executor and events to the machine.
 *
 * A chunk begins with executor_begin(). Then executor_advance() is called until it reports FINISHED. An event may have
 * data to send: records or boundary data. After these data were sent, the runtime calls executor_sent(), and the
 * executor may overwrite them. If the memory of the data can never be used again, the runtime calls executor_abandon()
 * instead. */
#pragma once

#include "common/machine/machine.h"
#include "common/util/ranges.h"
#include "proto/message.h"
#include "proto/record.h"

#include <assert.h>

#if !defined(__OPTIMIZE__) && !defined(EXECUTOR_CHECKED)
#define EXECUTOR_CHECKED
#endif

struct executor;

/* A member may be NULL only if its comment says so. */
struct executor_ops {
    /* Times the probe iterations: see common/machine/probe.h. Returns false if another process times them; the result
     * comes later as the event PROBED. */
    bool (*probe)(struct executor *executor, struct speed *speed);
    void (*begin)(struct executor *executor, uint64_t first, uint64_t count, uint64_t mark, bool isolated);
    void (*set_mark)(struct executor *executor, uint64_t mark);
    /* NULL: the executor never has more than one chunk */
    void (*forget)(struct executor *executor);
    struct range (*cut)(struct executor *executor, unsigned waiting); /* NULL: chunks cannot be cut */
    /* NULL: running iterations cannot be interrupted, so they are finished */
    struct range (*end)(struct executor *executor);
    enum turn (*advance)(struct executor *executor, struct event *event);
    void (*sent)(struct executor *executor, const void *data);
    void (*abandon)(struct executor *executor, const void *data); /* NULL: the memory of the data is never reused */
    int (*descriptor)(const struct executor *executor);
    void (*check)(const struct executor *executor);
    /* NULL: nothing runs after executor_advance() has returned */
    bool (*put_off)(struct executor *executor);
    void (*go_on)(struct executor *executor);                /* NULL: executor_advance() continues without this call */
    void (*stop_at)(struct executor *executor, uint64_t ns); /* NULL: executor_put_off() alone is enough */
    /* NULL: the executor has a chunk from begin() until FINISHED, and only one at a time */
    bool (*has_chunk)(const struct executor *executor);
    void (*fini)(struct executor *executor);

    /* For loops with dependencies; all NULL for others. */
    void (*take_boundary)(struct executor *executor, uint64_t first, uint64_t offset, const void *data, uint64_t bytes);
    void *(*await_boundary)(struct executor *executor, uint64_t first, uint64_t offset, uint64_t bytes);
    void (*boundary_came)(struct executor *executor, uint64_t first, uint64_t offset, uint64_t bytes);
    void (*reuse)(struct executor *executor, uint64_t boundary_at);
    void (*release)(struct executor *executor, uint64_t boundary_at);
};

struct executor {
    const struct executor_ops *ops;
    struct threads figures;
    /* Another process computes, or the kernel waits for other processes. They may need this core, so a blocked worker
     * sleeps at once. */
    bool is_away;
    bool is_put_off;
    /* Numbers of CPUs, plus 1, for the other process that computes for this executor. `ran_on`: the CPU on which that
     * process computed last; 0: unknown. `begins_on`: the CPU on which it must continue; 0: any CPU. */
    unsigned ran_on, begins_on;
    /* compute time of the other process so far; always 0 if the caller must measure the time itself */
    uint64_t spent_ns;
};

static inline bool executor_is_dependent(const struct executor *executor)
{
    return executor->ops->take_boundary != NULL;
}

static inline void executor_check(const struct executor *executor)
{
    if (executor->ops->check != NULL)
        executor->ops->check(executor);
}

static inline bool executor_probe(struct executor *executor, struct speed *speed)
{
    return executor->ops->probe(executor, speed);
}

/* Begins the chunk [first, first + count). The event MARK comes after `mark` iterations; 0: never. All earlier chunks
 * must be finished, with two exceptions: an executor with several threads may have several chunks, and an executor with
 * a helper may have two. `isolated`: the chunk is computed in a child process; an iteration that ends the child process
 * has failed and is not retried. Kernels that wait cannot be isolated, because only the worker has the descriptor on
 * which they wait. */
static inline void executor_begin(struct executor *executor, uint64_t first, uint64_t count, uint64_t mark,
                                  bool isolated)
{
    assert(count > 0 && "a chunk has iterations");
    executor->ops->begin(executor, first, count, mark, isolated);
}

static inline void executor_set_mark(struct executor *executor, uint64_t mark)
{
    executor->ops->set_mark(executor, mark);
}

static inline void executor_forget(struct executor *executor)
{
    assert(executor->ops->forget != NULL && "several chunks run with several threads, or a helper");
    executor->ops->forget(executor);
}

/* Gives up iterations that have not begun, and returns their range. They are at the end of the newest chunk that has
 * such iterations. recall_share(), called for one holder and `waiting` idle workers, tells how many. If all iterations
 * have begun, returns count 0. If all iterations of a chunk are given up, the executor forgets the chunk. A running
 * chunk keeps at least one iteration, so FINISHED still comes for it. */
static inline struct range executor_cut(struct executor *executor, unsigned waiting)
{
    return executor->ops->cut != NULL ? executor->ops->cut(executor, waiting) : (struct range){0};
}

/* Gives up all iterations of the oldest chunk that are not done, and returns their range. Ends these iterations if they
 * run in another process; iterations that cannot be ended are finished. No further iteration begins. FINISHED comes
 * after the last of these iterations has stopped. If a probe is running, it is ended, and PROBED comes with a speed
 * that means nothing. */
static inline struct range executor_end(struct executor *executor)
{
    return executor->ops->end != NULL ? executor->ops->end(executor) : executor_cut(executor, RECALL_ALL);
}

/* Computes for a turn: a few milliseconds, at least one iteration. If it returns TURN_EVENT, `event` has one of these
 * types: MARK, SLICE, ITERATIONS_FAILED, FINISHED, PROBED, FATAL. In a loop with dependencies it may also be
 * BOUNDARY_READY, and with several threads also DRY. FATAL comes only once, and nothing is computed after it. Records
 * and boundary data of an event are not overwritten before executor_sent(). `event->now_ns` is set only if the clock
 * was just read. */
static inline enum turn executor_advance(struct executor *executor, struct event *event)
{
    enum turn turn = executor->ops->advance(executor, event);
#ifdef EXECUTOR_CHECKED
    executor_check(executor);
#endif
    return turn;
}

/* Pauses the executor so that another job can compute. The executor begins no further iteration; iterations that have
 * begun are finished. executor_advance() still reports events. Returns true if nothing runs any more. If this function
 * returns false, it must be called again after executor_advance(). */
static inline bool executor_put_off(struct executor *executor)
{
    executor->is_put_off = true;
    return executor->ops->put_off == NULL || executor->ops->put_off(executor);
}

static inline void executor_go_on(struct executor *executor)
{
    executor->is_put_off = false;
    if (executor->ops->go_on != NULL)
        executor->ops->go_on(executor);
}

/* Tells the other process that computes for this executor to begin no iteration after time `ns`. So this rank need not
 * wake up at that time. `ns` is on the clock of the events, and is valid until the next call. executor_put_off() must
 * still be called later. Returns false if no other process computes. */
static inline bool executor_stop_at(struct executor *executor, uint64_t ns)
{
    if (executor->ops->stop_at != NULL)
        executor->ops->stop_at(executor, ns);
    return executor->ops->stop_at != NULL && executor->is_away;
}

/* Returns whether the executor has a chunk. Some executors never have more than one chunk and do not know whether they
 * have one now; for these, returns `otherwise`. */
static inline bool executor_has_chunk(const struct executor *executor, bool otherwise)
{
    return executor->ops->has_chunk != NULL ? executor->ops->has_chunk(executor) : otherwise;
}

static inline void executor_sent(struct executor *executor, const void *data)
{
    assert(data != NULL && "a message without data has nothing that comes back");
    executor->ops->sent(executor, data);
}

/* Notes that the message with `data` of an event was abandoned because the receiver is lost. MPI may read the data
 * until the process ends, so the executor keeps their memory, also after executor_fini(). */
static inline void executor_abandon(struct executor *executor, const void *data)
{
    assert(data != NULL && "a message without data has nothing that is left");
    if (executor->ops->abandon != NULL)
        executor->ops->abandon(executor, data);
    else
        executor->ops->sent(executor, data);
}

/* Returns a descriptor that becomes readable as soon as a blocked executor_advance() can continue; -1: there is none.
 * The descriptor never changes. */
static inline int executor_descriptor(const struct executor *executor)
{
    return executor->ops->descriptor != NULL ? executor->ops->descriptor(executor) : -1;
}

static inline void executor_fini(struct executor *executor)
{
    executor->ops->fini(executor);
}

static inline void executor_take_boundary(struct executor *executor, uint64_t first, uint64_t offset, const void *data,
                                          uint64_t bytes)
{
    assert(executor_is_dependent(executor) && data != NULL);
    executor->ops->take_boundary(executor, first, offset, data, bytes);
}

/* Returns a buffer for boundary data to be received; NULL if memory runs out. */
static inline void *executor_await_boundary(struct executor *executor, uint64_t first, uint64_t offset, uint64_t bytes)
{
    assert(executor_is_dependent(executor));
    return executor->ops->await_boundary(executor, first, offset, bytes);
}

/* Tells the executor that data for a buffer of executor_await_boundary() have arrived. Calls must come in the same
 * order as those of executor_await_boundary(). */
static inline void executor_boundary_came(struct executor *executor, uint64_t first, uint64_t offset, uint64_t bytes)
{
    assert(executor_is_dependent(executor));
    executor->ops->boundary_came(executor, first, offset, bytes);
}

static inline void executor_reuse(struct executor *executor, uint64_t boundary_at)
{
    assert(executor_is_dependent(executor));
    executor->ops->reuse(executor, boundary_at);
}

static inline void executor_release(struct executor *executor, uint64_t boundary_at)
{
    assert(executor_is_dependent(executor));
    executor->ops->release(executor, boundary_at);
}
