/* SPDX-License-Identifier: MIT */
/* The threads' chunks: see ring.h. */
#include "worker/exec/ring.h"

#include "common/os/clock.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Slots besides one for each thread: chunks of one iteration keep all threads busy. */
#define SPARE_SLOTS 8
/* A word has the next step of a slot in its lower half, the end of the steps in its upper one. Threads that find it dry
 * add some steps to it in vain, each a few of RING_AHEAD_MAX: RING_STEPS_MAX leaves room for those. */
#define STEP_BITS 32

/* --- set-up --- */

static uint64_t ring_steps(uint64_t step, uint64_t end)
{
    return end << STEP_BITS | step;
}

static uint64_t next_step(uint64_t steps)
{
    return steps & ((UINT64_C(1) << STEP_BITS) - 1);
}

static uint64_t end_of_steps(uint64_t steps)
{
    return steps >> STEP_BITS;
}

static int init_slots(struct ring *ring, const struct sched_spec *technique, struct error *error)
{
    const struct sched_config config = {.workers = ring->threads};
    for (unsigned i = 0; i < ring->slots; i++) {
        struct sched *sched = &ring->slot[i].sched;
        bool is_init = sched_init(sched, technique, &config, error) == 0;
        if (is_init && (ring_learns(ring) || sched_check_closed(sched, error) == 0))
            continue;
        ring->slots = is_init ? i + 1 : i;
        return -1;
    }
    return 0;
}

static void *lines(size_t count, size_t size)
{
    void *memory = aligned_alloc(RING_LINE, count * size);
    if (memory != NULL)
        memset(memory, 0, count * size);
    return memory;
}

/* Makes room for measured times, where the technique has no closed form. False: memory is out. */
static bool init_measured(struct ring *ring, const struct sched_spec *technique)
{
    if (technique->technique->at != NULL)
        return true;
    ring->measured = calloc((size_t)(ring->slots + 1) * ring->threads, sizeof *ring->measured);
    for (unsigned i = 0; ring->measured != NULL && i < ring->slots; i++)
        ring->slot[i].seen = ring->measured + (size_t)(i + 1) * ring->threads;
    return ring->measured != NULL;
}

int ring_init(struct ring *ring, unsigned threads, const struct sched_spec *technique, void (*notify)(void *context),
              void *context, struct error *error)
{
    *ring = (struct ring){.threads = threads, .slots = threads + SPARE_SLOTS, .notify = notify, .context = context};
    pthread_mutex_init(&ring->lock, NULL);
    pthread_mutex_init(&ring->learning, NULL);
    pthread_cond_init(&ring->wake, NULL);
    ring->slot = lines(ring->slots, sizeof *ring->slot);
    ring->thread = lines(threads, sizeof *ring->thread);
    if (ring->slot == NULL || ring->thread == NULL || !init_measured(ring, technique)) {
        ring->slots = 0;
        ring_fini(ring);
        return error_set(error, "out of memory for %u threads", threads);
    }
    for (unsigned i = 0; i < threads; i++)
        atomic_init(&ring->thread[i].at, RING_NOWHERE);
    if (init_slots(ring, technique, error) == 0)
        return 0;
    ring_fini(ring);
    return -1;
}

static void drop_slot_bounds(struct ring_slot *slot)
{
    if (slot->bounded)
        sched_bounds_fini(&slot->bounds);
    slot->bounded = slot->many = false;
}

void ring_fini(struct ring *ring)
{
    for (unsigned i = 0; i < ring->slots; i++) {
        drop_slot_bounds(&ring->slot[i]);
        sched_fini(&ring->slot[i].sched);
    }
    free(ring->slot);
    free(ring->thread);
    free(ring->measured);
    pthread_mutex_destroy(&ring->lock);
    pthread_mutex_destroy(&ring->learning);
    pthread_cond_destroy(&ring->wake);
    ring->slot = NULL;
    ring->thread = NULL;
    ring->measured = NULL;
    ring->slots = 0;
}

