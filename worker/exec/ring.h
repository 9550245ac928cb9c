/* SPDX-License-Identifier: MIT */
/* The chunks that the threads of a worker share, and how they draw from them.
 *
 * A process-level chunk lies in a slot; it is cut by the closed form of a technique, so that a draw is one
 * fetch-and-add of the slot's scheduling step: the step fixes which iterations these are (DCA, in shared memory). Slots
 * follow one another in a ring, numbered from 0: a thread that finds one dry goes on with the next, if it has begun,
 * and no thread waits for another. Results are counted and digested by parts of a slot, some tens of them, so that what
 * is complete at its beginning can leave before the rest is.
 *
 * Where a chunk is one iteration, and short, what a draw costs is that the step's cache line goes from core to core. So
 * a thread may draw some steps at once (ring_thread.ahead) and takes them one by one from a line of its own; a thread
 * that finds the slot dry takes from those of others what has not begun, so that nothing waits for who drew it.
 *
 * A technique without a closed form is drawn by its recursive form, under a mutex, and told with each draw what the
 * thread has measured since the one before. Each slot has a loop of its own of it, which goes from one time step to the
 * next with each chunk that lies there, and is told then what all threads measured in other slots meanwhile: what is
 * learned counts in all that begins later.
 *
 * The owner may take what nobody has drawn off the end of a slot: the word that a draw adds to says how many steps
 * there are, too, so that each step is either drawn or cut off. What is cut off counts as done in its part.
 *
 * Why no slot is used again too early: a thread says which slot it is at before it touches it, and looks then whether
 * that is still one of those in use (ring->oldest); the owner takes a slot out of use first and looks then whether some
 * thread is at it. One of the two sees the other.
 *
 * The threads may be those of another process than the owner's, a helper: then what both write to lies in memory that
 * they share, and each has a plan of its own of how a slot is cut, which is the same as long as the technique has a
 * closed form. When such a process dies ring_mend() finds what was drawn and came to nothing.
 *
 * The owner may hold the ring, as another job has the core: no thread calls the kernel then, and each keeps its slot
 * and what it has drawn. Threads that wait for a slot stand still all the same, so that the owner knows by two counts
 * when all of them do.
 *
 * C11 atomics, and a futex for those that sleep: nothing here starts a thread, so that ThreadSanitizer, which does not
 * know the barriers of OpenMP's library, can watch all of it with threads of its own. One thread, the owner, begins and
 * takes out slots; it may draw as well. */
#pragma once

#include "common/sched/bounds.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/ranges.h"

#include <pthread.h>
#include <stdatomic.h>

/* A slot has no more steps than that: the step and the steps that may be drawn are in one word. */
#define RING_STEPS_MAX (UINT64_C(1) << 31)
/* Two threads that write to different lines do not disturb each other; two lines are fetched at a time. */
#define RING_LINE 128
/* Parts of a slot, at most. */
#define RING_PARTS 64

struct ring_part {
    _Atomic uint64_t done; /* iterations of it that are over */
    _Atomic uint64_t digest;
    _Atomic bool failed; /* an iteration did not work: all of the part is done again, and its digest does not count */
};

/* Sums of all that a thread measured. */
struct ring_measured {
    uint64_t iterations, time_ns;
};

struct ring_slot {
    _Alignas(RING_LINE) _Atomic uint64_t step; /* the next scheduling step, and the end of the steps: ring_steps() */
    /* the same for as long as somebody may draw */
    _Alignas(RING_LINE) uint64_t first;
    uint64_t count, part_count; /* iterations, also those that were cut off; of each part but the last */
    unsigned char *records;     /* where its records go, for threads of the owner's process; NULL: nowhere */
    unsigned place;             /* place of its records, for threads of other processes */
    uint64_t learned_end;       /* end of the iterations that may be drawn, without a closed form */
    bool many;                  /* chunks of one iteration: several may be drawn at once */
    bool empty;                 /* there is nothing to draw */
    /* for the owner */
    _Alignas(RING_LINE) uint64_t kept; /* iterations that were not cut off */
    /* how far it is */
    _Alignas(RING_LINE) _Atomic uint64_t done; /* iterations that are over */
    _Atomic uint64_t busy_ns;                  /* the sum over all threads */
    _Atomic uint64_t began_ns, ended_ns;       /* the first iteration began; the latest was told to be over */
    struct ring_part part[RING_PARTS];
};

