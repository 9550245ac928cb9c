/* SPDX-License-Identifier: MIT */
/* The threads of a team: each draws iterations, runs them in pieces, and tells which are done.
 *
 * Reading the clock takes longer than a draw, so it is read once for about TICK_NS of work, as the estimate of an
 * iteration's time has it, and when the thread goes from one slot to the next. */
#include "worker/exec/team.h"

#include "common/os/clock.h"
#include "common/util/digest.h"
#include "worker/exec/steps.h"

#include <assert.h>

/* A call of the kernel takes no longer on purpose: the main thread looks at its messages, all at whether to stop. */
#define PIECE_NS 500000.0
/* Between two readings of the clock. */
#define TICK_NS 100000.0
/* Steps that a thread draws at once take no longer, or are one. */
#define AHEAD_NS 1000.0
/* A thread that finds nothing to draw looks on for so long before it sleeps. */
#define SPIN_NS 50000u

/* Adds to what only this thread writes, and the main one reads. */
static void add_own(_Atomic uint64_t *sum, uint64_t more)
{
    atomic_store_explicit(sum, atomic_load_explicit(sum, memory_order_relaxed) + more, memory_order_relaxed);
}

/* --- time --- */

static uint64_t iterations_in(double time_ns, double iteration_ns)
{
    double count = time_ns / iteration_ns;
    return count > 1 ? (uint64_t)count : 1;
}

/* Reads the clock: what was done since it was read last has taken that long. */
static uint64_t tick_member(struct team *team, unsigned thread)
{
    struct member *member = &team->member[thread];
    struct ring_thread *own = &team->ring.thread[thread];
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), elapsed_ns = now_ns - member->read_ns;
    member->read_ns = now_ns;
    if (member->untimed == 0)
        return now_ns;
    assert(own->slot != NULL && "iterations are of a slot");
    /* slower is believed at once, faster by a factor at a time */
    double time = (double)elapsed_ns / (double)member->untimed, before = member->iteration_ns;
    time = time < 0.5 ? 0.5 : time;
    member->iteration_ns = before <= 0 || time > before ? time : time < before / 8 ? before / 8 : time;
    member->piece_most = iterations_in(PIECE_NS, member->iteration_ns);
    if (team->scratch_most > 0)
        member->piece_most = exec_least(member->piece_most, team->scratch_most);
    member->tick_most = iterations_in(TICK_NS, member->iteration_ns);
    own->ahead_most = (unsigned)exec_least(iterations_in(AHEAD_NS, member->iteration_ns), RING_AHEAD_MAX);
    if (team->config.exec.spread && (double)elapsed_ns >= SPREAD_PIECE_NS / 2)
        team_add_spread(team, own->slot, member->untimed, (double)elapsed_ns);
    if (ring_learns(&team->ring) && !ring_has_failed(own))
        ring_learn(&team->ring, thread, member->untimed, elapsed_ns);
    member->untimed = 0;
    add_own(&member->busy_ns, elapsed_ns);
    add_own(&member->chunks, member->draws);
    member->draws = 0;
    atomic_fetch_add_explicit(&own->slot->busy_ns, elapsed_ns, memory_order_relaxed);
    return now_ns;
}

/* --- iterations --- */

/* Runs the kernel as slowly as it is to be. */
static int run_member_slowly(struct team *team, struct member *member, uint64_t first, uint64_t count, void *records)
{
    const struct exec *exec = &team->exec;
    const clockid_t clock = exec_work_clock(exec);
    uint64_t began = clock_ns(clock);
    int result = exec->config.kernel->run(member->instance, first, count, records, member->error);
    member->waiting_ns += (double)(clock_ns(clock) - began) * (exec->config.slowdown - 1);
    exec_pay_waiting(&member->waiting_ns, false);
    return result;
}

/* Runs iterations of the part that the thread is at, and adds to `*digest`. Of a part that has failed nothing is
 * computed any more. */
static inline void run_iterations(struct team *team, struct member *member, struct ring_thread *own, uint64_t first,
                                  uint64_t count, uint64_t *digest)
{
    if (ring_has_failed(own))
        return;
    unsigned char *to = own->slot->records;
    to = to == NULL ? member->scratch : to + (first - own->slot->first) * team->record_bytes;
    const struct exec_config *config = &team->config.exec;
    int result = config->slowdown > 1 ? run_member_slowly(team, member, first, count, to)
                                      : config->kernel->run(member->instance, first, count, to, member->error);
    if (result < 0)
        ring_fail(own);
    else
        *digest += digest_records(first, count, to, team->record_bytes);
}

