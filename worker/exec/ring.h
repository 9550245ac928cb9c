/* SPDX-License-Identifier: MIT */
/* The chunks that the threads of a worker share, and how threads draw from them.
 *
 * Each chunk of the worker has a slot. The closed form of a technique cuts the chunk. A draw is one fetch-and-add of
 * the slot's scheduling step; the step determines the iterations (DCA in shared memory). Slots form a ring and are
 * numbered from 0. If a thread finds its slot dry, it moves on to the next slot, if that slot has begun. No thread
 * waits for another thread. A slot is divided into some tens of parts. Results are counted and digested by parts, so
 * complete parts at the beginning of the slot can be sent early.
 *
 * If draws are short, a draw may cost as much as moving the step's cache line from core to core. So a thread may draw
 * several steps at once (ring_thread.ahead) and take them one by one from a cache line of its own. A thread that finds
 * the slot dry takes steps that other threads have drawn ahead and not begun.
 *
 * If the technique has no closed form, threads draw by its recursive form, under a mutex. With each draw the technique
 * gets what the thread has measured since its last draw. Each slot has its own instance of the technique. When a chunk
 * begins in the slot, the instance gets what all threads have measured in other slots, and begins a time step. So a
 * chunk profits from all measurements made before it begins.
 *
 * The owner may cut undrawn iterations off the end of a slot. The word that a draw increments also holds the end of the
 * steps, so each step is either drawn or cut off. Iterations that are cut off count as done in their part.
 *
 * A slot is not reused too early. A thread announces its slot before it touches it, and then checks that the slot is
 * still in use (ring->oldest). The owner first takes a slot out of use, and then looks whether a thread has announced
 * it. So at least one of the two sees what the other has written.
 *
 * The threads may be in a helper, that is, in another process than the owner. Then the data that both processes write
 * are in shared memory. Each process has its own plan of how a slot is cut. The plans are equal, because the technique
 * must have a closed form. After the death of the helper, ring_mend() finds the iterations that were drawn but not
 * done.
 *
 * If another job has the core, the owner may hold the ring. Then no thread calls the kernel, and each keeps its slot
 * and its draw. Threads that wait for a slot count as paused, too. So two counters (asleep, parked) tell the owner
 * whether all threads pause.
 *
 * The ring uses C11 atomics, and a futex for sleeping threads. It starts no thread. So a test can start its own threads
 * and run the ring under ThreadSanitizer, which does not know OpenMP's barriers. One thread, the owner, begins and
 * removes slots; it may draw as well. */
#pragma once

#include "common/sched/bounds.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/ranges.h"

#include <pthread.h>
#include <stdatomic.h>

/* Limit of the steps in a slot: the next step and the end of the steps share one word. */
#define RING_STEPS_MAX (UINT64_C(1) << 31)
/* Threads that write to different multiples of RING_LINE do not slow each other down. RING_LINE is twice a cache line,
 * because processors fetch lines in pairs. */
#define RING_LINE  128
#define RING_PARTS 64

struct ring_part {
    _Atomic uint64_t done;
    _Atomic uint64_t digest;
    /* true if an iteration of the part has failed: then the whole part is repeated, and its digest does not count */
    _Atomic bool failed;
};

struct ring_measured {
    uint64_t iterations, time_ns;
};

struct ring_slot {
    _Alignas(RING_LINE) _Atomic uint64_t step; /* next scheduling step and end of the steps: ring_steps() */
    /* The following members do not change while threads may draw. */
    _Alignas(RING_LINE) uint64_t first;
    uint64_t count, part_count;
    unsigned char *records; /* the slot's records, for threads of the owner's process; NULL: none */
    unsigned place;         /* if the threads are in another process: index of the slot's records in shared memory */
    uint64_t learned_end;   /* if there is no closed form: end of the iterations that can be drawn */
    bool many;
    bool empty;
    _Alignas(RING_LINE) uint64_t kept; /* for the owner: number of iterations that were not cut off */
    _Alignas(RING_LINE) _Atomic uint64_t done;
    _Atomic uint64_t busy_ns;
    _Atomic uint64_t began_ns, ended_ns;
    struct ring_part part[RING_PARTS];
};

struct ring_plan {
    _Atomic uint64_t number;
    struct sched_bounds bounds;
    struct sched sched;
    struct ring_measured *seen; /* [threads]: the measurements that `sched` has already got; NULL with a closed form */
    bool bounded;
};

