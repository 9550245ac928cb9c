/* SPDX-License-Identifier: MIT */
/* The chunks that the threads of a worker share, and how threads draw from them.
 *
 * A process-level chunk is in a slot and is cut by the closed form of a technique: a draw is one fetch-and-add of the
 * slot's scheduling step, which determines the iterations (DCA in shared memory). Slots form a ring and are numbered
 * from 0: a thread that finds one dry moves on to the next one, if it has begun, and no thread waits for another.
 * Results are counted and digested by parts of a slot, some tens of them, so that complete parts at its beginning can
 * leave early.
 *
 * If chunks are single short iterations, the cost of a draw is that the step's cache line moves from core to core. So a
 * thread may draw some steps at once (ring_thread.ahead) and takes them one by one from a line of its own; a thread
 * that finds the slot dry takes steps that others have not begun.
 *
 * A technique without a closed form is drawn by its recursive form under a mutex, and gets with each draw what the
 * thread has measured since the last one. Each slot has its own instance of the loop, which begins a time step with
 * each chunk in the slot and then gets what all threads have measured in other slots: all that is learned applies to
 * what begins later.
 *
 * The owner may cut undrawn iterations off the end of a slot: the word that a draw increments also has the end of the
 * steps, so each step is either drawn or cut off. Iterations that are cut off count as done in their part.
 *
 * A slot is not reused too early: a thread announces its slot before it touches it and then checks that it is still in
 * use (ring->oldest); the owner first takes a slot out of use and then checks for threads. One of them sees the other.
 *
 * The threads may belong to another process than the owner, a helper: then what both write is in shared memory, and
 * each has its own plan of how a slot is cut; plans are equal because the technique must have a closed form. After the
 * death of such a process ring_mend() finds what was drawn but not done.
 *
 * The owner may hold the ring, because another job has the core: then no thread calls the kernel, and each keeps its
 * slot and its draw. Threads that wait for a slot count as paused too, so that two counters tell the owner when all
 * are.
 *
 * C11 atomics, and a futex for sleeping threads. Nothing here starts a thread, so ThreadSanitizer, which does not know
 * OpenMP's barriers, can check it with its own threads. One thread, the owner, begins and removes slots; it may draw as
 * well. */
#pragma once

#include "common/sched/bounds.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/ranges.h"

#include <pthread.h>
#include <stdatomic.h>

/* Limit of steps in a slot: next step and end share one word. */
#define RING_STEPS_MAX (UINT64_C(1) << 31)
/* Threads that write to different lines do not disturb each other; processors fetch two cache lines at a time. */
#define RING_LINE 128
/* Limit of parts in a slot. */
#define RING_PARTS 64

struct ring_part {
    _Atomic uint64_t done; /* finished iterations */
    _Atomic uint64_t digest;
    _Atomic bool failed; /* an iteration has failed: the whole part is repeated, and its digest does not count */
};

/* Sums of a thread's measurements. */
struct ring_measured {
    uint64_t iterations, time_ns;
};

struct ring_slot {
    _Alignas(RING_LINE) _Atomic uint64_t step; /* next scheduling step and end of the steps: ring_steps() */
    /* constant while threads may draw */
    _Alignas(RING_LINE) uint64_t first;
    uint64_t count, part_count;                /* iterations, also those cut off; and of each part but the last */
    unsigned char *records;                    /* its records, for threads of the owner's process; NULL: none */
    unsigned place;                            /* index of its records, for threads of other processes */
    uint64_t learned_end;                      /* end of the drawable iterations, without a closed form */
    bool many;                                 /* chunks of one iteration: several may be drawn at once */
    bool empty;                                /* nothing to draw */
    _Alignas(RING_LINE) uint64_t kept;         /* for the owner: iterations not cut off */
    _Alignas(RING_LINE) _Atomic uint64_t done; /* progress: finished iterations */
    _Atomic uint64_t busy_ns;                  /* sum over all threads */
    _Atomic uint64_t began_ns, ended_ns;       /* begin of the first iteration, and last report */
    struct ring_part part[RING_PARTS];
};

/* How a slot is cut, for one process. Without a closed form, `sched`, `seen` and the slot's learned_end are protected
 * by ring->learning. */
struct ring_plan {
    _Atomic uint64_t number; /* slot for which it is made, plus 1 */
    struct sched_bounds bounds;
    struct sched sched;
    struct ring_measured *seen; /* [threads], in ring->measured; NULL with a closed form */
    bool bounded;
};

/* A thread's position, and what it has done there but not reported. */
struct ring_thread {
    _Alignas(RING_LINE) _Atomic uint64_t at; /* slot, or RING_NOWHERE */
    _Atomic uint64_t ahead;                  /* steps drawn ahead that no thread has begun: ring_ahead() */
    uint64_t index;                          /* index of the slot in the ring */
    unsigned ahead_most;                     /* steps to draw at once; 0 means 1 */
    struct ring_slot *slot;                  /* NULL: none */
    uint64_t next;                           /* no earlier slot has anything for it */
    struct ring_part *part;                  /* NULL: none */
    uint64_t part_first, part_end;
    uint64_t done, digest;
    _Atomic uint64_t drawn;           /* rest of its last draw: ring_drawn() */
    _Atomic uint64_t calls;           /* begun calls of the kernel */
    _Atomic uint64_t chunks, busy_ns; /* draws and their time, for statistics */
};