/* Runs a piece at the beginning of what is drawn. */
static inline void run_piece(struct team *team, unsigned thread)
{
    struct member *member = &team->member[thread];
    struct ring_thread *own = &team->ring.thread[thread];
    uint64_t first = member->next;
    if (first < own->part_first || first >= own->part_end)
        ring_take_part(&team->ring, thread, first, member->read_ns);
    uint64_t count = exec_least(exec_least(member->end, own->part_end) - first, member->piece_most);
    run_iterations(team, member, own, first, count, &own->digest);
    own->done += count;
    member->untimed += count;
    member->next = first + count;
}

/* --- slots --- */

/* Draws, by the recursive form where the technique has no closed one; goes on with the next slot where this one is dry.
 * False: there is nothing to draw. */
static inline bool draw_iterations(struct team *team, unsigned thread)
{
    struct ring *ring = &team->ring;
    struct ring_thread *own = &ring->thread[thread];
    struct member *member = &team->member[thread];
    for (;;) {
        if (own->slot == NULL) {
            uint64_t nobody = 0;
            if (!ring_enter(ring, thread))
                return false;
            member->read_ns = clock_ns(CLOCK_MONOTONIC);
            atomic_compare_exchange_strong_explicit(&own->slot->began_ns, &nobody, member->read_ns,
                                                    memory_order_relaxed, memory_order_relaxed);
        }
        if (ring_draw(ring, thread, &member->next, &member->end) ||
            (ring_learns(ring) && ring_draw_learned(ring, thread, &member->next, &member->end))) {
            assert(member->next < member->end && "a draw has iterations");
            member->draws++;
            return true;
        }
        ring_tell(ring, thread, tick_member(team, thread));
        ring_leave(ring, thread);
    }
}

/* The end has come, or there is something for the main thread to look at. */
static inline bool is_called(const struct team *team, unsigned thread)
{
    return ring_is_stopped(&team->ring) || (thread == 0 && team_has_work(team));
}

/* Draws and runs for as long as each draw is one piece of the part that the thread is at, up to the next reading of the
 * clock. It is the way of short chunks: what is counted stays in registers, as a draw waits until all that was written
 * before it is in the cache. A draw that is not so simple is left to run_piece(). */
static void run_short_draws(struct team *team, unsigned thread)
{
    struct member *member = &team->member[thread];
    struct ring_thread *own = &team->ring.thread[thread];
    const uint64_t part_first = own->part_first, part_end = own->part_end, piece_most = member->piece_most;
    const uint64_t left = member->tick_most > member->untimed ? member->tick_most - member->untimed : 0;
    uint64_t draws = 0, done = 0, digest = 0, first, end;
    while (done < left && !is_called(team, thread) && ring_draw(&team->ring, thread, &first, &end)) {
        draws++;
        if (first < part_first || end > part_end || end - first > piece_most) {
            member->next = first;
            member->end = end;
            break;
        }
        run_iterations(team, member, own, first, end - first, &digest);
        done += end - first;
    }
    own->done += done;
    own->digest += digest;
    member->untimed += done;
    member->draws += draws;
}

bool team_work(struct team *team, unsigned thread, uint64_t until_ns)
{
    struct member *member = &team->member[thread];
    bool any = false, is_main = thread == 0;
    if (team->ring.thread[thread].slot != NULL) /* the thread looked after something else meanwhile */
        member->read_ns = clock_ns(CLOCK_MONOTONIC);
    while (!ring_is_stopped(&team->ring) && (member->next < member->end || draw_iterations(team, thread))) {
        any = true;
        run_piece(team, thread);
        if (member->next == member->end && !ring_learns(&team->ring))
            run_short_draws(team, thread);
        bool is_late = is_main && team_has_work(team);
        if (!is_late && member->untimed < member->tick_most)
            continue;
        uint64_t now_ns = tick_member(team, thread);
        ring_tell(&team->ring, thread, now_ns);
        if (is_late || now_ns >= until_ns)
            break;
    }
    return any;
}

void team_serve(struct team *team, unsigned thread)
{
    struct ring *ring = &team->ring;
    while (!ring_is_stopped(ring)) {
        team_work(team, thread, UINT64_MAX);
        if (!ring_is_stopped(ring))
            ring_wait(ring, thread, team->config.cores >= team->config.threads ? SPIN_NS : 0);
    }
}
