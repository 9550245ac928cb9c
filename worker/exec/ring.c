/* SPDX-License-Identifier: MIT */
/* Chunks shared by threads: see ring.h. */
#include "worker/exec/ring.h"

#include "common/os/clock.h"

#include <assert.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* There are this many more slots than threads. They keep all threads busy even if each chunk has a single iteration. */
#define SPARE_SLOTS 8
/* The lower half of a slot's word is the next step; the upper half is the end of the steps. A draw from a dry slot
 * still increments the step, by up to RING_AHEAD_MAX. Each thread that finds the slot dry does that. RING_STEPS_MAX
 * leaves room for these increments. */
#define STEP_BITS 32

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
        struct sched *sched = &ring->plan[i].sched;
        if (sched_init(sched, technique, &config, error) < 0 ||
            (!ring_learns(ring) && sched_check_closed(sched, error) < 0))
            return -1;
    }
    return 0;
}

static size_t whole_of_ring(size_t bytes)
{
    return (bytes + RING_LINE - 1) / RING_LINE * RING_LINE;
}

unsigned ring_places(unsigned threads)
{
    return threads + SPARE_SLOTS;
}

size_t ring_bytes(unsigned threads)
{
    return whole_of_ring(sizeof(struct ring_state)) + threads * sizeof(struct ring_thread) +
           ring_places(threads) * sizeof(struct ring_slot);
}

static bool init_measured(struct ring *ring, const struct sched_spec *technique)
{
    if (technique->technique->at != NULL)
        return true;
    ring->measured = calloc((size_t)(ring->slots + 1) * ring->threads, sizeof *ring->measured);
    for (unsigned i = 0; ring->measured != NULL && i < ring->slots; i++)
        ring->plan[i].seen = ring->measured + (size_t)(i + 1) * ring->threads;
    return ring->measured != NULL;
}

int ring_init_shared(struct ring *ring, void *memory, bool joins, unsigned threads, const struct sched_spec *technique,
                     void (*notify)(void *context), void *context, struct error *error)
{
    unsigned char *bytes = memory;
    *ring = (struct ring){
        .threads = threads, .slots = ring_places(threads), .joined = joins, .notify = notify, .context = context};
    pthread_mutex_init(&ring->learning, NULL);
    if (bytes == NULL) {
        bytes = ring->memory = aligned_alloc(RING_LINE, ring_bytes(threads));
        if (bytes != NULL)
            memset(bytes, 0, ring_bytes(threads));
    }
    ring->state = (struct ring_state *)bytes;
    ring->thread = (struct ring_thread *)(bytes + whole_of_ring(sizeof *ring->state));
    ring->slot = (struct ring_slot *)(ring->thread + threads);
    ring->plan = calloc(ring->slots, sizeof *ring->plan);
    if (bytes == NULL || ring->plan == NULL || (memory == NULL && !init_measured(ring, technique))) {
        ring_fini(ring);
        return error_set(error, "out of memory for %u threads", threads);
    }
    for (unsigned i = 0; i < threads && !joins; i++)
        atomic_init(&ring->thread[i].at, RING_NOWHERE);
    if (init_slots(ring, technique, error) == 0)
        return 0;
    ring_fini(ring);
    return -1;
}

int ring_init(struct ring *ring, unsigned threads, const struct sched_spec *technique, void (*notify)(void *context),
              void *context, struct error *error)
{
    return ring_init_shared(ring, NULL, false, threads, technique, notify, context, error);
}

static void drop_bounds(struct ring_plan *plan)
{
    if (plan->bounded)
        sched_bounds_fini(&plan->bounds);
    plan->bounded = false;
}

void ring_fini(struct ring *ring)
{
    for (unsigned i = 0; ring->plan != NULL && i < ring->slots; i++) {
        drop_bounds(&ring->plan[i]);
        sched_fini(&ring->plan[i].sched);
    }
    free(ring->plan);
    free(ring->memory);
    free(ring->measured);
    pthread_mutex_destroy(&ring->learning);
    ring->plan = NULL;
    ring->memory = NULL;
    ring->slot = NULL;
    ring->thread = NULL;
    ring->measured = NULL;
    ring->slots = 0;
}