#define RING_NOWHERE UINT64_MAX

/* Whether threads draw and compute. */
enum ring_halt { RING_GOES_ON, RING_HELD, RING_STOPPED };

/* The words shared by all slots. */
struct ring_state {
    _Alignas(RING_LINE) _Atomic uint64_t begun;        /* slots begun so far */
    _Atomic uint64_t oldest;                           /* earlier slots are out of use */
    _Atomic bool wanted;                               /* the owner waits for a slot that a thread uses */
    _Atomic uint32_t halt;                             /* an enum ring_halt */
    _Alignas(RING_LINE) _Atomic uint64_t empty_before; /* a thread has found nothing to draw in earlier slots */
    _Atomic uint32_t asleep, parked; /* threads that wait for a slot; threads that pause while the ring is held */
    _Atomic uint32_t wakes;          /* sleeping threads wait on it */
};

struct ring {
    unsigned threads, slots;
    struct ring_state *state;       /* followed by the threads and the slots; owned if `memory` is */
    struct ring_slot *slot;         /* [slots] */
    struct ring_thread *thread;     /* [threads] */
    struct ring_plan *plan;         /* [slots], owned */
    void *memory;                   /* owned; NULL: the state is in the caller's memory */
    bool joined;                    /* the owner is another process */
    struct ring_measured *measured; /* [threads], then what each slot has seen; owned, NULL with a closed form */
    pthread_mutex_t learning;       /* for techniques without a closed form; with `joined` for making plans */
    void (*notify)(void *context);
    void *context;
};

/* `notify` is called by any thread when a part or a slot is finished, nothing is left to draw, or it leaves a slot that
 * the owner wants. Fails if the technique is unsuitable or memory runs out; then nothing is owned. */
int ring_init(struct ring *ring, unsigned threads, const struct sched_spec *technique, void (*notify)(void *context),
              void *context, struct error *error);

/* Number of slots for so many threads. */
unsigned ring_places(unsigned threads);

/* Size of the memory shared by the processes of a ring. */
size_t ring_bytes(unsigned threads);

/* The same in shared memory, ring_bytes() of zeros aligned to RING_LINE, for a technique with a closed form: called by
 * the owner, then by the process of the threads with `joins`. */
int ring_init_shared(struct ring *ring, void *memory, bool joins, unsigned threads, const struct sched_spec *technique,
                     void (*notify)(void *context), void *context, struct error *error);
void ring_fini(struct ring *ring);

/* Asserts invariants; for the owner. */
void ring_check(const struct ring *ring);

/* For the owner, as the functions up to ring_is_empty(). The next slot to begin, if it is out of use and no thread is
 * at it; else NULL. */
struct ring_slot *ring_free_slot(struct ring *ring);

/* Begins it with the iterations of `chunk`, 1 to RING_STEPS_MAX. Parts are as small as RING_PARTS permits, with at most
 * `part_most` iterations (0: no limit), which must suffice for `chunk`. On failure nothing has begun. */
int ring_begin(struct ring *ring, const struct range *chunk, uint64_t part_most, unsigned char *records,
               struct error *error);

/* Begins the next slot without anything to draw: its iterations are done elsewhere. */
void ring_begin_empty(struct ring *ring, const struct range *chunk);

/* True if no thread from `first` on is at a slot; else `notify` is called when one leaves. */
bool ring_is_left(struct ring *ring, unsigned first);

/* Prevents further draws from slot `number`. */
void ring_close_slot(struct ring *ring, uint64_t number);

/* Undrawn iterations of the slot, which may be drawn meanwhile. */
uint64_t ring_undrawn(struct ring *ring, struct ring_slot *slot);

/* Cuts undrawn draws off the end of the slot, but leaves at least `least` iterations. Returns how many it keeps. */
uint64_t ring_cut(struct ring *ring, struct ring_slot *slot, uint64_t least);

/* Takes all slots before `number` out of use. */
void ring_release(struct ring *ring, uint64_t number);

/* Repairs the ring after the process of the threads has died; no thread is at a slot any more. A part with iterations
 * that may have begun and are not done has failed and is not computed in the ring: those of its iterations that will
 * not be drawn count as done. Other draws are kept for the threads with the same index, which get them by
 * ring_resume(). */
void ring_mend(struct ring *ring);

/* Pauses the threads after their present calls of the kernel. True if all are paused; else `notify` is called when they
 * are. */
bool ring_hold(struct ring *ring);

/* Continues the threads. */
void ring_go_on(struct ring *ring);

/* Stops the ring: threads draw no more, and sleeping ones wake. */
void ring_stop(struct ring *ring);

static inline struct ring_slot *ring_slot(const struct ring *ring, uint64_t number)
{
    return &ring->slot[number % ring->slots];
}

