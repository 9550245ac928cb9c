/* SPDX-License-Identifier: MIT */
/* Executors: computing the chunks of a worker, as a runtime sees it.
 *
 * An executor is embedded in the structure that implements it, as its first member, and belongs to one thread, which
 * makes all calls. The implementations: worker/exec/inline.h computes in the thread of the caller, thread_pool.h with
 * several threads, pipeline.h a loop whose iterations depend on those before them; deploy/simulate/simgrid lets
 * simulated time pass instead. A machine (machine.h) decides, an executor computes, and the runtime carries actions to
 * the executor and events to the machine.
 *
 * The life of a chunk: executor_begin(), then executor_advance() until its event is FINISHED. Each event that has
 * records, or boundary data that are sent, is answered by executor_sent() once they may be written to again, or by
 * executor_abandon() where they never may. */
#pragma once

#include "common/machine/machine.h"
#include "common/util/ranges.h"
#include "proto/message.h"
#include "proto/record.h"

#include <assert.h>

/* The invariants are checked after each turn in builds that are not optimised, and in tests. */
#if !defined(__OPTIMIZE__) && !defined(EXECUTOR_CHECKED)
#define EXECUTOR_CHECKED
#endif

struct executor;

/* Calls that are not said to be NULL are there in each implementation. */
struct executor_ops {
    /* Times the probe iterations: see common/machine/probe.h. False: another process does, and PROBED follows. */
    bool (*probe)(struct executor *executor, struct speed *speed);
    void (*begin)(struct executor *executor, uint64_t first, uint64_t count, uint64_t mark, bool isolated);
    void (*set_mark)(struct executor *executor, uint64_t mark);
    /* Gives up all chunks but the oldest, of which FINISHED has not been told. NULL: the executor has one chunk at a
     * time. */
    void (*forget)(struct executor *executor);
    struct range (*cut)(struct executor *executor, unsigned waiting); /* NULL: chunks are not cut */
    struct range (*end)(struct executor *executor); /* NULL: what has begun cannot be ended, and is finished */
    enum turn (*advance)(struct executor *executor, struct event *event);
    void (*sent)(struct executor *executor, const void *data);
    void (*abandon)(struct executor *executor, const void *data); /* NULL: the data are never written to again */
    int (*descriptor)(const struct executor *executor);           /* NULL: there is none */
    void (*check)(const struct executor *executor);               /* NULL: nothing to check */
    /* For workers that several jobs share. */
    bool (*put_off)(struct executor *executor);              /* NULL: nothing runs between two turns */
    void (*go_on)(struct executor *executor);                /* NULL: the next turn does */
    void (*stop_at)(struct executor *executor, uint64_t ns); /* NULL: it is put off in time */
    bool (*has_chunk)(const struct executor *executor);      /* NULL: there is one between a begin() and its FINISHED */
    void (*fini)(struct executor *executor);

    /* for loops whose iterations depend on earlier ones; all NULL for others */
    void (*take_boundary)(struct executor *executor, uint64_t first, uint64_t offset, const void *data, uint64_t bytes);
    void *(*await_boundary)(struct executor *executor, uint64_t first, uint64_t offset, uint64_t bytes);
    void (*boundary_came)(struct executor *executor, uint64_t first, uint64_t offset, uint64_t bytes);
    void (*reuse)(struct executor *executor, uint64_t boundary_at);
    void (*release)(struct executor *executor, uint64_t boundary_at);
};

struct executor {
    const struct executor_ops *ops;
    struct threads figures; /* figures of the threads until the latest FINISHED; not used with one thread */
    bool is_away; /* another process, which may want the core, does the work: while the executor is blocked its worker
                     sleeps at once */
    bool is_put_off;            /* begins nothing: see executor_put_off() */
    unsigned ran_on, begins_on; /* the CPU, and 1, on which that process computed last, and on which it is to go on
                                   next; 0: any */
    uint64_t spent_ns; /* time that another process has computed, as far as it is known; 0: the caller's clock tells */
};

/* True where chunks hand boundary data to the chunks behind them. */
static inline bool executor_is_dependent(const struct executor *executor)
{
    return executor->ops->take_boundary != NULL;
}

/* Stops the program where an invariant of the executor does not hold. */
static inline void executor_check(const struct executor *executor)
{
    if (executor->ops->check != NULL)
        executor->ops->check(executor);
}

/* Times the probe iterations. False where another process does so: executor_advance() brings the event PROBED. */
static inline bool executor_probe(struct executor *executor, struct speed *speed)
{
    return executor->ops->probe(executor, speed);
}

/* Begins the chunk [first, first + count), which is to be told when `mark` iterations of it are done (0: not at all).
 * The chunk before is over, but where there are several threads, or a helper, which has one chunk more. A careful one
 * is run in a child process: an iteration that ends the child fails for good. Not where a kernel waits: the descriptor
 * is the worker's. */
static inline void executor_begin(struct executor *executor, uint64_t first, uint64_t count, uint64_t mark,
                                  bool isolated)
{
    assert(count > 0 && "a chunk has iterations");
    executor->ops->begin(executor, first, count, mark, isolated);
}

/* Sets the mark of the running chunk, the oldest where there are several. */
static inline void executor_set_mark(struct executor *executor, uint64_t mark)
{
    executor->ops->set_mark(executor, mark);
}