struct ring_thread {
    _Alignas(RING_LINE) _Atomic uint64_t at;
    _Atomic uint64_t ahead;
    uint64_t index;
    unsigned ahead_most; /* steps to draw at once; 0 means 1 */
    struct ring_slot *slot;
    uint64_t next;
    struct ring_part *part;
    uint64_t part_first, part_end;
    uint64_t done, digest;
    _Atomic uint64_t drawn;
    _Atomic uint64_t calls;
    _Atomic uint64_t chunks, busy_ns;
};

#define RING_NOWHERE UINT64_MAX

enum ring_halt { RING_GOES_ON, RING_HELD, RING_STOPPED };

struct ring_state {
    _Alignas(RING_LINE) _Atomic uint64_t begun;
    _Atomic uint64_t oldest; /* slots before this number are out of use */
    _Atomic bool wanted;
    _Atomic uint32_t halt;
    _Alignas(RING_LINE) _Atomic uint64_t empty_before;
    /* number of threads that wait for a slot, and of threads that pause while the ring is held */
    _Atomic uint32_t asleep, parked;
    _Atomic uint32_t wakes;
};

struct ring {
    unsigned threads, slots;
    struct ring_state *state; /* the threads and the slots follow it in memory; owned if `memory` is not NULL */
    struct ring_slot *slot;
    struct ring_thread *thread;
    struct ring_plan *plan; /* [slots], owned */
    void *memory;           /* owned; NULL: the state is in the caller's memory */
    bool joined;
    /* [threads] for the ring, then the arrays `seen` of all plans; owned; NULL with a closed form. */
    struct ring_measured *measured;
    /* If there is no closed form, protects the techniques. If `joined`, protects the making of plans. */
    pthread_mutex_t learning;
    void (*notify)(void *context);
    void *context;
};

/* Any thread calls `notify` in three cases: a part or a slot is finished, nothing is left to draw, or the thread leaves
 * a slot that the owner wants. ring_init() fails if the technique is unsuitable or memory runs out; then nothing is
 * owned. */
int ring_init(struct ring *ring, unsigned threads, const struct sched_spec *technique, void (*notify)(void *context),
              void *context, struct error *error);

unsigned ring_places(unsigned threads);

size_t ring_bytes(unsigned threads);

/* Like ring_init(), but in shared memory, for a technique with a closed form. `memory` has ring_bytes() bytes, which
 * are zero, and is aligned to RING_LINE. The owner's process calls this function first, with `joins` false. Then the
 * threads' process calls it with `joins` true. */
int ring_init_shared(struct ring *ring, void *memory, bool joins, unsigned threads, const struct sched_spec *technique,
                     void (*notify)(void *context), void *context, struct error *error);
void ring_fini(struct ring *ring);

void ring_check(const struct ring *ring);

/* This function and those up to ring_is_empty() are for the owner. Returns the slot to begin next; NULL if that slot is
 * in use or a thread is at it. */
struct ring_slot *ring_free_slot(struct ring *ring);

/* Begins the free slot with the iterations of `chunk`, 1 to RING_STEPS_MAX of them. Parts are as small as RING_PARTS
 * permits. If `part_most` is not 0, it limits the iterations of a part; `chunk` must then have at most RING_PARTS *
 * part_most iterations. On failure nothing has begun. */
int ring_begin(struct ring *ring, const struct range *chunk, uint64_t part_most, unsigned char *records,
               struct error *error);

void ring_begin_empty(struct ring *ring, const struct range *chunk);

/* Returns true if no thread with an index of `first` or more is at a slot. Otherwise `notify` is called when one of
 * these threads leaves its slot. */
bool ring_is_left(struct ring *ring, unsigned first);

void ring_close_slot(struct ring *ring, uint64_t number);

uint64_t ring_undrawn(struct ring *ring, struct ring_slot *slot);

/* Cuts undrawn steps off the end of the slot, but keeps at least `least` iterations. Returns how many iterations are
 * kept. */
uint64_t ring_cut(struct ring *ring, struct ring_slot *slot, uint64_t least);

void ring_release(struct ring *ring, uint64_t number);

/* Repairs the ring after the process of the threads has died. If iterations of a part may have begun and are not done,
 * the part is marked as failed, and the ring does not compute it any more. Iterations of a failed part count as done if
 * no thread will draw them. Other drawn iterations are kept: the thread with the same index in the next process gets
 * them by ring_resume(). */