/* How a slot is cut, as one process has it. A technique without a closed form: `sched`, `seen` and the slot's
 * learned_end are under ring->learning. */
struct ring_plan {
    _Atomic uint64_t number; /* the slot that it is made for, and 1 */
    struct sched_bounds bounds;
    struct sched sched;
    struct ring_measured *seen; /* [threads], in ring->measured; NULL with a closed form */
    bool bounded;
};

/* The place of a thread, and what it has done there and not told yet. */
struct ring_thread {
    _Alignas(RING_LINE) _Atomic uint64_t at; /* the slot; RING_NOWHERE */
    _Atomic uint64_t ahead;                  /* steps that are drawn and have not begun, by anybody: ring_ahead() */
    uint64_t index;                          /* place of the slot in the ring */
    unsigned ahead_most;                     /* steps to be drawn at once; 0 is 1 */
    struct ring_slot *slot;                  /* NULL: at no slot */
    uint64_t next;                           /* no slot before this one has anything for it */
    struct ring_part *part;                  /* NULL: none */
    uint64_t part_first, part_end;
    uint64_t done, digest;
    _Atomic uint64_t drawn;           /* what is left of its latest draw: ring_drawn() */
    _Atomic uint64_t calls;           /* calls of the kernel that have begun */
    _Atomic uint64_t chunks, busy_ns; /* draws, and the time that they took; for who has the figures */
};

#define RING_NOWHERE UINT64_MAX

/* Whether threads draw and compute. */
enum ring_halt { RING_GOES_ON, RING_HELD, RING_STOPPED };

/* The words that belong to no slot. */
struct ring_state {
    _Alignas(RING_LINE) _Atomic uint64_t begun; /* slots that have begun, ever */
    _Atomic uint64_t oldest;                    /* slots before this one are out of use */
    _Atomic bool wanted;                        /* the owner waits for a slot that some thread is at */
    _Atomic uint32_t halt;                      /* an enum ring_halt */
    _Alignas(RING_LINE) _Atomic uint64_t
        empty_before;                /* a thread has found nothing to draw in the slots before this one */
    _Atomic uint32_t asleep, parked; /* threads that wait for a slot; that stand still as the ring is held */
    _Atomic uint32_t wakes;          /* those that sleep do so on it */
};

struct ring {
    unsigned threads, slots;
    struct ring_state *state;       /* and behind it the threads and the slots; owned if `memory` is */
    struct ring_slot *slot;         /* [slots] */
    struct ring_thread *thread;     /* [threads] */
    struct ring_plan *plan;         /* [slots], owned */
    void *memory;                   /* owned; NULL: the state lies in memory of the caller's */
    bool joined;                    /* the owner is another process */
    struct ring_measured *measured; /* [threads], then what each slot has seen of it; owned, NULL with a closed form */
    pthread_mutex_t learning;       /* for techniques without a closed form; with `joined` for plans that are made */
    void (*notify)(void *context);
    void *context;
};

/* `notify` is called by any thread when a part or a slot is over, when nothing is left to draw, and when it leaves a
 * slot that the owner wants. -1 with one line: the technique cannot be used so, or memory is out; nothing is owned
 * then. */
int ring_init(struct ring *ring, unsigned threads, const struct sched_spec *technique, void (*notify)(void *context),
              void *context, struct error *error);

/* Slots of the ring of so many threads. */
unsigned ring_places(unsigned threads);