/* Checks the ring. Threads that draw meanwhile change the values that are read here, but nothing that is asserted. */
void ring_check(const struct ring *ring)
{
    const uint64_t oldest = atomic_load(&ring->oldest), begun = ring_begun(ring);
    assert(oldest <= begun && begun - oldest <= ring->slots && "slots in use have a place in the ring");
    assert(atomic_load(&ring->empty_before) <= begun && "a thread finds dry what has begun");
    for (unsigned i = 0; i < ring->threads; i++) {
        const uint64_t at = atomic_load(&ring->thread[i].at);
        assert((at == RING_NOWHERE || at < begun) && "a thread is at a slot that has begun");
    }
    for (uint64_t number = oldest; number < begun; number++) {
        const struct ring_slot *slot = ring_slot(ring, number);
        assert(atomic_load_explicit(&slot->done, memory_order_relaxed) <= slot->count && "no iteration is done twice");
        assert(slot->kept <= slot->count && "what was cut off was the slot's");
        assert(slot->count <= RING_PARTS * slot->part_count && "a slot has so many parts at most");
    }
}

/* --- the owner --- */

struct ring_slot *ring_free_slot(struct ring *ring)
{
    uint64_t begun = ring_begun(ring), oldest = atomic_load_explicit(&ring->oldest, memory_order_relaxed);
    if (begun < ring->slots)
        return ring_slot(ring, begun);
    uint64_t before = begun - ring->slots; /* number under which the slot was used last */
    if (before >= oldest)
        return NULL;
    atomic_store(&ring->wanted, true);
    for (unsigned i = 0; i < ring->threads; i++)
        if (atomic_load(&ring->thread[i].at) <= before)
            return NULL;
    atomic_store_explicit(&ring->wanted, false, memory_order_relaxed);
    return ring_slot(ring, begun);
}

/* Describes the slot; the threads see it when it has begun. */
static void describe_slot(struct ring_slot *slot, const struct range *chunk, uint64_t part_most, unsigned char *records)
{
    uint64_t part = (chunk->count + RING_PARTS - 1) / RING_PARTS;
    slot->first = chunk->first;
    slot->count = slot->kept = chunk->count;
    slot->part_count = part_most > 0 && part > part_most ? part_most : part;
    slot->records = records;
    atomic_store_explicit(&slot->done, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->busy_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->began_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->ended_ns, 0, memory_order_relaxed);
    for (unsigned i = 0; i < RING_PARTS; i++) {
        atomic_store_explicit(&slot->part[i].done, 0, memory_order_relaxed);
        atomic_store_explicit(&slot->part[i].digest, 0, memory_order_relaxed);
        atomic_store_explicit(&slot->part[i].failed, false, memory_order_relaxed);
    }
}

/* Wakes as many of the sleeping threads as there is something for. */
static void wake_threads(struct ring *ring, uint64_t chunks)
{
    unsigned asleep = atomic_load(&ring->asleep);
    if (asleep == 0)
        return;
    pthread_mutex_lock(&ring->lock);
    if (chunks >= asleep)
        pthread_cond_broadcast(&ring->wake);
    else
        for (uint64_t i = 0; i < chunks; i++)
            pthread_cond_signal(&ring->wake);
    pthread_mutex_unlock(&ring->lock);
}

/* Tells the slot's technique what the thread has measured since it was told last. */
static void feed_slot(struct ring *ring, struct ring_slot *slot, unsigned thread)
{
    const struct ring_measured *all = &ring->measured[thread];
    struct ring_measured *seen = &slot->seen[thread];
    const struct sched_feedback feedback = {
        .worker = thread,
        .chunks = 1,
        .iterations = all->iterations - seen->iterations,
        .compute_s = (double)(all->time_ns - seen->time_ns) / 1e9,
    };
    *seen = *all;
    sched_feedback(&slot->sched, &feedback);
}

