/* SPDX-License-Identifier: MIT */
/* Executors: compute the chunks of a worker for a runtime.
 *
 * An executor is the first member of the structure that implements it, and is used by one thread. Implementations:
 * worker/exec/inline.h computes in the caller's thread, thread_pool.h in several threads, pipeline.h computes a loop
 * with dependencies; deploy/simulate/simgrid advances simulated time. A machine (machine.h) decides, an executor
 * computes, and the runtime carries actions to the executor and events to the machine.
 *
 * The life of a chunk: executor_begin(), then executor_advance() until FINISHED. If an event has records, or boundary
 * data that are sent, the runtime later calls executor_sent(), and the executor may then overwrite these data. If their
 * memory can never be reused, the runtime calls executor_abandon() instead. */
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
    /* Times the probe iterations: see common/machine/probe.h. Returns false if another process times them; the event
     * PROBED then follows. */
    bool (*probe)(struct executor *executor, struct speed *speed);
    void (*begin)(struct executor *executor, uint64_t first, uint64_t count, uint64_t mark, bool isolated);
    void (*set_mark)(struct executor *executor, uint64_t mark);
    /* NULL: the executor has only one chunk at a time */
    void (*forget)(struct executor *executor);
    struct range (*cut)(struct executor *executor, unsigned waiting); /* NULL: chunks cannot be cut */
    struct range (*end)(struct executor *executor); /* NULL: running iterations cannot be ended, so they are finished */
    enum turn (*advance)(struct executor *executor, struct event *event);
    void (*sent)(struct executor *executor, const void *data);
    void (*abandon)(struct executor *executor, const void *data); /* NULL: the data are never overwritten */
    int (*descriptor)(const struct executor *executor);
    void (*check)(const struct executor *executor);
    bool (*put_off)(struct executor *executor);              /* NULL: nothing runs between two turns */
    void (*go_on)(struct executor *executor);                /* NULL: executor_advance() continues by itself */
    void (*stop_at)(struct executor *executor, uint64_t ns); /* NULL: executor_put_off() is always called in time */
    /* NULL: the executor has one chunk at a time, from begin() to FINISHED */
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
    bool is_away; /* another process computes and may need this core, so a blocked worker sleeps at once */
    bool is_put_off;
    /* If another process computes: the CPU on which it computed last, and the CPU on which it must continue, each plus
     * 1; 0: any CPU. */
    unsigned ran_on, begins_on;
    uint64_t spent_ns; /* compute time of that other process, as far as known; 0: the caller measures the time */
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

/* Begins the chunk [first, first + count). MARK is reported after `mark` iterations (0: never). Earlier chunks must be
 * finished, except if the executor has several threads, or a helper, which may have one further chunk. `isolated`: the
 * chunk is computed in a child process; an iteration that ends the child process fails for good. Kernels that wait
 * cannot be isolated, because the descriptor on which they wait is open only in the worker. */
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

/* Gives up and returns iterations that have not begun, from the end of the newest chunk that has some. Their number is
 * the share by recall_share() for one holder and `waiting` others; count 0: all iterations have begun. A chunk that is
 * given up entirely is forgotten. The running chunk keeps at least one iteration, so FINISHED follows. */
static inline struct range executor_cut(struct executor *executor, unsigned waiting)
{
    return executor->ops->cut != NULL ? executor->ops->cut(executor, waiting) : (struct range){0};
}

/* Ends the running iterations or the probe, and begins nothing more. Gives up and returns all iterations of the oldest
 * chunk that are not done. Once no other process runs any of them, FINISHED follows. If a probe was ended, PROBED
 * follows, and its speed means nothing. Running iterations that cannot be ended are finished. */
static inline struct range executor_end(struct executor *executor)
{
    return executor->ops->end != NULL ? executor->ops->end(executor) : executor_cut(executor, RECALL_ALL);
}

/* Computes for a turn: a few milliseconds, at least one iteration. With TURN_EVENT, `event` is MARK, SLICE,
 * ITERATIONS_FAILED, FINISHED, BOUNDARY_READY in a loop with dependencies, DRY with several threads, PROBED, or FATAL.
 * FATAL comes only once, and nothing is computed after it. Records and boundary data of an event stay untouched until
 * executor_sent(). Sets event->now_ns only if the clock was just read. */
static inline enum turn executor_advance(struct executor *executor, struct event *event)
{
    enum turn turn = executor->ops->advance(executor, event);
#ifdef EXECUTOR_CHECKED
    executor_check(executor);
#endif
    return turn;
}

/* Pauses the executor so that another job can compute: the executor begins no further iteration. Iterations that have
 * begun are finished; the rest of the running chunks waits. executor_advance() still reports what is done. Returns true
 * if nothing runs any more; otherwise this function must be called again after executor_advance(). */
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

/* If another process computes, makes that process begin nothing after time `ns` (on the clock of the events), so that
 * no rank has to wake at that time. executor_put_off() must still be called later. The limit is valid until the next
 * call. Returns false if no other process computes. */
static inline bool executor_stop_at(struct executor *executor, uint64_t ns)
{
    if (executor->ops->stop_at != NULL)
        executor->ops->stop_at(executor, ns);
    return executor->ops->stop_at != NULL && executor->is_away;
}

/* `otherwise`: the answer for an executor with one chunk at a time, which does not know whether it has a chunk. */
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

/* Returns a descriptor that becomes readable when a blocked executor_advance() can continue; -1: none. The descriptor
 * never changes. */
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

/* Calls must come in the same order as those of executor_await_boundary(). */
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
