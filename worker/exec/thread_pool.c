/* SPDX-License-Identifier: MIT */
/* The main thread of a pool: puts chunks into slots and reports results in order. See thread_pool.h. */
#include "worker/exec/thread_pool.h"

#include "common/machine/machine.h"
#include "common/machine/probe.h"
#include "common/os/clock.h"
#include "common/util/kept.h"
#include "common/util/ranges.h"
#include "common/util/returned.h"
#include "common/util/stats.h"
#include "proto/record.h"
#include "worker/exec/steps.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#define TURN_NS       2000000u
#define SCRATCH_BYTES (256u << 10)
/* Limits of collected records in a slot and in all slots together. A single record may be larger. */
#define SLOT_BYTES  (16u << 20)
#define SLOTS_BYTES (64u << 20)
/* If the records of a slot take at least this much shared memory, the slot gives the memory back after use. Otherwise
 * it keeps the memory for its next records. */
#define SHARED_KEPT_BYTES (64u << 10)

static struct thread_pool *team_of(struct executor *executor)
{
    return (struct thread_pool *)executor;
}

static struct thread_pool_slot *thread_pool_slot(const struct thread_pool *pool, uint64_t number)
{
    return &pool->slot[number % pool->ring.slots];
}

static size_t whole_lines(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* Any thread may call this. */
static void notify(void *context)
{
    struct thread_pool *pool = context;
    const uint64_t one = 1;
    if (pool->team.share != NULL) {
        atomic_store(&pool->team.share->has_work, true);
        channel_wake_worker(pool->team.channel, pool->bell);
        return;
    }
    atomic_store(&pool->has_work, true);
    if (atomic_load(&pool->blocked) && atomic_exchange(&pool->blocked, false))
        while (write(pool->bell, &one, sizeof one) < 0)
            ;
}

static void take_team_news(struct thread_pool *pool)
{
    uint64_t count;
    if (pool->team.remote != NULL) {
        remote_team_turn(pool);
        return;
    }
    if (pool->rests && !atomic_exchange(&pool->blocked, false) && read(pool->bell, &count, sizeof count) < 0)
        count = 0; /* Another thread is about to ring the bell, so the next sleep will be short. */
    pool->rests = false;
    atomic_store(&pool->has_work, false);
}

static bool is_blocked(struct thread_pool *pool)
{
    if (pool->team.remote != NULL)
        return remote_team_rest(pool);
    atomic_store(&pool->blocked, true);
    pool->rests = true;
    return !atomic_load(&pool->has_work);
}

static void close_members(struct thread_pool *pool)
{
    const struct hdss_kernel *kernel = pool->config.exec.kernel;
    for (unsigned t = 0; pool->pool_thread != NULL && t < pool->config.threads; t++) {
        if (pool->pool_thread[t].open && kernel->close != NULL)
            kernel->close(pool->pool_thread[t].instance);
        free(pool->pool_thread[t].scratch);
    }
    free(pool->pool_thread);
    pool->pool_thread = NULL;
}

static void free_records(struct thread_pool_slot *slot)
{
    if (slot->is_kept)
        kept_add(slot->bytes);
    else
        free(slot->bytes);
}

static void team_close(struct executor *executor)
{
    struct thread_pool *pool = team_of(executor);
    close_members(pool);
    for (unsigned i = 0; pool->slot != NULL && i < pool->ring.slots; i++) {
        if (pool->team.records == NULL)
            free_records(&pool->slot[i]);
        free(pool->slot[i].small);
    }
    remote_team_fini(pool);
    free(pool->slot);
    pool->slot = NULL;
    if (pool->ring.plan != NULL)
        ring_fini(&pool->ring);
    if (pool->bell >= 0)
        close(pool->bell);
    pool->bell = -1;
    pthread_mutex_destroy(&pool->lock);
    executor_fini(&pool->exec.executor);
}

static int team_refuse(struct thread_pool *pool, const char *text)
{
    snprintf(pool->error, sizeof pool->error, "%.60s: %.320s", pool->config.exec.kernel->name, text);
    team_close(&pool->executor);
    return -1;
}

static int open_member(struct thread_pool *pool, unsigned thread)
{
    const struct exec_config *config = &pool->config.exec;
    const struct hdss_kernel *kernel = config->kernel;
    struct pool_thread *pool_thread = &pool->pool_thread[thread];
    pool_thread->instance = pool->exec.instance;
    pool_thread->piece_most = pool_thread->tick_most = 1;
    if (!config->collect) {
        pool_thread->scratch = aligned_alloc(64, whole_lines(pool->scratch_most * pool->record_bytes));
        if (pool_thread->scratch == NULL) {
            snprintf(pool->error, sizeof pool->error, "%.60s: no memory for the records of a thread", kernel->name);
            return -1;
        }
    }
    if (thread == 0 || kernel->threads == HDSS_THREADS_SHARE)
        return 0;
    int opened = kernel->open(config->values, config->loop, &config->worker, &pool_thread->instance, pool->error);
    if (returned(opened, "open", pool->error) == 0) {
        pool_thread->open = true;
        if (kernel->step == NULL ||
            returned(kernel->step(pool_thread->instance, 0, NULL, pool->error), "step", pool->error) == 0)
            return 0;
    }
    return -1;
}

static int tell_threads(void *context, uint64_t step, const void *results, char error[HDSS_ERROR_MAX])
{
    struct thread_pool *pool = context;
    for (unsigned t = 1; t < pool->config.threads; t++)
        if (pool->pool_thread[t].open &&
            returned(pool->config.exec.kernel->step(pool->pool_thread[t].instance, step, results, error), "step",
                     error) < 0)
            return -1;
    return 0;
}

static void set_limits(struct thread_pool *pool)
{
    const uint64_t bytes = pool->record_bytes;
    if (pool->config.exec.collect) {
        pool->part_most = bytes < SLICE_MAX ? SLICE_MAX / bytes : 1;
        pool->slot_most = exec_least(bytes < SLOT_BYTES ? SLOT_BYTES / bytes : 1, RING_PARTS * pool->part_most);
    } else {
        pool->slot_most = RING_STEPS_MAX;
        pool->scratch_most = bytes < SCRATCH_BYTES ? SCRATCH_BYTES / bytes : 1;
    }
}

void thread_pool_stop(struct thread_pool *pool)
{
    ring_stop(&pool->ring);
}

static void share_speed(const struct thread_pool *pool, struct speed *speed)
{
    speed_share(speed, pool->config.threads < pool->config.cores ? pool->config.threads : pool->config.cores);
}

static bool thread_pool_probe(struct executor *executor, struct speed *speed)
{
    struct thread_pool *pool = team_of(executor);
    pool->team.probes =
        !executor_probe(pool->team.remote != NULL ? &pool->team.remote->exec.executor : &pool->exec.executor, speed);
    if (!pool->team.probes)
        share_speed(pool, speed);
    return !pool->team.probes;
}

static enum turn advance_probe(struct thread_pool *pool, struct event *event)
{
    const enum turn turn = executor_advance(&pool->team.remote->exec.executor, event);
    if (turn != TURN_EVENT)
        return turn;
    pool->team.probes = false;
    pool->team.speed = *event->speed;
    share_speed(pool, &pool->team.speed);
    event->speed = &pool->team.speed;
    return turn;
}

void thread_pool_add_spread(struct thread_pool *pool, unsigned thread, uint64_t iterations, double elapsed_ns)
{
    const uint64_t index = pool->ring.thread[thread].index;
    if (pool->team.share != NULL) {
        spread_add(&pool->team.spread[thread * pool->ring.slots + index], iterations, elapsed_ns);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    spread_add(&pool->slot[index].spread, iterations, elapsed_ns);
    pthread_mutex_unlock(&pool->lock);
}

static struct spread spread_of_slot(struct thread_pool *pool, const struct thread_pool_slot *slot)
{
    struct spread spread = {0};
    const uint64_t index = (uint64_t)(slot - pool->slot);
    if (pool->team.share != NULL) {
        for (unsigned t = 0; pool->config.exec.spread && t < pool->config.threads; t++)
            spread_merge(&spread, &pool->team.spread[t * pool->ring.slots + index]);
        return spread;
    }
    pthread_mutex_lock(&pool->lock);
    spread = slot->spread;
    pthread_mutex_unlock(&pool->lock);
    return spread;
}

static void take_team_figures(struct thread_pool *pool)
{
    struct stats stats;
    stats_init(&stats);
    pool->executor.figures.chunks = 0;
    for (unsigned t = 0; t < pool->config.threads; t++) {
        const struct ring_thread *thread = &pool->ring.thread[t];
        stats_add(&stats, (double)atomic_load_explicit(&thread->busy_ns, memory_order_relaxed));
        pool->executor.figures.chunks += atomic_load_explicit(&thread->chunks, memory_order_relaxed);
    }
    pool->executor.figures.max_over_mean = stats.mean > 0 ? (float)(stats.maximum / stats.mean) : 1;
    pool->executor.figures.cov = (float)stats_cov(&stats);
}

static double later_ns(const struct thread_pool *pool)
{
    double sum = 0;
    uint64_t number = pool->oldest.slot, begun = ring_begun(&pool->ring);
    while (number < begun && !thread_pool_slot(pool, number)->last)
        number++;
    while (++number < begun)
        if (!thread_pool_slot(pool, number)->cancelled)
            sum += (double)atomic_load_explicit(&ring_slot(&pool->ring, number)->busy_ns, memory_order_relaxed);
    return sum;
}

static uint64_t wall_ns(const struct thread_pool *pool, uint64_t now_ns, double later)
{
    uint64_t began = pool->oldest.began_ns > pool->last_ended_ns ? pool->oldest.began_ns : pool->last_ended_ns;
    double wall = now_ns > began ? (double)(now_ns - began) : 0;
    wall -= (later - pool->last_later_ns) / pool->config.threads;
    wall -= (double)pool->off_ns;
    if (pool->off_since_ns > 0 && now_ns > pool->off_since_ns)
        wall -= (double)(now_ns - pool->off_since_ns);
    return wall > 1 ? (uint64_t)wall : 1;
}

static void drop_records(struct thread_pool *pool, struct thread_pool_slot *slot)
{
    if (pool->team.records == NULL)
        free_records(slot);
    else if (slot->is_kept)
        slot->has_moved = true;
    else if (slot->size >= SHARED_KEPT_BYTES)
        madvise(slot->bytes, pool->team.slot_room, MADV_REMOVE);
    pool->bytes_in_use -= slot->size;
    slot->bytes = NULL;
    slot->size = 0;
    slot->is_kept = false;
}

static unsigned shared_place(const struct thread_pool *pool, const struct thread_pool_slot *slot)
{
    return (unsigned)(slot - pool->slot) + (slot->has_moved ? pool->ring.slots : 0);
}

static bool begin_slot(struct thread_pool *pool, const struct thread_pool_chunk *chunk, struct thread_pool_slot *slot,
                       const struct range *range)
{
    unsigned char *records = NULL;
    assert(slot->bytes == NULL && slot->sent == 0 && !slot->small_sent && "a slot that begins is free");
    slot->isolated = chunk->isolated;
    slot->cancelled = slot->over = false;
    slot->spread = (struct spread){0};
    slot->last = chunk->given + range->count == chunk->count;
    for (unsigned t = 0; pool->team.share != NULL && pool->config.exec.spread && t < pool->config.threads; t++)
        pool->team.spread[t * pool->ring.slots + (uint64_t)(slot - pool->slot)] = (struct spread){0};
    if (chunk->isolated) {
        ring_begin_empty(&pool->ring, range);
        return true;
    }
    if (pool->config.exec.collect) {
        size_t bytes = range->count * pool->record_bytes;
        if (pool->oldest.slot < ring_begun(&pool->ring) && pool->bytes_in_use + bytes > SLOTS_BYTES)
            return false;
        slot->bytes = pool->team.records != NULL
                          ? pool->team.records + (size_t)shared_place(pool, slot) * pool->team.slot_room
                          : aligned_alloc(64, whole_lines(EXEC_HEADROOM + bytes));
        if (slot->bytes == NULL) {
            error_set(&pool->problem, "no memory for %zu bytes of records", bytes);
            pool->has_problem = true;
            return false;
        }
        slot->size = bytes;
        pool->bytes_in_use += bytes;
        records = slot->bytes + EXEC_HEADROOM;
        ring_slot(&pool->ring, ring_begun(&pool->ring))->place = shared_place(pool, slot);
    }
    pool->has_problem = ring_begin(&pool->ring, range, pool->part_most, records, &pool->problem) < 0;
    return !pool->has_problem;
}

static bool is_in_step(struct thread_pool *pool, const struct thread_pool_chunk *chunk)
{
    uint64_t first = chunk->first + chunk->given;
    if (exec_is_in_step(&pool->exec, first))
        return true;
    /* Waits until no thread is at a slot, because a thread may still compute a chunk that was given up. */
    if (pool->oldest.slot < ring_begun(&pool->ring) || !ring_is_left(&pool->ring, pool->team.remote != NULL ? 0 : 1))
        return false;
    if (pool->team.remote != NULL) {
        remote_team_note_step(pool, first);
        return true;
    }
    if (exec_enter_step(&pool->exec, first) == 0)
        return true;
    error_set(&pool->problem, "%s", pool->exec.error);
    pool->has_problem = true;
    return false;
}

static void fill_slots(struct thread_pool *pool)
{
    while (pool->begun < pool->chunk_count && !pool->has_problem) {
        struct thread_pool_chunk *chunk = &pool->chunk[(pool->chunk_first + pool->begun) % POOL_CHUNKS_MAX];
        struct thread_pool_slot *slot = thread_pool_slot(pool, ring_begun(&pool->ring));
        if (slot->sent > 0 || slot->small_sent || ring_free_slot(&pool->ring) == NULL || !is_in_step(pool, chunk))
            return;
        if (slot->bytes != NULL)
            drop_records(pool, slot);
        struct range range = {.first = chunk->first + chunk->given, .count = chunk->count - chunk->given};
        if (!chunk->isolated)
            range.count = exec_least(range.count, pool->slot_most);
        if (!begin_slot(pool, chunk, slot, &range))
            return;
        chunk->given += range.count;
        pool->begun += chunk->given == chunk->count;
    }
}

static void team_begin(struct executor *executor, uint64_t first, uint64_t count, uint64_t mark, bool isolated)
{
    struct thread_pool *pool = team_of(executor);
    assert(pool->chunk_count < POOL_CHUNKS_MAX && "a worker has so many chunks at most");
    unsigned last = (pool->chunk_first + pool->chunk_count++) % POOL_CHUNKS_MAX;
    pool->chunk[last] = (struct thread_pool_chunk){.first = first, .count = count, .mark = mark, .isolated = isolated};
    pool->empty_told = false;
    fill_slots(pool);
}

static void team_set_mark(struct executor *executor, uint64_t mark)
{
    struct thread_pool *pool = team_of(executor);
    if (pool->chunk_count > 0)
        pool->chunk[pool->chunk_first].mark = mark;
}

static void thread_pool_forget(struct executor *executor)
{
    struct thread_pool *pool = team_of(executor);
    uint64_t number = pool->oldest.slot, begun = ring_begun(&pool->ring);
    if (pool->chunk_count == 0)
        return;
    while (number < begun && !thread_pool_slot(pool, number)->last)
        number++;
    while (++number < begun) {
        ring_close_slot(&pool->ring, number);
        thread_pool_slot(pool, number)->cancelled = true;
    }
    pool->chunk_count = 1;
    pool->begun = pool->begun > 0;
}

static struct thread_pool_chunk *pool_chunk_of(struct thread_pool *pool, unsigned index)
{
    return &pool->chunk[(pool->chunk_first + index) % POOL_CHUNKS_MAX];
}

/* Finds the slots of a chunk that were not reported. Returns their end, and sets `*first` to their beginning. Cancelled
 * slots may be among them. */
static uint64_t slots_of_chunk(const struct thread_pool *pool, unsigned index, uint64_t *first)
{
    uint64_t number = *first = pool->oldest.slot;
    const uint64_t begun = ring_begun(&pool->ring);
    for (unsigned before = 0; number < begun; number++) {
        const struct thread_pool_slot *slot = thread_pool_slot(pool, number);
        if (slot->cancelled || !slot->last)
            continue;
        if (before++ == index)
            return number + 1;
        *first = number + 1;
    }
    return number;
}

static uint64_t unbegun_of_slot(struct thread_pool *pool, uint64_t number)
{
    const struct thread_pool_slot *slot = thread_pool_slot(pool, number);
    struct ring_slot *in_ring = ring_slot(&pool->ring, number);
    if (slot->cancelled)
        return 0;
    if (!slot->isolated)
        return ring_undrawn(&pool->ring, in_ring);
    bool alone = number == pool->oldest.slot && pool->oldest.alone;
    return in_ring->kept - (alone ? pool->oldest.told : 0);
}

static uint64_t cut_slot(struct thread_pool *pool, uint64_t number, uint64_t least)
{
    struct ring_slot *slot = ring_slot(&pool->ring, number);
    if (!thread_pool_slot(pool, number)->isolated)
        return ring_cut(&pool->ring, slot, least);
    if (number == pool->oldest.slot && pool->oldest.alone) {
        const struct exec_chunk *alone = &pool->exec.chunk;
        exec_cut(&pool->exec, least);
        least = alone->count;
    }
    slot->kept = exec_least(slot->kept, least);
    return slot->kept;
}

static void cut_chunk(struct thread_pool *pool, unsigned index, uint64_t least)
{
    struct thread_pool_chunk *chunk = pool_chunk_of(pool, index);
    uint64_t first, number = slots_of_chunk(pool, index, &first);
    chunk->count = least > chunk->given ? least : chunk->given;
    while (chunk->count == chunk->given && number > first) {
        struct thread_pool_slot *slot = thread_pool_slot(pool, --number);
        if (slot->cancelled)
            continue;
        uint64_t offset = ring_slot(&pool->ring, number)->first - chunk->first;
        uint64_t kept = cut_slot(pool, number, least > offset ? least - offset : 0);
        chunk->count = chunk->given = offset + kept;
        slot->last = kept > 0;
        slot->cancelled = kept == 0;
        if (slot->last)
            break;
    }
}

static void settle_chunk(struct thread_pool *pool, unsigned index)
{
    const struct thread_pool_chunk *chunk = pool_chunk_of(pool, index);
    if (chunk->count > 0) {
        if (index == pool->begun && chunk->given == chunk->count)
            pool->begun++;
        return;
    }
    for (unsigned i = index; i + 1 < pool->chunk_count; i++)
        *pool_chunk_of(pool, i) = *pool_chunk_of(pool, i + 1);
    pool->chunk_count--;
    if (index < pool->begun)
        pool->begun--;
}

/* Gives up iterations of the newest chunk that can give some. The oldest chunk keeps at least one iteration that was
 * not reported. */
static struct range thread_pool_cut(struct executor *executor, unsigned waiting)
{
    struct thread_pool *pool = team_of(executor);
    struct range cut = {0};
    for (unsigned index = pool->chunk_count; index-- > 0 && cut.count == 0;) {
        const struct thread_pool_chunk *chunk = pool_chunk_of(pool, index);
        const uint64_t count = chunk->count, least = index == 0 ? pool->oldest.before + pool->oldest.told + 1 : 0;
        uint64_t unbegun = count - chunk->given, first, end = slots_of_chunk(pool, index, &first);
        for (uint64_t number = first; number < end; number++)
            unbegun += unbegun_of_slot(pool, number);
        unbegun = least < count ? exec_least(unbegun, count - least) : 0;
        if (unbegun == 0)
            continue;
        cut_chunk(pool, index, count - recall_share(unbegun, 1, waiting));
        if (chunk->count == count)
            cut_chunk(pool, index, count - unbegun);
        cut = (struct range){chunk->first + chunk->count, count - chunk->count};
        settle_chunk(pool, index);
    }
    if (cut.count > 0)
        notify(pool);
    return cut;
}

struct ready {
    uint64_t count, digest;
    bool full;
    bool failed;
};

static uint64_t part_size(const struct ring_slot *slot, uint64_t at)
{
    return exec_least(slot->part_count, slot->kept - at);
}

static struct ready look_at_parts(const struct thread_pool *pool, struct ring_slot *slot)
{
    struct ready ready = {0};
    for (uint64_t at = pool->oldest.told; at < slot->kept; at = pool->oldest.told + ready.count) {
        struct ring_part *part = &slot->part[at / slot->part_count];
        uint64_t size = part_size(slot, at);
        if (atomic_load_explicit(&part->done, memory_order_acquire) < exec_least(slot->part_count, slot->count - at))
            break;
        ready.failed = atomic_load_explicit(&part->failed, memory_order_relaxed);
        ready.full =
            pool->config.exec.collect && ready.count > 0 && (ready.count + size) * pool->record_bytes > SLICE_MAX;
        if (ready.failed || ready.full)
            break;
        ready.count += size;
        ready.digest += atomic_load_explicit(&part->digest, memory_order_relaxed);
    }
    return ready;
}

static void end_oldest_chunk(struct thread_pool *pool, struct event *event, uint64_t ended_ns)
{
    struct thread_pool_slot *slot = thread_pool_slot(pool, pool->oldest.slot);
    double later = later_ns(pool);
    const struct spread spread = spread_of_slot(pool, slot);
    take_team_figures(pool);
    event->type = EVENT_FINISHED;
    event->chunk.began_ns = pool->oldest.began_ns;
    event->chunk.compute_ns = wall_ns(pool, ended_ns, later);
    event->chunk.deviation_ns = spread_deviation_ns(&spread) / pool->config.threads;
    event->chunk.samples = spread.pieces < UINT32_MAX ? (uint32_t)spread.pieces : UINT32_MAX;
    if (ended_ns > pool->last_ended_ns)
        pool->last_ended_ns = ended_ns;
    pool->last_later_ns = later;
    pool->chunk_first = (pool->chunk_first + 1) % POOL_CHUNKS_MAX;
    pool->chunk_count--;
    pool->begun--;
    pool->oldest.began_ns = pool->oldest.before = 0;
    pool->off_ns = 0;
}

static void end_oldest_slot(struct thread_pool *pool)
{
    struct thread_pool_slot *slot = thread_pool_slot(pool, pool->oldest.slot);
    pool->oldest.before += slot->last ? 0 : ring_slot(&pool->ring, pool->oldest.slot)->kept;
    pool->oldest.told = 0;
    slot->over = true;
    if (slot->sent == 0 && slot->bytes != NULL)
        drop_records(pool, slot);
    do
        pool->oldest.slot++;
    while (pool->oldest.slot < ring_begun(&pool->ring) && thread_pool_slot(pool, pool->oldest.slot)->cancelled);
    ring_release(&pool->ring, pool->oldest.slot);
}

static void note_told(struct thread_pool *pool, struct event *event, uint64_t count, uint64_t now_ns)
{
    const struct ring_slot *slot = ring_slot(&pool->ring, pool->oldest.slot);
    pool->oldest.told += count;
    pool->oldest.told_ns = now_ns;
    event->chunk.done = pool->oldest.before + pool->oldest.told;
    event->chunk.compute_ns = 0;
    if (pool->oldest.told < slot->kept)
        return;
    if (thread_pool_slot(pool, pool->oldest.slot)->last)
        end_oldest_chunk(pool, event, now_ns);
    end_oldest_slot(pool);
}

static bool has_small(struct thread_pool_slot *slot)
{
    if (slot->small == NULL)
        slot->small = malloc(EXEC_HEADROOM + INLINE_MAX);
    return slot->small != NULL;
}

/* Adds the records to the event. The head of a short message is written in front of its records. MPI may still be
 * reading the previous records there. So a short part is copied to a separate buffer. Returns false if that buffer is
 * in use. */
static bool attach_records(struct thread_pool *pool, struct event *event, const struct ready *ready)
{
    struct thread_pool_slot *slot = thread_pool_slot(pool, pool->oldest.slot);
    size_t bytes = ready->count * pool->record_bytes;
    unsigned char *records = slot->bytes + EXEC_HEADROOM + pool->oldest.told * pool->record_bytes;
    if (bytes > INLINE_MAX || pool->oldest.told == 0) {
        slot->sent++;
    } else if (!slot->small_sent && has_small(slot)) {
        records = memcpy(slot->small + EXEC_HEADROOM, records, bytes);
        slot->small_sent = true;
    } else
        return false;
    event->chunk.data = records;
    event->chunk.bytes = bytes;
    return true;
}

static bool tell_part(struct thread_pool *pool, struct event *event)
{
    struct ring_slot *slot = ring_slot(&pool->ring, pool->oldest.slot);
    struct ready ready = look_at_parts(pool, slot);
    if (pool->oldest.began_ns == 0)
        pool->oldest.began_ns = atomic_load_explicit(&slot->began_ns, memory_order_relaxed);
    if (ready.count == 0 && !(pool->team.ends && pool->oldest.told == slot->kept))
        return false;
    bool at_end = pool->oldest.told + ready.count == slot->kept;
    uint64_t now_ns = at_end ? atomic_load_explicit(&slot->ended_ns, memory_order_relaxed) : clock_ns(CLOCK_MONOTONIC);
    if (pool->oldest.told_ns < pool->oldest.began_ns)
        pool->oldest.told_ns = pool->oldest.began_ns;
    if (!at_end && !ready.full && !ready.failed && now_ns < pool->oldest.told_ns + SLICE_NS)
        return false;
    *event = (struct event){.type = EVENT_SLICE, .chunk = {.count = ready.count, .digest = ready.digest}};
    if (pool->config.exec.collect && ready.count > 0 && !attach_records(pool, event, &ready))
        return false;
    note_told(pool, event, ready.count, now_ns);
    return true;
}

static uint64_t done_of_oldest(struct thread_pool *pool, struct ring_slot *slot)
{
    if (pool->oldest.alone) {
        executor_end(&pool->exec.executor);
        return pool->exec.chunk.first - slot->first + pool->exec.chunk.count;
    }
    return thread_pool_slot(pool, pool->oldest.slot)->isolated ? pool->oldest.told
                                                               : pool->oldest.told + look_at_parts(pool, slot).count;
}

static uint64_t end_slots(struct thread_pool *pool)
{
    const uint64_t oldest = pool->oldest.slot, begun = ring_begun(&pool->ring);
    for (uint64_t number = oldest; number < begun; number++) {
        ring_close_slot(&pool->ring, number);
        thread_pool_slot(pool, number)->cancelled = number > oldest;
    }
    if (oldest == begun)
        return pool->oldest.before;
    struct ring_slot *slot = ring_slot(&pool->ring, oldest);
    slot->kept = done_of_oldest(pool, slot);
    thread_pool_slot(pool, oldest)->last = true;
    return pool->oldest.before + slot->kept;
}

/* Threads of this process cannot be interrupted, so they finish the iterations that they have begun. */
static struct range thread_pool_end(struct executor *executor)
{
    struct thread_pool *pool = team_of(executor);
    if (pool->team.remote == NULL)
        return thread_pool_cut(executor, RECALL_ALL);
    executor_end(&pool->team.remote->exec.executor);
    if (pool->team.probes || pool->chunk_count == 0)
        return (struct range){0};
    struct thread_pool_chunk *chunk = pool_chunk_of(pool, 0);
    const uint64_t count = chunk->count;
    pool->team.ends = pool->empty_told = true;
    chunk->count = chunk->given = end_slots(pool);
    chunk->mark = 0;
    pool->chunk_count = pool->begun = 1;
    return (struct range){chunk->first + chunk->count, count - chunk->count};
}

static bool begin_alone(struct thread_pool *pool)
{
    struct ring_slot *slot = ring_slot(&pool->ring, pool->oldest.slot);
    bool isolated = thread_pool_slot(pool, pool->oldest.slot)->isolated;
    if (pool->team.ends || (!isolated && !look_at_parts(pool, slot).failed))
        return false;
    if (pool->oldest.began_ns == 0)
        pool->oldest.began_ns = clock_ns(CLOCK_MONOTONIC);
    executor_begin(&pool->exec.executor, slot->first + pool->oldest.told,
                   isolated ? slot->kept : part_size(slot, pool->oldest.told), 0, isolated);
    pool->oldest.alone = true;
    return true;
}

static enum turn advance_alone(struct thread_pool *pool, struct event *event)
{
    *event = (struct event){0};
    enum turn turn = executor_advance(&pool->exec.executor, event);
    if (turn != TURN_EVENT)
        return turn;
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), count = event->chunk.count;
    pool->oldest.alone = event->type != EVENT_FINISHED;
    event->now_ns = now_ns;
    if (pool->oldest.alone) {
        pool->oldest.told += count;
        pool->oldest.told_ns = now_ns;
        return TURN_EVENT;
    }
    event->type = EVENT_SLICE;
    note_told(pool, event, count, now_ns);
    return count > 0 || event->type == EVENT_FINISHED ? TURN_EVENT : TURN_WORKED;
}

/* Makes the first event that is due, in this order: a problem (after which nothing more begins), a part of the oldest
 * chunk, the mark of the oldest chunk, and DRY (once for all chunks that have begun). Returns false if no event is
 * due. */
static bool tell_next(struct thread_pool *pool, struct event *event)
{
    struct thread_pool_chunk *chunk = &pool->chunk[pool->chunk_first];
    if (pool->has_problem && !pool->problem_told) {
        *event = (struct event){.type = EVENT_FATAL, .text = pool->problem.text};
        return pool->problem_told = true;
    }
    if (pool->chunk_count == 0 || pool->oldest.slot == ring_begun(&pool->ring))
        return false;
    if (!pool->oldest.alone && tell_part(pool, event))
        return true;
    const struct ring_slot *slot = ring_slot(&pool->ring, pool->oldest.slot);
    uint64_t done = pool->oldest.before + atomic_load_explicit(&slot->done, memory_order_relaxed);
    if (chunk->mark > 0 && done >= chunk->mark && done < chunk->count) {
        uint64_t time_ns = wall_ns(pool, clock_ns(CLOCK_MONOTONIC), later_ns(pool));
        chunk->mark = 0;
        *event = (struct event){.type = EVENT_MARK, .chunk = {.done = done, .compute_ns = time_ns}};
        return true;
    }
    if (pool->empty_told || pool->begun < pool->chunk_count || !ring_is_empty(&pool->ring))
        return false;
    *event = (struct event){.type = EVENT_DRY};
    return pool->empty_told = true;
}

static enum turn end_without_slot(struct thread_pool *pool, struct event *event)
{
    *event = (struct event){.type = EVENT_FINISHED, .chunk = {.done = pool->oldest.before}};
    pool->chunk_count = pool->begun = 0;
    return TURN_EVENT;
}

static enum turn advance_ended(struct thread_pool *pool, struct event *event)
{
    if (!remote_team_has_ended(pool) || pool->chunk_count == 0)
        return TURN_BLOCKED;
    if (pool->oldest.slot == ring_begun(&pool->ring))
        return end_without_slot(pool, event);
    if (pool->oldest.alone)
        return advance_alone(pool, event);
    return tell_part(pool, event) ? TURN_EVENT : TURN_BLOCKED;
}

static enum turn advance_team(struct thread_pool *pool, struct event *event)
{
    take_team_news(pool);
    if (pool->team.ends)
        return advance_ended(pool, event);
    fill_slots(pool);
    if (tell_next(pool, event))
        return TURN_EVENT;
    bool has_slot = pool->chunk_count > 0 && pool->oldest.slot < ring_begun(&pool->ring);
    if (has_slot && (pool->oldest.alone || begin_alone(pool))) {
        enum turn turn = advance_alone(pool, event);
        if (turn != TURN_BLOCKED)
            return turn;
    }
    if (pool->team.remote == NULL && thread_pool_work(pool, 0, clock_ns(CLOCK_MONOTONIC) + TURN_NS))
        return tell_next(pool, event) ? TURN_EVENT : TURN_WORKED;
    return tell_next(pool, event) ? TURN_EVENT : TURN_BLOCKED;
}

static enum turn thread_pool_advance(struct executor *executor, struct event *event)
{
    struct thread_pool *pool = team_of(executor);
    if (pool->team.probes)
        return advance_probe(pool, event);
    enum turn turn = advance_team(pool, event);
    while (turn == TURN_BLOCKED && !is_blocked(pool))
        turn = advance_team(pool, event);
    return turn;
}

static bool is_small(const struct thread_pool_slot *slot, const void *data)
{
    return slot->small != NULL && slot->small + EXEC_HEADROOM == data;
}

static bool is_of_slot(const struct thread_pool_slot *slot, const void *data)
{
    const unsigned char *bytes = data;
    return slot->bytes != NULL && bytes >= slot->bytes && bytes < slot->bytes + EXEC_HEADROOM + slot->size;
}

static void end_sending(struct thread_pool *pool, struct thread_pool_slot *slot)
{
    if (--slot->sent == 0 && slot->over)
        drop_records(pool, slot);
}

static void thread_pool_sent(struct executor *executor, const void *data)
{
    struct thread_pool *pool = team_of(executor);
    executor_sent(&pool->exec.executor, data);
    for (unsigned i = 0; i < pool->ring.slots; i++) {
        struct thread_pool_slot *slot = &pool->slot[i];
        if (is_small(slot, data))
            slot->small_sent = false;
        else if (is_of_slot(slot, data))
            end_sending(pool, slot);
    }
}

/* Keeps the memory of a slot's records until the process ends, and lets the slot use other memory. In shared memory
 * this is possible only once (see leave_buffer()). After that, the records count as being sent forever. */
static void keep_records(struct thread_pool *pool, struct thread_pool_slot *slot)
{
    if (pool->team.records != NULL && slot->has_moved)
        return;
    if (pool->team.records != NULL)
        pool->team.remote->exec.remote.helper.is_kept = true;
    slot->is_kept = true;
    end_sending(pool, slot);
}

static void thread_pool_abandon(struct executor *executor, const void *data)
{
    struct thread_pool *pool = team_of(executor);
    executor_abandon(&pool->exec.executor, data);
    for (unsigned i = 0; i < pool->ring.slots; i++) {
        struct thread_pool_slot *slot = &pool->slot[i];
        if (is_small(slot, data)) {
            kept_add(slot->small);
            slot->small = NULL;
            slot->small_sent = false;
        } else if (is_of_slot(slot, data))
            keep_records(pool, slot);
    }
}

static int thread_pool_descriptor(const struct executor *executor)
{
    const struct thread_pool *pool = (const struct thread_pool *)executor;
    return pool->team.remote != NULL ? pool->team.remote->watch : pool->bell;
}

/* If the threads are in this process, they are never put off: a worker with several jobs has its threads in helpers. */
static bool team_put_off(struct executor *executor)
{
    struct thread_pool *pool = team_of(executor);
    if (pool->team.remote == NULL)
        return true;
    const bool stands = executor_put_off(&pool->exec.executor);
    if ((pool->team.remote->posted && !ring_hold(&pool->ring)) || !stands)
        return false;
    if (pool->off_since_ns == 0)
        pool->off_since_ns = clock_ns(CLOCK_MONOTONIC);
    return true;
}

static void team_go_on(struct executor *executor)
{
    struct thread_pool *pool = team_of(executor);
    if (pool->team.remote == NULL)
        return;
    executor_go_on(&pool->exec.executor);
    if (pool->off_since_ns > 0 && pool->oldest.slot < ring_begun(&pool->ring)) {
        const struct ring_slot *slot = ring_slot(&pool->ring, pool->oldest.slot);
        const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), since_ns = pool->off_since_ns;
        const bool has_begun = pool->oldest.before > 0 || pool->oldest.began_ns > 0 ||
                               atomic_load_explicit(&slot->began_ns, memory_order_relaxed) > 0;
        pool->off_ns += has_begun ? now_ns - since_ns : 0;
        /* The pool was put off until now. The time since the last check must not count towards the time limit of a
         * call. */
        pool->team.remote->looked_ns = now_ns;
    }
    pool->off_since_ns = 0;
    ring_go_on(&pool->ring);
}