static inline void executor_forget(struct executor *executor)
{
    assert(executor->ops->forget != NULL && "several chunks run with several threads, or a helper");
    executor->ops->forget(executor);
}

/* Gives up iterations that have not begun: of the newest chunk that has some, at its end, the share that recall_share()
 * says for one holder and `waiting` others. Returns them; the count is 0 where all has begun. A chunk of which they are
 * all is forgotten; the running one keeps at least one iteration, so that its FINISHED follows. */
static inline struct range executor_cut(struct executor *executor, unsigned waiting)
{
    return executor->ops->cut != NULL ? executor->ops->cut(executor, waiting) : (struct range){0};
}

/* Ends what runs, be it a probe, and gives up all of the oldest chunk that is not done, which it returns; nothing is
 * begun any more. FINISHED, or PROBED with any speed, follows as soon as no other process runs anything of it. Where
 * that cannot be what has begun is finished. */
static inline struct range executor_end(struct executor *executor)
{
    return executor->ops->end != NULL ? executor->ops->end(executor) : executor_cut(executor, RECALL_ALL);
}

/* Computes for a turn of a few milliseconds at most (one iteration at least). The event of TURN_EVENT is MARK, SLICE,
 * ITERATIONS_FAILED, FINISHED, BOUNDARY_READY of a dependent loop, DRY of several threads, PROBED, or once FATAL: then
 * nothing more is computed. Records and boundary data in an event stay untouched until executor_sent(). Where the clock
 * was just read, event->now_ns says so, else it is as it was. */
static inline enum turn executor_advance(struct executor *executor, struct event *event)
{
    enum turn turn = executor->ops->advance(executor, event);
#ifdef EXECUTOR_CHECKED
    executor_check(executor);
#endif
    return turn;
}

/* Has the executor stop between two iterations, as another job has its turn: from now on it begins nothing. What has
 * begun goes on to its end, and all else stays here, as the rest of chunks that run. executor_advance() still takes
 * over what is done, and tells it. Returns true where nothing runs any more; else this is to be asked again behind
 * executor_advance(). */
static inline bool executor_put_off(struct executor *executor)
{
    executor->is_put_off = true;
    return executor->ops->put_off == NULL || executor->ops->put_off(executor);
}

/* Has an executor go on that was put off, with the next executor_advance() at the latest. */
static inline void executor_go_on(struct executor *executor)
{
    executor->is_put_off = false;
    if (executor->ops->go_on != NULL)
        executor->ops->go_on(executor);
}

/* Has another process that computes begin nothing behind that moment, of the clock of events, so that nobody has to
 * wake for it; it may still compute once executor_put_off() has been called then. Until the next such call, or a moment
 * that never comes. Returns false where it has no such process. */
static inline bool executor_stop_at(struct executor *executor, uint64_t ns)
{
    if (executor->ops->stop_at != NULL)
        executor->ops->stop_at(executor, ns);
    return executor->ops->stop_at != NULL && executor->is_away;
}

/* True where a chunk is left; `otherwise` where the executor has one chunk at a time, and need not be asked. */
static inline bool executor_has_chunk(const struct executor *executor, bool otherwise)
{
    return executor->ops->has_chunk != NULL ? executor->ops->has_chunk(executor) : otherwise;
}

/* Tells the executor that the message with `data` of an event is through: the data may be written to again. */
static inline void executor_sent(struct executor *executor, const void *data)
{
    assert(data != NULL && "a message without data has nothing that comes back");
    executor->ops->sent(executor, data);
}

/* Tells the executor that the message with `data` of an event was given up, as its receiver is taken for lost. Should
 * that be back it may read them until the process ends: the executor leaves their memory as it is, also behind
 * executor_fini(), and goes on with other memory. */
static inline void executor_abandon(struct executor *executor, const void *data)
{
    assert(data != NULL && "a message without data has nothing that is left");
    if (executor->ops->abandon != NULL)
        executor->ops->abandon(executor, data);
    else
        executor->ops->sent(executor, data);
}

/* Returns the descriptor that becomes readable when a blocked executor_advance() can go on; -1: none does. The same for
 * the life of the executor. */
static inline int executor_descriptor(const struct executor *executor)
{
    return executor->ops->descriptor != NULL ? executor->ops->descriptor(executor) : -1;
}

/* Closes the kernel. Other threads of the executor have returned. */
static inline void executor_fini(struct executor *executor)
{
    executor->ops->fini(executor);
}

/* --- boundary data: see ACTION_BOUNDARY, _REUSE and _RELEASE --- */

/* Copies boundary data that are here. */
static inline void executor_take_boundary(struct executor *executor, uint64_t first, uint64_t offset, const void *data,
                                          uint64_t bytes)
{
    assert(executor_is_dependent(executor) && data != NULL);
    executor->ops->take_boundary(executor, first, offset, data, bytes);
}

/* Returns the place for boundary data that are on their way; NULL when memory is out. */
static inline void *executor_await_boundary(struct executor *executor, uint64_t first, uint64_t offset, uint64_t bytes)
{
    assert(executor_is_dependent(executor));
    return executor->ops->await_boundary(executor, first, offset, bytes);
}

/* Tells the executor that awaited boundary data have come, in the order in which they were awaited. */
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

/* Tells the executor that no boundary data of `boundary_at` are being sent any more. */
static inline void executor_release(struct executor *executor, uint64_t boundary_at)
{
    assert(executor_is_dependent(executor));
    executor->ops->release(executor, boundary_at);
}
