/* SPDX-License-Identifier: MIT */
/* The threads of a pool. Each thread draws iterations, runs them in pieces, and reports what is done.
 *
 * Reading the clock takes longer than a draw. So a thread reads the clock only after about TICK_NS of estimated work,
 * and when it moves to another slot. */
#include "worker/exec/thread_pool.h"

#include "common/os/clock.h"
#include "common/util/digest.h"
#include "worker/exec/steps.h"

#include <assert.h>

/* Upper bound of the expected time of a call of the kernel. Threads notice messages and requests to stop only between
 * calls. */
#define PIECE_NS 500000.0
#define TICK_NS  100000.0
#define AHEAD_NS 1000.0
#define SPIN_NS  50000u

/* Adds without an atomic addition, because only this thread writes the counter. */
static void add_own(_Atomic uint64_t *sum, uint64_t more)
{
    atomic_store_explicit(sum, atomic_load_explicit(sum, memory_order_relaxed) + more, memory_order_relaxed);
}

static uint64_t iterations_in(double time_ns, double iteration_ns)
{
    double count = time_ns / iteration_ns;
    return count > 1 ? (uint64_t)count : 1;
}

static uint64_t tick_member(struct thread_pool *pool, unsigned thread)
{
    struct pool_thread *pool_thread = &pool->pool_thread[thread];
    struct ring_thread *own = &pool->ring.thread[thread];
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), elapsed_ns = now_ns - pool_thread->read_ns;
    pool_thread->read_ns = now_ns;
    if (pool_thread->untimed == 0)
        return now_ns;
    assert(own->slot != NULL && "iterations are of a slot");
    /* If the new time is longer than the estimate, it replaces the estimate. A shorter time can lower the estimate to
     * an eighth at most. */
    double time = (double)elapsed_ns / (double)pool_thread->untimed, before = pool_thread->iteration_ns;
    time = time < 0.5 ? 0.5 : time;
    pool_thread->iteration_ns = before <= 0 || time > before ? time : time < before / 8 ? before / 8 : time;
    pool_thread->piece_most = iterations_in(PIECE_NS, pool_thread->iteration_ns);
    if (pool->scratch_most > 0)
        pool_thread->piece_most = exec_least(pool_thread->piece_most, pool->scratch_most);
    pool_thread->tick_most = iterations_in(TICK_NS, pool_thread->iteration_ns);
    own->ahead_most = (unsigned)exec_least(iterations_in(AHEAD_NS, pool_thread->iteration_ns), RING_AHEAD_MAX);
    if (pool->config.exec.spread && (double)elapsed_ns >= SPREAD_PIECE_NS / 2)
        thread_pool_add_spread(pool, thread, pool_thread->untimed, (double)elapsed_ns);
    if (ring_learns(&pool->ring) && !ring_has_failed(own))
        ring_learn(&pool->ring, thread, pool_thread->untimed, elapsed_ns);
    pool_thread->untimed = 0;
    add_own(&own->busy_ns, elapsed_ns);
    add_own(&own->chunks, pool_thread->draws);
    pool_thread->draws = 0;
    atomic_fetch_add_explicit(&own->slot->busy_ns, elapsed_ns, memory_order_relaxed);
    return now_ns;
}

static int run_member_slowly(struct thread_pool *pool, struct pool_thread *pool_thread, uint64_t first, uint64_t count,
                             void *records)
{
    const struct exec *exec = &pool->exec;
    const clockid_t clock = exec_work_clock(exec);
    uint64_t began = clock_ns(clock);
    int result = exec->config.kernel->run(pool_thread->instance, first, count, records, pool_thread->error);
    pool_thread->waiting_ns += (double)(clock_ns(clock) - began) * (exec->config.slowdown - 1);
    exec_pay_waiting(&pool_thread->waiting_ns, false);
    return result;
}

static inline void run_iterations(struct thread_pool *pool, struct pool_thread *pool_thread, struct ring_thread *own,
                                  uint64_t first, uint64_t count, uint64_t *digest)
{
    if (ring_has_failed(own))
        return;
    unsigned char *to = pool->team.records != NULL
                            ? pool->team.records + own->slot->place * pool->team.slot_room + EXEC_HEADROOM
                            : own->slot->records;
    add_own(&own->calls, 1);
    to = to == NULL ? pool_thread->scratch : to + (first - own->slot->first) * pool->record_bytes;
    const struct exec_config *config = &pool->config.exec;
    int result = config->slowdown > 1
                     ? run_member_slowly(pool, pool_thread, first, count, to)
                     : config->kernel->run(pool_thread->instance, first, count, to, pool_thread->error);
    if (result != 0)
        ring_fail(own);
    else
        *digest += digest_records(first, count, to, pool->record_bytes);
}

static inline void note_drawn(const struct pool_thread *pool_thread, struct ring_thread *own)
{
    const uint64_t first = own->slot->first;
    atomic_store_explicit(&own->drawn, ring_drawn(pool_thread->next - first, pool_thread->end - first),
                          memory_order_release);
}