void ring_check(const struct ring *ring)
{
    const uint64_t oldest = atomic_load(&ring->state->oldest), begun = ring_begun(ring);
    assert(oldest <= begun && begun - oldest <= ring->slots && "slots in use have a place in the ring");
    assert(atomic_load(&ring->state->empty_before) <= begun && "a thread finds dry what has begun");
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

struct ring_slot *ring_free_slot(struct ring *ring)
{
    uint64_t begun = ring_begun(ring), oldest = atomic_load_explicit(&ring->state->oldest, memory_order_relaxed);
    if (begun < ring->slots)
        return ring_slot(ring, begun);
    uint64_t before = begun - ring->slots;
    if (before >= oldest)
        return NULL;
    atomic_store(&ring->state->wanted, true);
    for (unsigned i = 0; i < ring->threads; i++)
        if (atomic_load(&ring->thread[i].at) <= before)
            return NULL;
    atomic_store_explicit(&ring->state->wanted, false, memory_order_relaxed);
    return ring_slot(ring, begun);
}

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

static void wake_sleepers(struct ring *ring, int most)
{
    atomic_fetch_add(&ring->state->wakes, 1);
    syscall(SYS_futex, &ring->state->wakes, FUTEX_WAKE, most, NULL, NULL, 0);
}

static void wake_threads(struct ring *ring, uint64_t chunks)
{
    uint32_t asleep = atomic_load(&ring->state->asleep);
    if (asleep > 0)
        wake_sleepers(ring, chunks < asleep ? (int)chunks : INT_MAX);
}

static void feed_slot(struct ring *ring, struct ring_plan *plan, unsigned thread)
{
    const struct ring_measured *all = &ring->measured[thread];
    struct ring_measured *seen = &plan->seen[thread];
    const struct sched_feedback feedback = {
        .worker = thread,
        .chunks = 1,
        .iterations = all->iterations - seen->iterations,
        .compute_s = (double)(all->time_ns - seen->time_ns) / 1e9,
    };
    *seen = *all;
    sched_feedback(&plan->sched, &feedback);
}

static int make_plan(struct ring *ring, struct ring_plan *plan, uint64_t number, uint64_t count, struct error *error)
{
    int result;
    drop_bounds(plan);
    /* First the technique gets all measurements from other slots. After that it begins a time step. */
    if (ring_learns(ring)) {
        pthread_mutex_lock(&ring->learning);
        for (unsigned i = 0; i < ring->threads; i++)
            feed_slot(ring, plan, i);
        result = sched_again(&plan->sched, count, error);
        pthread_mutex_unlock(&ring->learning);
        plan->bounds = (struct sched_bounds){.sched = &plan->sched};
    } else {
        result = sched_again(&plan->sched, count, error);
        if (result == 0)
            result = sched_bounds_init(&plan->bounds, &plan->sched, error);
        plan->bounded = result == 0;
    }
    atomic_store(&plan->number, number + 1);
    return result;
}

int ring_begin(struct ring *ring, const struct range *chunk, uint64_t part_most, unsigned char *records,
               struct error *error)
{
    const uint64_t begun = ring_begun(ring);
    struct ring_slot *slot = ring_slot(ring, begun);
    struct ring_plan *plan = &ring->plan[begun % ring->slots];
    assert(chunk->count > 0 && chunk->count <= RING_STEPS_MAX && "a slot has so many steps at most");
    assert((part_most == 0 || chunk->count <= RING_PARTS * part_most) && "a chunk fits its parts");
    if (make_plan(ring, plan, begun, chunk->count, error) < 0)
        return -1;
    slot->many = plan->bounds.equal == 1 && plan->bounds.count < UINT64_C(1) << RING_AHEAD_STEP_BITS &&
                 ring->slots <= 1u << RING_AHEAD_SLOT_BITS;
    slot->learned_end = ring_learns(ring) ? chunk->count : 0;
    slot->empty = false;
    describe_slot(slot, chunk, part_most, records);
    atomic_store_explicit(&slot->step, ring_steps(0, plan->bounds.count), memory_order_relaxed);
    atomic_store(&ring->state->begun, begun + 1);
    wake_threads(ring, ring_learns(ring) ? chunk->count : plan->bounds.count);
    return 0;
}

void ring_begin_empty(struct ring *ring, const struct range *chunk)
{
    uint64_t begun = ring_begun(ring);
    struct ring_slot *slot = ring_slot(ring, begun);
    struct ring_plan *plan = &ring->plan[begun % ring->slots];
    drop_bounds(plan);
    plan->bounds = (struct sched_bounds){.sched = &plan->sched};
    atomic_store(&plan->number, begun + 1);
    describe_slot(slot, chunk, 0, NULL);
    slot->learned_end = 0;
    slot->many = false;
    slot->empty = true;
    atomic_store_explicit(&slot->step, ring_steps(0, 0), memory_order_relaxed);
    atomic_store(&ring->state->begun, begun + 1);
}

bool ring_is_left(struct ring *ring, unsigned first)
{
    atomic_store(&ring->state->wanted, true);
    for (unsigned i = first; i < ring->threads; i++)
        if (atomic_load(&ring->thread[i].at) != RING_NOWHERE)
            return false;
    atomic_store_explicit(&ring->state->wanted, false, memory_order_relaxed);
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

static const struct ring_plan *plan_of(const struct ring *ring, const struct ring_slot *slot)
{
    return &ring->plan[slot - ring->slot];
}

static uint64_t start_of_step(const struct ring_plan *plan, uint64_t step)
{
    uint64_t start;
    sched_bounds_chunk(&plan->bounds, step, &start);
    return start;
}

static uint64_t learned_draws(const struct ring *ring, const struct ring_slot *slot)
{
    const struct sched *sched = &plan_of(ring, slot)->sched;
    uint64_t drawn = sched->iterations - sched->remaining;
    return drawn < slot->learned_end ? drawn : slot->learned_end;
}

uint64_t ring_undrawn(struct ring *ring, struct ring_slot *slot)
{
    uint64_t steps = atomic_load_explicit(&slot->step, memory_order_relaxed), undrawn;
    if (!ring_learns(ring))
        return next_step(steps) < end_of_steps(steps)
                   ? slot->kept - start_of_step(plan_of(ring, slot), next_step(steps))
                   : 0;
    pthread_mutex_lock(&ring->learning);
    undrawn = slot->learned_end - learned_draws(ring, slot);
    pthread_mutex_unlock(&ring->learning);
    return undrawn;
}

static uint64_t step_behind(const struct ring_plan *plan, uint64_t from, uint64_t end, uint64_t least)
{
    while (from < end) {
        uint64_t middle = from + (end - from) / 2;
        if (start_of_step(plan, middle) >= least)
            end = middle;
        else
            from = middle + 1;
    }
    return end;
}

static uint64_t cut_steps(const struct ring_plan *plan, struct ring_slot *slot, uint64_t least)
{
    uint64_t steps = atomic_load_explicit(&slot->step, memory_order_relaxed), old_end = end_of_steps(steps);
    uint64_t end = step_behind(plan, next_step(steps), old_end, least);
    do {
        end = end > next_step(steps) ? end : next_step(steps);
        if (end >= old_end)
            return slot->kept;
    } while (!atomic_compare_exchange_weak_explicit(&slot->step, &steps, ring_steps(next_step(steps), end),
                                                    memory_order_relaxed, memory_order_relaxed));
    return start_of_step(plan, end);
}

uint64_t ring_cut(struct ring *ring, struct ring_slot *slot, uint64_t least)
{
    uint64_t kept = slot->kept;
    if (ring_learns(ring)) {
        pthread_mutex_lock(&ring->learning);
        uint64_t drawn = learned_draws(ring, slot), end = drawn > least ? drawn : least;
        slot->learned_end = end < slot->learned_end ? end : slot->learned_end;
        kept = slot->learned_end;
        pthread_mutex_unlock(&ring->learning);
    } else {
        kept = cut_steps(plan_of(ring, slot), slot, least);
    }
    assert(kept <= slot->kept && "what was cut off does not come back");
    /* Iterations that were cut off count as done. */
    for (uint64_t at = kept, next; at < slot->kept; at = next) {
        uint64_t index = at / slot->part_count, part_end = (index + 1) * slot->part_count;
        next = part_end < slot->kept ? part_end : slot->kept;
        atomic_fetch_add_explicit(&slot->part[index].done, next - at, memory_order_acq_rel);
    }
    slot->kept = kept;
    return kept;
}

void ring_release(struct ring *ring, uint64_t number)
{
    atomic_store(&ring->state->oldest, number);
}

void ring_stop(struct ring *ring)
{
    atomic_store(&ring->state->halt, RING_STOPPED);
    wake_sleepers(ring, INT_MAX);
}

static uint64_t common_of(uint64_t first, uint64_t end, uint64_t from, uint64_t to)
{
    first = first > from ? first : from;
    end = end < to ? end : to;
    return first < end ? end - first : 0;
}

/* Keeps the iterations that a thread has drawn after its present part. Does not keep the present part itself: an
 * iteration of it may have caused the death, and the thread's progress in it is not known exactly. */
static void mend_draw(struct ring *ring, struct ring_thread *own)
{
    const uint64_t at = atomic_load(&own->at), oldest = atomic_load(&ring->state->oldest);
    uint64_t drawn = atomic_load(&own->drawn), next = (uint32_t)drawn, end = drawn >> 32;
    own->slot = NULL;
    own->part = NULL;
    own->done = own->digest = 0;
    if (next < end && at != RING_NOWHERE && at >= oldest) {
        const uint64_t part_count = ring_slot(ring, at)->part_count;
        next = (next / part_count + 1) * part_count;
    } else {
        next = end;
    }
    atomic_store(&own->drawn, next < end ? ring_drawn(next, end) : 0);
    if (next >= end)
        atomic_store(&own->at, RING_NOWHERE);
}

static uint64_t to_come(const struct ring *ring, uint64_t number, uint64_t from, uint64_t to)
{
    const struct ring_slot *slot = ring_slot(ring, number);
    const struct ring_plan *plan = plan_of(ring, slot);
    const uint64_t steps = atomic_load(&slot->step);
    uint64_t count = 0;
    if (next_step(steps) < end_of_steps(steps))
        count = common_of(start_of_step(plan, next_step(steps)), slot->kept, from, to);
    for (unsigned i = 0; i < ring->threads; i++) {
        const struct ring_thread *thread = &ring->thread[i];
        const uint64_t drawn = atomic_load(&thread->drawn), ahead = atomic_load(&thread->ahead);
        if (atomic_load(&thread->at) == number)
            count += common_of((uint32_t)drawn, drawn >> 32, from, to);
        if (slot->many && ahead >> (64 - RING_AHEAD_SLOT_BITS) == number % ring->slots) {
            uint64_t step = ahead >> RING_AHEAD_LEFT_BITS & ((UINT64_C(1) << RING_AHEAD_STEP_BITS) - 1);
            count += common_of(step, step + ahead % (1u << RING_AHEAD_LEFT_BITS), from, to);
        }
    }
    return count;
}

/* For each part, compares two numbers: the iterations that are not done, and the iterations that threads will still do.
 * If the numbers differ, iterations were lost, and the part has failed. They were lost in a call of the kernel, or
 * between two stores of a thread. */
static void mend_slot(struct ring *ring, uint64_t number)
{
    struct ring_slot *slot = ring_slot(ring, number);
    uint64_t sum = 0;
    for (uint64_t at = 0, size; at < slot->count; at += size) {
        struct ring_part *part = &slot->part[at / slot->part_count];
        size = slot->count - at < slot->part_count ? slot->count - at : slot->part_count;
        const uint64_t done = atomic_load(&part->done), coming = to_come(ring, number, at, at + size);
        if (done + coming != size) {
            atomic_store(&part->failed, true);
            atomic_store(&part->done, size - coming);
        }
        sum += size - coming;
    }
    atomic_store(&slot->done, sum - (slot->count - slot->kept));
}

void ring_mend(struct ring *ring)
{
    const uint64_t begun = ring_begun(ring);
    assert(!ring_learns(ring) && "a plan is the same in both processes");
    for (unsigned i = 0; i < ring->threads; i++)
        mend_draw(ring, &ring->thread[i]);
    for (uint64_t number = atomic_load(&ring->state->oldest); number < begun; number++)
        if (!ring_slot(ring, number)->empty)
            mend_slot(ring, number);
    atomic_store(&ring->state->asleep, 0);
    atomic_store(&ring->state->parked, 0);
}

static bool has_next(struct ring *ring, const struct ring_thread *own)
{
    uint64_t oldest = atomic_load(&ring->state->oldest);
    return (own->next > oldest ? own->next : oldest) < atomic_load(&ring->state->begun);
}

static void join_plan(struct ring *ring, const struct ring_slot *slot, uint64_t number)
{
    struct ring_plan *plan = &ring->plan[number % ring->slots];
    struct error unused;
    if (atomic_load(&plan->number) == number + 1)
        return;
    pthread_mutex_lock(&ring->learning);
    bool made = atomic_load(&plan->number) == number + 1 || slot->empty ||
                make_plan(ring, plan, number, slot->count, &unused) == 0;
    pthread_mutex_unlock(&ring->learning);
    if (!made)
        abort(); /* memory has run out; the worker starts another helper */
}

static void go_to_slot(struct ring *ring, struct ring_thread *own)
{
    own->slot = ring_slot(ring, own->next);
    own->index = own->next % ring->slots;
    own->part = NULL;
    own->part_first = own->part_end = own->done = own->digest = 0;
    if (ring->joined)
        join_plan(ring, own->slot, own->next);
}

bool ring_enter(struct ring *ring, unsigned thread)
{
    struct ring_thread *own = &ring->thread[thread];
    uint64_t oldest = atomic_load(&ring->state->oldest);
    for (;;) {
        uint64_t number = own->next > oldest ? own->next : oldest;
        if (number >= atomic_load_explicit(&ring->state->begun, memory_order_acquire)) {
            own->next = number;
            atomic_store(&own->at, RING_NOWHERE);
            uint64_t before = atomic_load_explicit(&ring->state->empty_before, memory_order_relaxed);
            while (before < number && !atomic_compare_exchange_weak(&ring->state->empty_before, &before, number))
                ;
            return false;
        }
        own->next = number;
        atomic_store(&own->at, number);
        oldest = atomic_load(&ring->state->oldest);
        if (oldest <= number)
            break;
    }
    go_to_slot(ring, own);
    return true;
}

void ring_resume(struct ring *ring, unsigned thread)
{
    struct ring_thread *own = &ring->thread[thread];
    if (atomic_load(&own->at) == RING_NOWHERE)
        return;
    own->next = atomic_load(&own->at);
    go_to_slot(ring, own);
}

void ring_leave(struct ring *ring, unsigned thread)
{
    struct ring_thread *own = &ring->thread[thread];
    assert(own->slot != NULL && own->done == 0 && "a thread has told what it did before it leaves");
    atomic_store_explicit(&own->drawn, 0, memory_order_relaxed);
    own->next++;
    own->slot = NULL;
    atomic_store(&own->at, RING_NOWHERE);
    if (atomic_load(&ring->state->wanted) && atomic_exchange(&ring->state->wanted, false))
        ring->notify(ring->context);
}

bool ring_draw_step(struct ring *ring, struct ring_thread *own, uint64_t *step)
{
    struct ring_slot *slot = own->slot;
    uint64_t most = slot->many && own->ahead_most > 1 ? own->ahead_most : 1;
    const uint64_t steps = atomic_fetch_add_explicit(&slot->step, most, memory_order_relaxed);
    const uint64_t count = end_of_steps(steps);
    *step = next_step(steps);
    /* If the slot is dry, takes a step that another thread has drawn ahead and not begun. */
    if (*step >= count) {
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
    feed_slot(ring, &ring->plan[ring->thread[thread].index], thread);
    before = learned_draws(ring, slot);
    if (before < slot->learned_end) {
        uint64_t left = slot->learned_end - before;
        count = sched_next(&ring->plan[ring->thread[thread].index].sched, thread);
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

static bool all_stand(const struct ring *ring)
{
    return atomic_load(&ring->state->parked) + atomic_load(&ring->state->asleep) == ring->threads;
}

static void tell_if_all_stand(struct ring *ring)
{
    if (atomic_load(&ring->state->halt) == RING_HELD && all_stand(ring))
        ring->notify(ring->context);
}

bool ring_hold(struct ring *ring)
{
    uint32_t halt = RING_GOES_ON;
    atomic_compare_exchange_strong(&ring->state->halt, &halt, RING_HELD);
    return all_stand(ring);
}

void ring_go_on(struct ring *ring)
{
    uint32_t halt = RING_HELD;
    if (atomic_compare_exchange_strong(&ring->state->halt, &halt, RING_GOES_ON) &&
        atomic_load(&ring->state->parked) > 0)
        wake_sleepers(ring, INT_MAX);
}

void ring_park(struct ring *ring)
{
    atomic_fetch_add(&ring->state->parked, 1);
    tell_if_all_stand(ring);
    for (uint32_t wakes; wakes = atomic_load(&ring->state->wakes), atomic_load(&ring->state->halt) == RING_HELD;)
        syscall(SYS_futex, &ring->state->wakes, FUTEX_WAIT, wakes, NULL, NULL, 0);
    atomic_fetch_sub(&ring->state->parked, 1);
}

void ring_wait(struct ring *ring, unsigned thread, uint64_t spin_ns)
{
    const struct ring_thread *own = &ring->thread[thread];
    assert(own->slot == NULL && "a thread that waits has left its slot");
    ring->notify(ring->context);
    const uint64_t until = clock_ns(CLOCK_MONOTONIC) + spin_ns;
    while (spin_ns > 0 && clock_ns(CLOCK_MONOTONIC) < until)
        if (has_next(ring, own) || ring_is_halted(ring))
            return;
    atomic_fetch_add(&ring->state->asleep, 1);
    tell_if_all_stand(ring);
    for (uint32_t wakes; wakes = atomic_load(&ring->state->wakes),
                         !has_next(ring, own) && atomic_load(&ring->state->halt) != RING_STOPPED;)
        syscall(SYS_futex, &ring->state->wakes, FUTEX_WAIT, wakes, NULL, NULL, 0);
    atomic_fetch_sub(&ring->state->asleep, 1);
}