int ring_begin(struct ring *ring, const struct range *chunk, uint64_t part_most, unsigned char *records,
               struct error *error)
{
    const uint64_t begun = ring_begun(ring);
    struct ring_slot *slot = ring_slot(ring, begun);
    int result;
    assert(chunk->count > 0 && chunk->count <= RING_STEPS_MAX && "a slot has so many steps at most");
    assert((part_most == 0 || chunk->count <= RING_PARTS * part_most) && "a chunk fits its parts");
    drop_slot_bounds(slot);
    if (ring_learns(ring)) { /* the technique begins a time step, with all that was measured in other slots */
        pthread_mutex_lock(&ring->learning);
        for (unsigned i = 0; i < ring->threads; i++)
            feed_slot(ring, slot, i);
        result = sched_again(&slot->sched, chunk->count, error);
        pthread_mutex_unlock(&ring->learning);
        slot->bounds = (struct sched_bounds){.sched = &slot->sched};
        slot->learned_end = chunk->count;
    } else {
        result = sched_again(&slot->sched, chunk->count, error);
        if (result == 0)
            result = sched_bounds_init(&slot->bounds, &slot->sched, error);
        slot->bounded = result == 0;
    }
    if (result < 0)
        return -1;
    slot->many = slot->bounds.equal == 1 && slot->bounds.count < UINT64_C(1) << RING_AHEAD_STEP_BITS &&
                 ring->slots <= 1u << RING_AHEAD_SLOT_BITS;
    describe_slot(slot, chunk, part_most, records);
    atomic_store_explicit(&slot->step, ring_steps(0, slot->bounds.count), memory_order_relaxed);
    atomic_store(&ring->begun, begun + 1);
    wake_threads(ring, ring_learns(ring) ? chunk->count : slot->bounds.count);
    return 0;
}

void ring_begin_empty(struct ring *ring, const struct range *chunk)
{
    uint64_t begun = ring_begun(ring);
    struct ring_slot *slot = ring_slot(ring, begun);
    drop_slot_bounds(slot);
    slot->bounds = (struct sched_bounds){.sched = &slot->sched};
    describe_slot(slot, chunk, 0, NULL);
    slot->learned_end = 0;
    atomic_store_explicit(&slot->step, ring_steps(0, 0), memory_order_relaxed);
    atomic_store(&ring->begun, begun + 1);
}

bool ring_is_left(struct ring *ring)
{
    atomic_store(&ring->wanted, true);
    for (unsigned i = 1; i < ring->threads; i++)
        if (atomic_load(&ring->thread[i].at) != RING_NOWHERE)
            return false;
    atomic_store_explicit(&ring->wanted, false, memory_order_relaxed);
    return true;
}

void ring_close_slot(struct ring *ring, uint64_t number)
{
    struct ring_slot *slot = ring_slot(ring, number);
    atomic_fetch_and_explicit(&slot->step, ring_steps(UINT32_MAX, 0), memory_order_relaxed);
    if (ring_learns(ring)) {
        pthread_mutex_lock(&ring->learning);
        slot->learned_end = 0;
        pthread_mutex_unlock(&ring->learning);
    }
    for (unsigned i = 0; slot->many && i < ring->threads; i++)
        for (uint64_t step; ring_take_ahead(&ring->thread[i].ahead, number % ring->slots, &step);)
            ;
}

static uint64_t start_of_step(const struct ring_slot *slot, uint64_t step)
{
    uint64_t start;
    sched_bounds_chunk(&slot->bounds, step, &start);
    return start;
}

static uint64_t learned_draws(const struct ring_slot *slot)
{
    uint64_t drawn = slot->sched.iterations - slot->sched.remaining;
    return drawn < slot->learned_end ? drawn : slot->learned_end;
}

uint64_t ring_undrawn(struct ring *ring, struct ring_slot *slot)
{
    uint64_t steps = atomic_load_explicit(&slot->step, memory_order_relaxed), undrawn;
    if (!ring_learns(ring))
        return next_step(steps) < end_of_steps(steps) ? slot->kept - start_of_step(slot, next_step(steps)) : 0;
    pthread_mutex_lock(&ring->learning);
    undrawn = slot->learned_end - learned_draws(slot);
    pthread_mutex_unlock(&ring->learning);
    return undrawn;
}

/* The first step not before `from` at which `least` iterations or more have been drawn; `end` where there is none. */
static uint64_t step_behind(const struct ring_slot *slot, uint64_t from, uint64_t end, uint64_t least)
{
    while (from < end) {
        uint64_t middle = from + (end - from) / 2;
        if (start_of_step(slot, middle) >= least)
            end = middle;
        else
            from = middle + 1;
    }
    return end;
}