void ring_mend(struct ring *ring);

/* Makes each thread pause after its present call of the kernel. Returns true if all threads pause already. Otherwise
 * `notify` is called as soon as all pause. */
bool ring_hold(struct ring *ring);

void ring_go_on(struct ring *ring);

void ring_stop(struct ring *ring);

static inline struct ring_slot *ring_slot(const struct ring *ring, uint64_t number)
{
    return &ring->slot[number % ring->slots];
}

static inline bool ring_is_empty(const struct ring *ring)
{
    return atomic_load(&ring->state->empty_before) == atomic_load(&ring->state->begun);
}

static inline uint64_t ring_begun(const struct ring *ring)
{
    /* A relaxed load is enough, because only the owner writes this word. */
    return atomic_load_explicit(&ring->state->begun, memory_order_relaxed);
}

/* This function and those below are for a thread with the index `thread`. Call ring_resume() in a process that has
 * joined: it returns the thread to the slot at which the thread with the same index was in the previous process. */
void ring_resume(struct ring *ring, unsigned thread);

/* Packs the rest of a draw, [next, end), into one word. Iterations are relative to the first iteration of the slot. */
static inline uint64_t ring_drawn(uint64_t next, uint64_t end)
{
    return next | end << 32;
}

bool ring_enter(struct ring *ring, unsigned thread);

void ring_leave(struct ring *ring, unsigned thread);

static inline bool ring_learns(const struct ring *ring)
{
    return ring->measured != NULL;
}

/* A word of steps that were drawn ahead: index of the slot, first step, number of steps. The index is unique: it is not
 * reused while a thread is at the slot. */
#define RING_AHEAD_MAX       15
#define RING_AHEAD_LEFT_BITS 4
#define RING_AHEAD_STEP_BITS 40
#define RING_AHEAD_SLOT_BITS 20

static inline uint64_t ring_ahead(uint64_t index, uint64_t step, uint64_t left)
{
    return ((index << RING_AHEAD_STEP_BITS | step) << RING_AHEAD_LEFT_BITS) | left;
}

static inline bool ring_take_ahead(_Atomic uint64_t *ahead, uint64_t index, uint64_t *step)
{
    /* Adding `one` to the word increments the first step and decrements the number of steps. */
    const uint64_t one = ring_ahead(0, 1, 0) - 1;
    uint64_t word = atomic_load_explicit(ahead, memory_order_relaxed);
    do
        if (word % (1u << RING_AHEAD_LEFT_BITS) == 0 || word >> (64 - RING_AHEAD_SLOT_BITS) != index)
            return false;
    while (
        !atomic_compare_exchange_weak_explicit(ahead, &word, word + one, memory_order_relaxed, memory_order_relaxed));
    *step = word >> RING_AHEAD_LEFT_BITS & ((UINT64_C(1) << RING_AHEAD_STEP_BITS) - 1);
    return true;
}

bool ring_draw_step(struct ring *ring, struct ring_thread *own, uint64_t *step);

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

bool ring_draw_learned(struct ring *ring, unsigned thread, uint64_t *first, uint64_t *end);

void ring_learn(struct ring *ring, unsigned thread, uint64_t iterations, uint64_t time_ns);

void ring_take_part(struct ring *ring, unsigned thread, uint64_t iteration, uint64_t now_ns);

void ring_tell(struct ring *ring, unsigned thread, uint64_t now_ns);

static inline void ring_fail(struct ring_thread *own)
{
    /* A relaxed store is enough: the later ring_tell() publishes it. */
    atomic_store_explicit(&own->part->failed, true, memory_order_relaxed);
}

static inline bool ring_has_failed(const struct ring_thread *own)
{
    return atomic_load_explicit(&own->part->failed, memory_order_relaxed);
}

static inline bool ring_is_stopped(const struct ring *ring)
{
    return atomic_load_explicit(&ring->state->halt, memory_order_relaxed) == RING_STOPPED;
}

static inline bool ring_is_halted(const struct ring *ring)
{
    return atomic_load_explicit(&ring->state->halt, memory_order_relaxed) != RING_GOES_ON;
}

void ring_park(struct ring *ring);

/* Waits until there is a slot to enter or the ring is stopped: spins for `spin_ns`, then sleeps. */
void ring_wait(struct ring *ring, unsigned thread, uint64_t spin_ns);