/* Bytes of what the processes of a ring share. */
size_t ring_bytes(unsigned threads);

/* The same in memory that is shared, ring_bytes() of zeros at a multiple of RING_LINE, for a technique with a closed
 * form: by the owner, and then by the process of the threads, which `joins`. */
int ring_init_shared(struct ring *ring, void *memory, bool joins, unsigned threads, const struct sched_spec *technique,
                     void (*notify)(void *context), void *context, struct error *error);
void ring_fini(struct ring *ring);

/* Stops the program where an invariant does not hold; for the owner. */
void ring_check(const struct ring *ring);

/* --- for the owner --- */

/* Returns the slot that begins next, if it is out of use and no thread is at it; else NULL. */
struct ring_slot *ring_free_slot(struct ring *ring);

/* Begins it with the iterations of `chunk`, 1 to RING_STEPS_MAX. Parts are as small as RING_PARTS allow, and have
 * `part_most` iterations at most (0: no limit), of which `chunk` has no more than RING_PARTS times as many. -1 with one
 * line, and nothing has begun. */
int ring_begin(struct ring *ring, const struct range *chunk, uint64_t part_most, unsigned char *records,
               struct error *error);

/* Begins the next slot with nothing to draw: the iterations of the chunk are done elsewhere. */
void ring_begin_empty(struct ring *ring, const struct range *chunk);

/* True when no thread from `first` on is at any slot, not even one out of use; else `notify` comes when one leaves. */
bool ring_is_left(struct ring *ring, unsigned first);

/* Has nothing drawn from slot `number` any more. */
void ring_close_slot(struct ring *ring, uint64_t number);

/* How many iterations of the slot nobody has drawn; others may draw them meanwhile. */
uint64_t ring_undrawn(struct ring *ring, struct ring_slot *slot);

/* Takes whole draws off the slot's end that nobody has drawn, as many as leave `least` iterations or more. Returns how
 * many iterations it keeps. */
uint64_t ring_cut(struct ring *ring, struct ring_slot *slot, uint64_t least);

/* All slots before `number` are out of use. */
void ring_release(struct ring *ring, uint64_t number);

/* Sets the ring right after the process of the threads has died: no thread is at a slot any more. A part of which
 * iterations were begun, or may have been, and are not counted as done has failed, and nobody else computes it: all of
 * its iterations that nobody is going to draw count as done. What else was drawn is kept for the thread of the same
 * index, which ring_resume() brings to it. */
void ring_mend(struct ring *ring);

/* Has the threads stand still, each behind the call of the kernel in which it is. Returns true where all do; else
 * `notify` comes when they do. */
bool ring_hold(struct ring *ring);

/* Has the threads go on. */
void ring_go_on(struct ring *ring);

/* Stops the ring: no thread draws from now on, and those that sleep wake. */
void ring_stop(struct ring *ring);

static inline struct ring_slot *ring_slot(const struct ring *ring, uint64_t number)
{
    return &ring->slot[number % ring->slots];
}

/* True when some thread has found nothing to draw in all that has begun. */
static inline bool ring_is_empty(const struct ring *ring)
{
    return atomic_load(&ring->state->empty_before) == atomic_load(&ring->state->begun);
}

static inline uint64_t ring_begun(const struct ring *ring)
{
    return atomic_load_explicit(&ring->state->begun, memory_order_relaxed); /* only the owner adds to it */
}

/* --- for each thread, with its index --- */

/* Goes back, in a process that has joined, to the slot that the thread of this index was at in the process before it.
 */
void ring_resume(struct ring *ring, unsigned thread);

/* What is left of a draw, in one word: its iterations, counted from the first of the slot. */
static inline uint64_t ring_drawn(uint64_t next, uint64_t end)
{
    return next | end << 32;
}

/* Goes to the next slot that has begun. False: there is none. */
bool ring_enter(struct ring *ring, unsigned thread);