/* The end of the slot's steps moves to the front, but to no step that somebody draws meanwhile. Returns how many
 * iterations are before it. */
static uint64_t cut_steps(struct ring_slot *slot, uint64_t least)
{
    uint64_t steps = atomic_load_explicit(&slot->step, memory_order_relaxed), old_end = end_of_steps(steps);
    uint64_t end = step_behind(slot, next_step(steps), old_end, least);
    do {
        end = end > next_step(steps) ? end : next_step(steps);
        if (end >= old_end)
            return slot->kept;
    } while (!atomic_compare_exchange_weak_explicit(&slot->step, &steps, ring_steps(next_step(steps), end),
                                                    memory_order_relaxed, memory_order_relaxed));
    return start_of_step(slot, end);
}

uint64_t ring_cut(struct ring *ring, struct ring_slot *slot, uint64_t least)
{
    uint64_t kept = slot->kept;
    if (ring_learns(ring)) {
        pthread_mutex_lock(&ring->learning);
        uint64_t drawn = learned_draws(slot), end = drawn > least ? drawn : least;
        slot->learned_end = end < slot->learned_end ? end : slot->learned_end;
        kept = slot->learned_end;
        pthread_mutex_unlock(&ring->learning);
    } else {
        kept = cut_steps(slot, least);
    }
    assert(kept <= slot->kept && "what was cut off does not come back");
    for (uint64_t at = kept, next; at < slot->kept; at = next) { /* nobody else will do these */
        uint64_t index = at / slot->part_count, part_end = (index + 1) * slot->part_count;
        next = part_end < slot->kept ? part_end : slot->kept;
        atomic_fetch_add_explicit(&slot->part[index].done, next - at, memory_order_acq_rel);
    }
    slot->kept = kept;
    return kept;
}

void ring_release(struct ring *ring, uint64_t number)
{
    atomic_store(&ring->oldest, number);
}

void ring_stop(struct ring *ring)
{
    atomic_store(&ring->stopped, true);
    pthread_mutex_lock(&ring->lock);
    pthread_cond_broadcast(&ring->wake);
    pthread_mutex_unlock(&ring->lock);
}

/* --- each thread --- */

static bool has_next(struct ring *ring, const struct ring_thread *own)
{
    uint64_t oldest = atomic_load(&ring->oldest);
    return (own->next > oldest ? own->next : oldest) < atomic_load(&ring->begun);
}

bool ring_enter(struct ring *ring, unsigned thread)
{
    struct ring_thread *own = &ring->thread[thread];
    uint64_t oldest = atomic_load(&ring->oldest);
    for (;;) {
        uint64_t number = own->next > oldest ? own->next : oldest;
        if (number >= atomic_load_explicit(&ring->begun, memory_order_acquire)) {
            own->next = number;
            atomic_store(&own->at, RING_NOWHERE);
            uint64_t before = atomic_load_explicit(&ring->empty_before, memory_order_relaxed);
            while (before < number && !atomic_compare_exchange_weak(&ring->empty_before, &before, number))
                ;
            return false;
        }
        own->next = number;
        atomic_store(&own->at, number);
        oldest = atomic_load(&ring->oldest);
        if (oldest <= number)
            break;
    }
    own->slot = ring_slot(ring, own->next);
    own->index = own->next % ring->slots;
    own->part = NULL;
    own->part_first = own->part_end = own->done = own->digest = 0;
    return true;
}

void ring_leave(struct ring *ring, unsigned thread)
{
    struct ring_thread *own = &ring->thread[thread];
    assert(own->slot != NULL && own->done == 0 && "a thread has told what it did before it leaves");
    own->next++;
    own->slot = NULL;
    atomic_store(&own->at, RING_NOWHERE);
    if (atomic_load(&ring->wanted) && atomic_exchange(&ring->wanted, false))
        ring->notify(ring->context);
}