/* True if a thread has found nothing to draw in all slots. */
static inline bool ring_is_empty(const struct ring *ring)
{
    return atomic_load(&ring->state->empty_before) == atomic_load(&ring->state->begun);
}

static inline uint64_t ring_begun(const struct ring *ring)
{
    return atomic_load_explicit(&ring->state->begun, memory_order_relaxed); /* only the owner writes it */
}

/* For each thread with its index, as the following functions. In a process that has joined: returns to the slot of this
 * thread in the previous process. */
void ring_resume(struct ring *ring, unsigned thread);

/* The rest of a draw in one word: iterations, relative to the first of the slot. */
static inline uint64_t ring_drawn(uint64_t next, uint64_t end)
{
    return next | end << 32;
}

/* Moves to the next begun slot. False: there is none. */
bool ring_enter(struct ring *ring, unsigned thread);

/* Leaves a dry slot after everything was reported. */
void ring_leave(struct ring *ring, unsigned thread);

/* True for a technique without a closed form, which needs ring_learn(). */
static inline bool ring_learns(const struct ring *ring)
{
    return ring->measured != NULL;
}

/* Steps drawn ahead, in one word: index of the slot, first step, number. While a thread is at a slot its index is not
 * reused, so the word cannot mean another slot. */
#define RING_AHEAD_MAX       15
#define RING_AHEAD_LEFT_BITS 4
#define RING_AHEAD_STEP_BITS 40
#define RING_AHEAD_SLOT_BITS 20

static inline uint64_t ring_ahead(uint64_t index, uint64_t step, uint64_t left)
{
    return ((index << RING_AHEAD_STEP_BITS | step) << RING_AHEAD_LEFT_BITS) | left;
}

/* Takes a step of slot `index` that was drawn ahead by any thread. False: there is none. */
static inline bool ring_take_ahead(_Atomic uint64_t *ahead, uint64_t index, uint64_t *step)
{
    const uint64_t one = ring_ahead(0, 1, 0) - 1; /* next step, one less */
    uint64_t word = atomic_load_explicit(ahead, memory_order_relaxed);
    do
        if (word % (1u << RING_AHEAD_LEFT_BITS) == 0 || word >> (64 - RING_AHEAD_SLOT_BITS) != index)
            return false;
    while (
        !atomic_compare_exchange_weak_explicit(ahead, &word, word + one, memory_order_relaxed, memory_order_relaxed));
    *step = word >> RING_AHEAD_LEFT_BITS & ((UINT64_C(1) << RING_AHEAD_STEP_BITS) - 1);
    return true;
}

/* Draws a step of the slot, and further ones ahead if possible. False: the slot is dry. */
bool ring_draw_step(struct ring *ring, struct ring_thread *own, uint64_t *step);

/* Draws iterations `*first` to `*end` - 1 from the thread's slot. False: the slot is dry. */
static inline bool ring_draw(struct ring *ring, unsigned thread, uint64_t *first, uint64_t *end)
{
    struct ring_thread *own = &ring->thread[thread];
    struct ring_slot *slot = own->slot;
    uint64_t step;
    if (!ring_take_ahead(&own->ahead, own->index, &step) && !ring_draw_step(ring, own, &step))
        return false;
    uint64_t start, count = sched_bounds_chunk(&ring->plan[own->index].bounds, step, &start);
    *first = slot->first + start;
    *end = *first + count;
    return true;
}

/* The same if ring_learns(), after ring_draw() has found all slots dry. */
bool ring_draw_learned(struct ring *ring, unsigned thread, uint64_t *first, uint64_t *end);

/* Records that the thread took `time_ns` for so many iterations, for its next draw. Only if ring_learns(). */
void ring_learn(struct ring *ring, unsigned thread, uint64_t iterations, uint64_t time_ns);

/* Moves the thread to the part of `iteration`, which it has drawn, and reports the previous part. */
void ring_take_part(struct ring *ring, unsigned thread, uint64_t iteration, uint64_t now_ns);

/* Reports what the thread has done. */
void ring_tell(struct ring *ring, unsigned thread, uint64_t now_ns);

/* Marks the thread's part as failed. */
static inline void ring_fail(struct ring_thread *own)
{
    atomic_store_explicit(&own->part->failed, true, memory_order_relaxed); /* ordered by the report */
}

static inline bool ring_has_failed(const struct ring_thread *own)
{
    return atomic_load_explicit(&own->part->failed, memory_order_relaxed);
}

static inline bool ring_is_stopped(const struct ring *ring)
{
    return atomic_load_explicit(&ring->state->halt, memory_order_relaxed) == RING_STOPPED;
}

/* True if no thread may compute: the ring is held or stopped. */
static inline bool ring_is_halted(const struct ring *ring)
{
    return atomic_load_explicit(&ring->state->halt, memory_order_relaxed) != RING_GOES_ON;
}

/* Waits while the ring is held. */
void ring_park(struct ring *ring);

/* Waits for a slot to enter, or the end: spins for `spin_ns`, then sleeps. */
void ring_wait(struct ring *ring, unsigned thread, uint64_t spin_ns);