static bool team_has_chunk(const struct executor *executor)
{
    return ((const struct thread_pool *)executor)->chunk_count > 0;
}

static void team_check(const struct executor *executor)
{
    const struct thread_pool *pool = (const struct thread_pool *)executor;
    const struct team_oldest *oldest = &pool->oldest;
    const uint64_t begun = ring_begun(&pool->ring);
    size_t bytes = 0;
    ring_check(&pool->ring);
    assert(pool->chunk_count <= POOL_CHUNKS_MAX && pool->begun <= pool->chunk_count && "chunks begin in their order");
    for (unsigned i = 0; i < pool->chunk_count; i++) {
        const struct thread_pool_chunk *chunk = &pool->chunk[(pool->chunk_first + i) % POOL_CHUNKS_MAX];
        assert((i < pool->begun) == (chunk->given == chunk->count) && "a chunk has begun when all of it is in slots");
        assert((i <= pool->begun || chunk->given == 0) && "one chunk after another goes into slots");
    }
    assert(oldest->slot <= begun && begun - oldest->slot <= pool->ring.slots && "slots are told in their order");
    if (oldest->slot < begun) {
        const uint64_t in_slot = ring_slot(&pool->ring, oldest->slot)->kept;
        assert(oldest->told <= in_slot && "no more is told of a slot than is in it");
        assert(pool->chunk_count > 0 && oldest->before + in_slot <= pool->chunk[pool->chunk_first].count &&
               "the slot that is told is the oldest chunk's");
    }
    assert((!oldest->alone || oldest->slot < begun) && "the main thread computes iterations of a slot");
    assert((!pool->problem_told || pool->has_problem) && "a problem that was told is there");
    for (unsigned i = 0; i < pool->ring.slots; i++) {
        const struct thread_pool_slot *slot = &pool->slot[i];
        assert((slot->bytes != NULL) == (slot->size > 0) && "records have memory");
        assert((slot->sent == 0 || slot->bytes != NULL) && "records on their way are kept");
        bytes += slot->size;
    }
    assert(bytes == pool->bytes_in_use && "the memory of all slots is counted");
}