/* Leaves a slot that is dry: all that was done must have been told. */
void ring_leave(struct ring *ring, unsigned thread);

/* True for a technique without a closed form, which wants ring_learn(). */
static inline bool ring_learns(const struct ring *ring)
{
    return ring->measured != NULL;
}

/* Steps that are drawn ahead, in one word: in which slot of the ring, the first of them, how many. While somebody is at
 * a slot its place in the ring is not used again: the word never means another slot to him than when he read it. */
#define RING_AHEAD_MAX       15
#define RING_AHEAD_LEFT_BITS 4
#define RING_AHEAD_STEP_BITS 40
#define RING_AHEAD_SLOT_BITS 20

static inline uint64_t ring_ahead(uint64_t index, uint64_t step, uint64_t left)
{
    return ((index << RING_AHEAD_STEP_BITS | step) << RING_AHEAD_LEFT_BITS) | left;
}

/* Takes a step of slot `index` that was drawn ahead, by this thread or another. False: there is none. */
static inline bool ring_take_ahead(_Atomic uint64_t *ahead, uint64_t index, uint64_t *step)
{
    const uint64_t one = ring_ahead(0, 1, 0) - 1; /* a step further, one less */
    uint64_t word = atomic_load_explicit(ahead, memory_order_relaxed);
    do
        if (word % (1u << RING_AHEAD_LEFT_BITS) == 0 || word >> (64 - RING_AHEAD_SLOT_BITS) != index)
            return false;
    while (
        !atomic_compare_exchange_weak_explicit(ahead, &word, word + one, memory_order_relaxed, memory_order_relaxed));
    *step = word >> RING_AHEAD_LEFT_BITS & ((UINT64_C(1) << RING_AHEAD_STEP_BITS) - 1);
    return true;
}

/* Draws a step of the slot, and more of them ahead where that may be. False: the slot is dry. */
bool ring_draw_step(struct ring *ring, struct ring_thread *own, uint64_t *step);

/* Draws iterations `*first` to `*end` - 1 from the slot that the thread is at. False: the slot is dry. */
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

/* Draws as ring_draw() does, if ring_learns() and ring_draw() finds every slot dry. */
bool ring_draw_learned(struct ring *ring, unsigned thread, uint64_t *first, uint64_t *end);

/* Notes that the thread has taken `time_ns` for so many iterations, which counts from its next draw on. Only if
 * ring_learns(). */
void ring_learn(struct ring *ring, unsigned thread, uint64_t iterations, uint64_t time_ns);

/* Moves the thread to the part of `iteration`, which it has drawn, and tells what it did of another part. */
void ring_take_part(struct ring *ring, unsigned thread, uint64_t iteration, uint64_t now_ns);

/* Tells what the thread has done. */
void ring_tell(struct ring *ring, unsigned thread, uint64_t now_ns);

/* Notes that the part that the thread is at has failed. */
static inline void ring_fail(struct ring_thread *own)
{
    atomic_store_explicit(&own->part->failed, true, memory_order_relaxed); /* the telling orders it */
}

static inline bool ring_has_failed(const struct ring_thread *own)
{
    return atomic_load_explicit(&own->part->failed, memory_order_relaxed);
}

static inline bool ring_is_stopped(const struct ring *ring)
{
    return atomic_load_explicit(&ring->state->halt, memory_order_relaxed) == RING_STOPPED;
}

/* True where no thread is to compute: the ring is held or stopped. */
static inline bool ring_is_halted(const struct ring *ring)
{
    return atomic_load_explicit(&ring->state->halt, memory_order_relaxed) != RING_GOES_ON;
}

/* Stands still while the ring is held. */
void ring_park(struct ring *ring);

/* Waits until there is a slot to enter, or the end: looks for `spin_ns` and sleeps then. */
void ring_wait(struct ring *ring, unsigned thread, uint64_t spin_ns);