static inline void run_piece(struct thread_pool *pool, unsigned thread)
{
    struct pool_thread *pool_thread = &pool->pool_thread[thread];
    struct ring_thread *own = &pool->ring.thread[thread];
    uint64_t first = pool_thread->next;
    if (first < own->part_first || first >= own->part_end)
        ring_take_part(&pool->ring, thread, first, pool_thread->read_ns);
    uint64_t count = exec_least(exec_least(pool_thread->end, own->part_end) - first, pool_thread->piece_most);
    run_iterations(pool, pool_thread, own, first, count, &own->digest);
    own->done += count;
    pool_thread->untimed += count;
    pool_thread->next = first + count;
    note_drawn(pool_thread, own);
}

static inline bool draw_iterations(struct thread_pool *pool, unsigned thread)
{
    struct ring *ring = &pool->ring;
    struct ring_thread *own = &ring->thread[thread];
    struct pool_thread *pool_thread = &pool->pool_thread[thread];
    for (;;) {
        if (own->slot == NULL) {
            uint64_t nobody = 0;
            if (!ring_enter(ring, thread))
                return false;
            if (ring->joined && !thread_pool_enter_step(pool, own->slot->first))
                return false;
            pool_thread->read_ns = clock_ns(CLOCK_MONOTONIC);
            atomic_compare_exchange_strong_explicit(&own->slot->began_ns, &nobody, pool_thread->read_ns,
                                                    memory_order_relaxed, memory_order_relaxed);
        }
        if (ring_draw(ring, thread, &pool_thread->next, &pool_thread->end) ||
            (ring_learns(ring) && ring_draw_learned(ring, thread, &pool_thread->next, &pool_thread->end))) {
            assert(pool_thread->next < pool_thread->end && "a draw has iterations");
            pool_thread->draws++;
            note_drawn(pool_thread, own);
            return true;
        }
        ring_tell(ring, thread, tick_member(pool, thread));
        ring_leave(ring, thread);
    }
}

static inline bool is_called(const struct thread_pool *pool, unsigned thread)
{
    return ring_is_halted(&pool->ring) || (thread == 0 && thread_pool_has_work(pool));
}

/* Fast path for short chunks: draws and computes one piece after another. Ends when the clock must be read. Also ends
 * if a draw crosses the thread's present part or is longer than one piece: run_piece() computes such a draw. Local
 * variables count what is done, because the atomic operation of a draw would wait for earlier stores to memory. */
static void run_short_draws(struct thread_pool *pool, unsigned thread)
{
    struct pool_thread *pool_thread = &pool->pool_thread[thread];
    struct ring_thread *own = &pool->ring.thread[thread];
    const uint64_t part_first = own->part_first, part_end = own->part_end, piece_most = pool_thread->piece_most;
    const uint64_t left =
        pool_thread->tick_most > pool_thread->untimed ? pool_thread->tick_most - pool_thread->untimed : 0;
    uint64_t draws = 0, done = 0, digest = 0, first, end;
    while (done < left && !is_called(pool, thread) && ring_draw(&pool->ring, thread, &first, &end)) {
        draws++;
        if (first < part_first || end > part_end || end - first > piece_most) {
            pool_thread->next = first;
            pool_thread->end = end;
            note_drawn(pool_thread, own);
            break;
        }
        run_iterations(pool, pool_thread, own, first, end - first, &digest);
        done += end - first;
    }
    own->done += done;
    own->digest += digest;
    pool_thread->untimed += done;
    pool_thread->draws += draws;
}

bool thread_pool_work(struct thread_pool *pool, unsigned thread, uint64_t until_ns)
{
    struct pool_thread *pool_thread = &pool->pool_thread[thread];
    bool any = false, is_main = thread == 0;
    if (pool->ring.thread[thread].slot != NULL)
        pool_thread->read_ns = clock_ns(CLOCK_MONOTONIC);
    while (!ring_is_halted(&pool->ring) && (pool_thread->next < pool_thread->end || draw_iterations(pool, thread))) {
        any = true;
        run_piece(pool, thread);
        if (pool_thread->next == pool_thread->end && !ring_learns(&pool->ring))
            run_short_draws(pool, thread);
        bool is_late = is_main && thread_pool_has_work(pool);
        if (!is_late && pool_thread->untimed < pool_thread->tick_most)
            continue;
        uint64_t now_ns = tick_member(pool, thread);
        ring_tell(&pool->ring, thread, now_ns);
        if (is_late || now_ns >= until_ns)
            break;
    }
    if (any && pool_thread->untimed > 0 && ring_is_halted(&pool->ring))
        ring_tell(&pool->ring, thread, tick_member(pool, thread));
    return any;
}

static void resume_thread(struct thread_pool *pool, unsigned thread)
{
    struct pool_thread *pool_thread = &pool->pool_thread[thread];
    struct ring_thread *own = &pool->ring.thread[thread];
    ring_resume(&pool->ring, thread);
    if (own->slot == NULL || !thread_pool_enter_step(pool, own->slot->first))
        return;
    const uint64_t drawn = atomic_load(&own->drawn);
    pool_thread->next = own->slot->first + (uint32_t)drawn;
    pool_thread->end = own->slot->first + (drawn >> 32);
}

void thread_pool_serve(struct thread_pool *pool, unsigned thread)
{
    struct ring *ring = &pool->ring;
    if (ring->joined)
        resume_thread(pool, thread);
    while (!ring_is_stopped(ring)) {
        thread_pool_work(pool, thread, UINT64_MAX);
        if (ring_is_halted(ring))
            ring_park(ring);
        else
            ring_wait(ring, thread, pool->config.cores >= pool->config.threads ? SPIN_NS : 0);
    }
}