static const struct executor_ops thread_pool_ops = {
    .probe = thread_pool_probe,
    .begin = team_begin,
    .set_mark = team_set_mark,
    .forget = thread_pool_forget,
    .cut = thread_pool_cut,
    .end = thread_pool_end,
    .advance = thread_pool_advance,
    .sent = thread_pool_sent,
    .abandon = thread_pool_abandon,
    .descriptor = thread_pool_descriptor,
    .check = team_check,
    .put_off = team_put_off,
    .go_on = team_go_on,
    .has_chunk = team_has_chunk,
    .fini = team_close,
};

static int open_members(struct thread_pool *pool)
{
    pool->pool_thread = aligned_alloc(RING_LINE, pool->config.threads * sizeof *pool->pool_thread);
    if (pool->pool_thread == NULL) {
        snprintf(pool->error, sizeof pool->error, "no memory for the threads of a worker");
        return -1;
    }
    memset(pool->pool_thread, 0, pool->config.threads * sizeof *pool->pool_thread);
    for (unsigned t = 0; t < pool->config.threads; t++)
        if (open_member(pool, t) < 0)
            return -1;
    pool->exec.step.tell_others = tell_threads;
    pool->exec.step.others = pool;
    return 0;
}

static int open_here(struct thread_pool *pool)
{
    struct error error;
    if (ring_init(&pool->ring, pool->config.threads, pool->config.technique, notify, pool, &error) < 0)
        return team_refuse(pool, error.text);
    pool->bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (pool->bell < 0)
        return team_refuse(pool, "no files for its threads");
    if (open_members(pool) == 0)
        return 0;
    team_close(&pool->executor);
    return -1;
}