bool ring_draw_step(struct ring *ring, struct ring_thread *own, uint64_t *step)
{
    struct ring_slot *slot = own->slot;
    uint64_t most = slot->many && own->ahead_most > 1 ? own->ahead_most : 1;
    const uint64_t steps = atomic_fetch_add_explicit(&slot->step, most, memory_order_relaxed);
    const uint64_t count = end_of_steps(steps);
    *step = next_step(steps);
    if (*step >= count) { /* takes a step that another has drawn ahead */
        for (unsigned i = 0; slot->many && i < ring->threads; i++)
            if (ring_take_ahead(&ring->thread[i].ahead, own->index, step))
                return true;
        return false;
    }
    uint64_t behind = count - *step - 1, left = most - 1 < behind ? most - 1 : behind;
    if (left > 0)
        atomic_store_explicit(&own->ahead, ring_ahead(own->index, *step + 1, left), memory_order_relaxed);
    return true;
}

bool ring_draw_learned(struct ring *ring, unsigned thread, uint64_t *first, uint64_t *end)
{
    struct ring_slot *slot = ring->thread[thread].slot;
    uint64_t before, count = 0;
    pthread_mutex_lock(&ring->learning);
    feed_slot(ring, slot, thread);
    before = learned_draws(slot);
    if (before < slot->learned_end) {
        uint64_t left = slot->learned_end - before;
        count = sched_next(&slot->sched, thread);
        count = count < left ? count : left;
    }
    pthread_mutex_unlock(&ring->learning);
    *first = slot->first + before;
    *end = *first + count;
    return count > 0;
}

void ring_learn(struct ring *ring, unsigned thread, uint64_t iterations, uint64_t time_ns)
{
    struct ring_measured *all = &ring->measured[thread];
    pthread_mutex_lock(&ring->learning);
    all->iterations += iterations;
    all->time_ns += time_ns;
    pthread_mutex_unlock(&ring->learning);
}

void ring_tell(struct ring *ring, unsigned thread, uint64_t now_ns)
{
    struct ring_thread *own = &ring->thread[thread];
    struct ring_slot *slot = own->slot;
    uint64_t done = own->done, part_count = own->part_end - own->part_first;
    if (done == 0)
        return;
    own->done = 0;
    atomic_fetch_add_explicit(&own->part->digest, own->digest, memory_order_relaxed);
    own->digest = 0;
    atomic_store_explicit(&slot->ended_ns, now_ns, memory_order_relaxed);
    bool over = atomic_fetch_add_explicit(&own->part->done, done, memory_order_acq_rel) + done == part_count;
    atomic_fetch_add_explicit(&slot->done, done, memory_order_acq_rel);
    if (over)
        ring->notify(ring->context);
}

void ring_take_part(struct ring *ring, unsigned thread, uint64_t iteration, uint64_t now_ns)
{
    struct ring_thread *own = &ring->thread[thread];
    struct ring_slot *slot = own->slot;
    if (own->part != NULL)
        ring_tell(ring, thread, now_ns);
    uint64_t index = (iteration - slot->first) / slot->part_count;
    assert(index < RING_PARTS && iteration - slot->first < slot->count && "a part is of the slot");
    own->part = &slot->part[index];
    own->part_first = slot->first + index * slot->part_count;
    uint64_t end = slot->first + slot->count;
    own->part_end = end - own->part_first < slot->part_count ? end : own->part_first + slot->part_count;
}

void ring_wait(struct ring *ring, unsigned thread, uint64_t spin_ns)
{
    const struct ring_thread *own = &ring->thread[thread];
    assert(own->slot == NULL && "a thread that waits has left its slot");
    ring->notify(ring->context);
    const uint64_t until = clock_ns(CLOCK_MONOTONIC) + spin_ns;
    while (spin_ns > 0 && clock_ns(CLOCK_MONOTONIC) < until)
        if (has_next(ring, own) || ring_is_stopped(ring))
            return;
    pthread_mutex_lock(&ring->lock);
    atomic_fetch_add(&ring->asleep, 1);
    while (!has_next(ring, own) && !atomic_load(&ring->stopped))
        pthread_cond_wait(&ring->wake, &ring->lock);
    atomic_fetch_sub(&ring->asleep, 1);
    pthread_mutex_unlock(&ring->lock);
}