static size_t shared_room(const struct thread_pool *pool)
{
    const size_t bytes = EXEC_HEADROOM + pool->slot_most * pool->record_bytes;
    return pool->config.exec.collect ? (bytes + 4095) / 4096 * 4096 : 0;
}

int thread_pool_init(struct thread_pool *pool, const struct thread_pool_config *config)
{
    *pool = (struct thread_pool){
        .executor = {&thread_pool_ops,
                     {.worker = config->exec.worker.rank, .count = config->threads, .max_over_mean = 1}},
        .config = *config,
        .bell = -1,
        .team.notify = notify,
    };
    pool->config.exec.short_runs = false;
    pool->executor.is_away = config->exec.helper != NULL;
    struct exec_config alone = pool->config.exec;
    alone.spread = false;
    alone.begins_late = config->exec.helper != NULL;
    pool->record_bytes = hdss_record_size(alone.loop);
    set_limits(pool);
    pthread_mutex_init(&pool->lock, NULL);
    if (exec_init(&pool->exec, &alone) < 0) {
        snprintf(pool->error, sizeof pool->error, "%s", pool->exec.error);
        return -1;
    }
    if (config->exec.helper == NULL) {
        if (open_here(pool) < 0)
            return -1;
    } else if (remote_team_init(pool, shared_room(pool)) < 0) {
        team_close(&pool->executor);
        return -1;
    }
    pool->slot = calloc(pool->ring.slots, sizeof *pool->slot);
    return pool->slot != NULL ? 0 : team_refuse(pool, "no memory for its chunks");
}

int thread_pool_join(struct thread_pool *pool, const struct exec *exec, struct channel *channel, int bell)
{
    const struct exec_team *team = exec->config.team;
    unsigned char *share = (unsigned char *)channel + channel->records_at;
    struct error error;
    *pool = (struct thread_pool){
        .config = {.exec = exec->config,
                   .threads = channel->threads,
                   .technique = team->technique,
                   .cores = team->cores},
        /* A copy. The first thread of this pool uses the kernel's instance in it. The owner of the original closes the
         * instance. */
        .exec = *exec,
        .team.channel = channel,
        .bell = bell,
        .team.notify = notify,
        .team.run = team->run,
    };
    pool->config.exec.collect = channel->slot_room > 0;
    pool->config.exec.spread = channel->team_spread;
    pool->record_bytes = hdss_record_size(exec->config.loop);
    set_limits(pool);
    pthread_mutex_init(&pool->lock, NULL);
    thread_pool_share(pool, share, channel->slot_room);
    if (ring_init_shared(&pool->ring, share + team_layout_of(pool->config.threads, channel->slot_room).ring, true,
                         pool->config.threads, team->technique, notify, pool, &error) < 0) {
        snprintf(pool->error, sizeof pool->error, "%.*s", HDSS_ERROR_MAX - 1, error.text);
        return -1;
    }
    if (open_members(pool) == 0)
        return 0;
    team_leave(pool);
    return -1;
}

bool thread_pool_enter_step(struct thread_pool *pool, uint64_t iteration)
{
    if (pool->config.exec.step_iterations == 0)
        return true;
    pthread_mutex_lock(&pool->lock);
    bool is_in = exec_is_in_step(&pool->exec, iteration) || exec_enter_step(&pool->exec, iteration) == 0;
    if (!is_in && !atomic_load(&pool->team.share->is_stuck)) {
        memcpy(pool->team.share->error, pool->exec.error, HDSS_ERROR_MAX);
        atomic_store(&pool->team.share->is_stuck, true);
    }
    pthread_mutex_unlock(&pool->lock);
    if (!is_in) {
        ring_stop(&pool->ring);
        notify(pool);
    }
    return is_in;
}

static int serve_first(void *pool)
{
    thread_pool_serve(pool, 0);
    return 0;
}

void team_serve(struct thread_pool *pool)
{
    pool->team.run(pool, serve_first, pool);
}

void team_leave(struct thread_pool *pool)
{
    close_members(pool);
    if (pool->ring.plan != NULL)
        ring_fini(&pool->ring);
    free(pool->exec.step.earlier);
    pool->exec.step.earlier = NULL;
}
