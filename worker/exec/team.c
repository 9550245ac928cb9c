/* SPDX-License-Identifier: MIT */
/* The main thread's part of a team: chunks into slots, and what is done out of them, in order: see team.h. */
#include "worker/exec/team.h"

#include "common/os/clock.h"
#include "common/util/stats.h"
#include "worker/exec/steps.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Between two looks at the messages. */
#define TURN_NS 2000000u
/* Records that are only digested are made in a buffer that stays in the cache. */
#define SCRATCH_BYTES (256u << 10)
/* Collected records of one slot, and of all slots, take no more; a single record may be longer. */
#define SLOT_BYTES  (16u << 20)
#define SLOTS_BYTES (64u << 20)

static struct team *team_of(struct executor *executor)
{
    return (struct team *)executor;
}

static struct team_slot *team_slot(const struct team *team, uint64_t number)
{
    return &team->slot[number % team->ring.slots];
}

static size_t whole_lines(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* --- news for the main thread --- */

/* Any thread has something for the main one. */
static void notify(void *context)
{
    struct team *team = context;
    const uint64_t one = 1;
    atomic_store(&team->has_work, true);
    if (atomic_load(&team->blocked) && atomic_exchange(&team->blocked, false))
        while (write(team->bell, &one, sizeof one) < 0)
            ;
}

/* The main thread looks at everything now. */
static void take_team_news(struct team *team)
{
    uint64_t count;
    if (team->rests && !atomic_exchange(&team->blocked, false) && read(team->bell, &count, sizeof count) < 0)
        count = 0; /* a thread is about to ring: the next rest is a short one */
    team->rests = false;
    atomic_store(&team->has_work, false);
}

/* Nothing can be done. Whether that is still so when it is known to the others. */
static bool is_blocked(struct team *team)
{
    atomic_store(&team->blocked, true);
    team->rests = true;
    return !atomic_load(&team->has_work);
}

/* --- set-up --- */

static void team_close(struct executor *executor)
{
    struct team *team = team_of(executor);
    const struct hdss_kernel *kernel = team->config.exec.kernel;
    for (unsigned t = 0; team->member != NULL && t < team->config.threads; t++) {
        if (team->member[t].open && kernel->close != NULL)
            kernel->close(team->member[t].instance);
        free(team->member[t].scratch);
    }
    for (unsigned i = 0; team->slot != NULL && i < team->ring.slots; i++)
        free(team->slot[i].bytes);
    free(team->member);
    free(team->slot);
    team->member = NULL;
    team->slot = NULL;
    if (team->ring.slot != NULL)
        ring_fini(&team->ring);
    if (team->bell >= 0)
        close(team->bell);
    team->bell = -1;
    pthread_mutex_destroy(&team->lock);
    executor_fini(&team->exec.executor);
}

static int team_refuse(struct team *team, const char *text)
{
    snprintf(team->error, sizeof team->error, "%.60s: %.320s", team->config.exec.kernel->name, text);
    team_close(&team->executor);
    return -1;
}

static int open_member(struct team *team, unsigned thread)
{
    const struct exec_config *config = &team->exec.config;
    const struct hdss_kernel *kernel = config->kernel;
    struct member *member = &team->member[thread];
    member->instance = team->exec.instance;
    member->piece_most = member->tick_most = 1;
    if (!config->collect) {
        member->scratch = aligned_alloc(64, whole_lines(team->scratch_most * team->record_bytes));
        if (member->scratch == NULL)
            return team_refuse(team, "no memory for the records of a thread");
    }
    if (thread == 0 || kernel->threads == HDSS_THREADS_SHARE)
        return 0;
    if (kernel->open(config->values, config->loop, &config->worker, &member->instance, team->error) == 0) {
        member->open = true;
        if (kernel->step == NULL || kernel->step(member->instance, 0, NULL, team->error) == 0)
            return 0;
    }
    team_close(&team->executor);
    return -1;
}

/* All instances are in the same time step. */
static int tell_members(void *context, uint64_t step, const void *results, char error[HDSS_ERROR_MAX])
{
    struct team *team = context;
    for (unsigned t = 1; t < team->config.threads; t++)
        if (team->member[t].open && team->config.exec.kernel->step(team->member[t].instance, step, results, error) < 0)
            return -1;
    return 0;
}

static void set_limits(struct team *team)
{
    const uint64_t bytes = team->record_bytes;
    if (team->config.exec.collect) {
        team->part_most = bytes < SLICE_MAX ? SLICE_MAX / bytes : 1;
        team->slot_most = exec_least(bytes < SLOT_BYTES ? SLOT_BYTES / bytes : 1, RING_PARTS * team->part_most);
    } else {
        team->scratch_most = bytes < SCRATCH_BYTES ? SCRATCH_BYTES / bytes : 1;
    }
}

void team_stop(struct team *team)
{
    ring_stop(&team->ring);
}

/* --- measuring --- */

static void team_probe(struct executor *executor, struct speed *speed)
{
    struct team *team = team_of(executor);
    double share = team->config.threads < team->config.cores ? team->config.threads : team->config.cores;
    executor_probe(&team->exec.executor, speed);
    speed->mean_ns = speed->mean_ns > 0 ? fmax(speed->mean_ns / share, SPEED_MEAN_MIN_NS) : 0;
    speed->deviation_ns /= share;
    for (unsigned i = 0; i < CELLS; i++)
        speed->cells[i].mean_ns /= (float)share;
    for (unsigned i = 0; i < speed->levels; i++) {
        double elapsed_ns = (double)speed->elapsed_ns[i] / share;
        speed->elapsed_ns[i] = elapsed_ns > 1 ? (uint64_t)elapsed_ns : 1;
    }
}

void team_add_spread(struct team *team, const struct ring_slot *slot, uint64_t iterations, double elapsed_ns)
{
    pthread_mutex_lock(&team->lock);
    spread_add(&team->slot[slot - team->ring.slot].spread, iterations, elapsed_ns);
    pthread_mutex_unlock(&team->lock);
}

/* Takes what the threads have done so far: what is over has been counted before it was told. */
static void take_team_figures(struct team *team)
{
    struct stats stats;
    stats_init(&stats);
    team->executor.figures.chunks = 0;
    for (unsigned t = 0; t < team->config.threads; t++) {
        const struct member *member = &team->member[t];
        stats_add(&stats, (double)atomic_load_explicit(&member->busy_ns, memory_order_relaxed));
        team->executor.figures.chunks += atomic_load_explicit(&member->chunks, memory_order_relaxed);
    }
    team->executor.figures.max_over_mean = stats.mean > 0 ? (float)(stats.maximum / stats.mean) : 1;
    team->executor.figures.cov = (float)stats_cov(&stats);
}

/* Time that threads have spent in chunks after the oldest one. */
static double later_ns(const struct team *team)
{
    double sum = 0;
    uint64_t number = team->oldest.slot, begun = ring_begun(&team->ring);
    while (number < begun && !team_slot(team, number)->last)
        number++;
    while (++number < begun)
        if (!team_slot(team, number)->cancelled)
            sum += (double)atomic_load_explicit(&ring_slot(&team->ring, number)->busy_ns, memory_order_relaxed);
    return sum;
}

/* Wall time of the oldest chunk up to `now_ns`: see team.h. */
static uint64_t wall_ns(const struct team *team, uint64_t now_ns, double later)
{
    uint64_t began = team->oldest.began_ns > team->last_ended_ns ? team->oldest.began_ns : team->last_ended_ns;
    double wall = now_ns > began ? (double)(now_ns - began) : 0;
    wall -= (later - team->last_later_ns) / team->config.threads;
    return wall > 1 ? (uint64_t)wall : 1;
}

/* --- chunks into slots --- */

static void drop_records(struct team *team, struct team_slot *slot)
{
    free(slot->bytes);
    team->bytes_in_use -= slot->size;
    slot->bytes = NULL;
    slot->size = 0;
}

/* Begins the next slot with the iterations of a chunk, for whose records there must be memory. False: not now. */
static bool begin_slot(struct team *team, const struct team_chunk *chunk, struct team_slot *slot,
                       const struct range *range)
{
    unsigned char *records = NULL;
    assert(slot->bytes == NULL && slot->sent == 0 && !slot->small_sent && "a slot that begins is free");
    slot->isolated = chunk->isolated;
    slot->cancelled = slot->over = false;
    slot->spread = (struct spread){0};
    slot->last = chunk->given + range->count == chunk->count;
    if (chunk->isolated) {
        ring_begin_empty(&team->ring, range);
        return true;
    }
    if (team->config.exec.collect) {
        size_t bytes = range->count * team->record_bytes;
        if (team->oldest.slot < ring_begun(&team->ring) && team->bytes_in_use + bytes > SLOTS_BYTES)
            return false;
        slot->bytes = aligned_alloc(64, whole_lines(EXEC_HEADROOM + bytes));
        if (slot->bytes == NULL) {
            error_set(&team->problem, "no memory for %zu bytes of records", bytes);
            team->has_problem = true;
            return false;
        }
        slot->size = bytes;
        team->bytes_in_use += bytes;
        records = slot->bytes + EXEC_HEADROOM;
    }
    team->has_problem = ring_begin(&team->ring, range, team->part_most, records, &team->problem) < 0;
    return !team->has_problem;
}

/* The kernel goes to the chunk's time step when nothing of another one is computed any more. False: not now. */
static bool is_in_step(struct team *team, const struct team_chunk *chunk)
{
    uint64_t first = chunk->first + chunk->given;
    if (exec_is_in_step(&team->exec, first))
        return true;
    if (team->oldest.slot < ring_begun(&team->ring) ||
        !ring_is_left(&team->ring)) /* a thread may be at a chunk that was given up */
        return false;
    if (exec_enter_step(&team->exec, first) == 0)
        return true;
    error_set(&team->problem, "%s", team->exec.error);
    team->has_problem = true;
    return false;
}

/* Begins what has come, as far as there is room. */
static void fill_slots(struct team *team)
{
    while (team->begun < team->chunk_count && !team->has_problem) {
        struct team_chunk *chunk = &team->chunk[(team->chunk_first + team->begun) % TEAM_CHUNKS_MAX];
        struct team_slot *slot = team_slot(team, ring_begun(&team->ring));
        if (slot->sent > 0 || slot->small_sent || ring_free_slot(&team->ring) == NULL || !is_in_step(team, chunk))
            return;
        if (slot->bytes != NULL)
            drop_records(team, slot); /* the slot was cancelled */
        struct range range = {.first = chunk->first + chunk->given, .count = chunk->count - chunk->given};
        if (!chunk->isolated && team->slot_most > 0)
            range.count = exec_least(range.count, team->slot_most);
        if (!begin_slot(team, chunk, slot, &range))
            return;
        chunk->given += range.count;
        team->begun += chunk->given == chunk->count;
    }
}

static void team_begin(struct executor *executor, uint64_t first, uint64_t count, uint64_t mark, bool isolated)
{
    struct team *team = team_of(executor);
    assert(team->chunk_count < TEAM_CHUNKS_MAX && "a worker has so many chunks at most");
    unsigned last = (team->chunk_first + team->chunk_count++) % TEAM_CHUNKS_MAX;
    team->chunk[last] = (struct team_chunk){.first = first, .count = count, .mark = mark, .isolated = isolated};
    team->empty_told = false;
    fill_slots(team);
}

static void team_set_mark(struct executor *executor, uint64_t mark)
{
    struct team *team = team_of(executor);
    if (team->chunk_count > 0)
        team->chunk[team->chunk_first].mark = mark;
}

static void team_forget(struct executor *executor)
{
    struct team *team = team_of(executor);
    uint64_t number = team->oldest.slot, begun = ring_begun(&team->ring);
    if (team->chunk_count == 0)
        return;
    while (number < begun && !team_slot(team, number)->last)
        number++;
    while (++number < begun) {
        ring_close_slot(&team->ring, number);
        team_slot(team, number)->cancelled = true;
    }
    team->chunk_count = 1;
    team->begun = team->begun > 0;
}

/* --- what is done leaves --- */

/* Complete iterations of the oldest slot behind those that have left. */
struct ready {
    uint64_t count, digest;
    bool full;   /* as much as leaves at once */
    bool failed; /* the part behind it has */
};

static uint64_t part_size(const struct ring_slot *slot, uint64_t at)
{
    return exec_least(slot->part_count, slot->count - at);
}

static struct ready look_at_parts(const struct team *team, struct ring_slot *slot)
{
    struct ready ready = {0};
    for (uint64_t at = team->oldest.told; at < slot->count; at = team->oldest.told + ready.count) {
        struct ring_part *part = &slot->part[at / slot->part_count];
        uint64_t size = part_size(slot, at);
        if (atomic_load_explicit(&part->done, memory_order_acquire) < size)
            break;
        ready.failed = atomic_load_explicit(&part->failed, memory_order_relaxed);
        ready.full =
            team->config.exec.collect && ready.count > 0 && (ready.count + size) * team->record_bytes > SLICE_MAX;
        if (ready.failed || ready.full)
            break;
        ready.count += size;
        ready.digest += atomic_load_explicit(&part->digest, memory_order_relaxed);
    }
    return ready;
}

/* The oldest chunk is over, of which the event has the last part. */
static void end_oldest_chunk(struct team *team, struct event *event, uint64_t ended_ns)
{
    struct team_slot *slot = team_slot(team, team->oldest.slot);
    double later = later_ns(team);
    pthread_mutex_lock(&team->lock);
    const struct spread spread = slot->spread;
    pthread_mutex_unlock(&team->lock);
    take_team_figures(team);
    event->type = EVENT_FINISHED;
    event->chunk.began_ns = team->oldest.began_ns;
    event->chunk.compute_ns = wall_ns(team, ended_ns, later);
    event->chunk.deviation_ns = spread_deviation_ns(&spread) / team->config.threads;
    event->chunk.samples = spread.pieces < UINT32_MAX ? (uint32_t)spread.pieces : UINT32_MAX;
    if (ended_ns > team->last_ended_ns)
        team->last_ended_ns = ended_ns;
    team->last_later_ns = later;
    team->chunk_first = (team->chunk_first + 1) % TEAM_CHUNKS_MAX;
    team->chunk_count--;
    team->begun--;
    team->oldest.began_ns = team->oldest.before = 0;
}

/* Goes to the next slot that is wanted, as all of the oldest has been told. */
static void end_oldest_slot(struct team *team)
{
    struct team_slot *slot = team_slot(team, team->oldest.slot);
    team->oldest.before += slot->last ? 0 : ring_slot(&team->ring, team->oldest.slot)->count;
    team->oldest.told = 0;
    slot->over = true;
    if (slot->sent == 0 && slot->bytes != NULL)
        drop_records(team, slot);
    do
        team->oldest.slot++;
    while (team->oldest.slot < ring_begun(&team->ring) && team_slot(team, team->oldest.slot)->cancelled);
    ring_release(&team->ring, team->oldest.slot);
}

/* Notes that `count` more iterations of the oldest slot leave with the event, which ends the chunk with its last ones.
 */
static void note_told(struct team *team, struct event *event, uint64_t count, uint64_t now_ns)
{
    const struct ring_slot *slot = ring_slot(&team->ring, team->oldest.slot);
    team->oldest.told += count;
    team->oldest.told_ns = now_ns;
    event->chunk.done = team->oldest.before + team->oldest.told;
    event->chunk.compute_ns = 0;
    if (team->oldest.told < slot->count)
        return;
    if (team_slot(team, team->oldest.slot)->last)
        end_oldest_chunk(team, event, now_ns);
    end_oldest_slot(team);
}

/* Puts the records into the event. What goes within a message is written behind others that may be on their way: it
 * gets a place of its own. False: that is taken. */
static bool attach_records(struct team *team, struct event *event, const struct ready *ready)
{
    struct team_slot *slot = team_slot(team, team->oldest.slot);
    size_t bytes = ready->count * team->record_bytes;
    unsigned char *records = slot->bytes + EXEC_HEADROOM + team->oldest.told * team->record_bytes;
    if (bytes > INLINE_MAX || team->oldest.told == 0) {
        slot->sent++;
    } else if (!slot->small_sent) {
        records = memcpy(slot->small + EXEC_HEADROOM, records, bytes);
        slot->small_sent = true;
    } else
        return false;
    event->chunk.data = records;
    event->chunk.bytes = bytes;
    return true;
}

/* Makes the event a part of the oldest chunk that leaves, the last one or not. False: none is due. */
static bool tell_part(struct team *team, struct event *event)
{
    struct ring_slot *slot = ring_slot(&team->ring, team->oldest.slot);
    struct ready ready = look_at_parts(team, slot);
    if (team->oldest.began_ns == 0)
        team->oldest.began_ns = atomic_load_explicit(&slot->began_ns, memory_order_relaxed);
    if (ready.count == 0)
        return false;
    bool at_end = team->oldest.told + ready.count == slot->count;
    uint64_t now_ns = at_end ? atomic_load_explicit(&slot->ended_ns, memory_order_relaxed) : clock_ns(CLOCK_MONOTONIC);
    if (team->oldest.told_ns < team->oldest.began_ns)
        team->oldest.told_ns = team->oldest.began_ns;
    if (!at_end && !ready.full && !ready.failed && now_ns < team->oldest.told_ns + SLICE_NS)
        return false;
    *event = (struct event){.type = EVENT_SLICE, .chunk = {.count = ready.count, .digest = ready.digest}};
    if (team->config.exec.collect && !attach_records(team, event, &ready))
        return false;
    note_told(team, event, ready.count, now_ns);
    return true;
}

/* --- what the main thread does alone --- */

/* Begins what is next of the oldest slot, if it is for the main thread alone. */
static bool begin_alone(struct team *team)
{
    struct ring_slot *slot = ring_slot(&team->ring, team->oldest.slot);
    bool isolated = team_slot(team, team->oldest.slot)->isolated;
    if (!isolated && !look_at_parts(team, slot).failed)
        return false;
    if (team->oldest.began_ns == 0)
        team->oldest.began_ns = clock_ns(CLOCK_MONOTONIC);
    executor_begin(&team->exec.executor, slot->first + team->oldest.told,
                   isolated ? slot->count : part_size(slot, team->oldest.told), 0, isolated);
    team->oldest.alone = true;
    return true;
}

/* An iteration that fails is told by itself, so the last part of what is run alone may have nothing in it. */
static enum turn advance_alone(struct team *team, struct event *event)
{
    *event = (struct event){0};
    enum turn turn = executor_advance(&team->exec.executor, event);
    if (turn != TURN_EVENT)
        return turn;
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), count = event->chunk.count;
    team->oldest.alone = event->type != EVENT_FINISHED;
    event->now_ns = now_ns;
    if (team->oldest.alone) {
        team->oldest.told += count;
        team->oldest.told_ns = now_ns;
        return TURN_EVENT;
    }
    event->type = EVENT_SLICE;
    note_told(team, event, count, now_ns);
    return count > 0 || event->type == EVENT_FINISHED ? TURN_EVENT : TURN_WORKED;
}

/* --- a turn --- */

/* Makes the next event, in this order: a problem (nothing begins any more after it), a part of the oldest chunk that
 * leaves, its mark, or that a thread has nothing to do, which is told once for all that has begun. False: none is due.
 */
static bool tell_next(struct team *team, struct event *event)
{
    struct team_chunk *chunk = &team->chunk[team->chunk_first];
    if (team->has_problem && !team->problem_told) {
        *event = (struct event){.type = EVENT_PROBLEM, .text = team->problem.text};
        return team->problem_told = true;
    }
    if (team->chunk_count == 0 || team->oldest.slot == ring_begun(&team->ring))
        return false;
    if (!team->oldest.alone && tell_part(team, event))
        return true;
    const struct ring_slot *slot = ring_slot(&team->ring, team->oldest.slot);
    uint64_t done = team->oldest.before + atomic_load_explicit(&slot->done, memory_order_relaxed);
    if (chunk->mark > 0 && done >= chunk->mark && done < chunk->count) {
        uint64_t time_ns = wall_ns(team, clock_ns(CLOCK_MONOTONIC), later_ns(team));
        chunk->mark = 0;
        *event = (struct event){.type = EVENT_MARK, .chunk = {.done = done, .compute_ns = time_ns}};
        return true;
    }
    if (team->empty_told || team->begun < team->chunk_count || !ring_is_empty(&team->ring))
        return false;
    *event = (struct event){.type = EVENT_DRY};
    return team->empty_told = true;
}

static enum turn advance_team(struct team *team, struct event *event)
{
    take_team_news(team);
    fill_slots(team);
    if (tell_next(team, event))
        return TURN_EVENT;
    bool has_slot = team->chunk_count > 0 && team->oldest.slot < ring_begun(&team->ring);
    if (has_slot && (team->oldest.alone || begin_alone(team))) {
        enum turn turn = advance_alone(team, event);
        if (turn != TURN_BLOCKED)
            return turn;
    }
    if (team_work(team, 0, clock_ns(CLOCK_MONOTONIC) + TURN_NS))
        return tell_next(team, event) ? TURN_EVENT : TURN_WORKED;
    return tell_next(team, event) ? TURN_EVENT : TURN_BLOCKED;
}

static enum turn team_advance(struct executor *executor, struct event *event)
{
    struct team *team = team_of(executor);
    enum turn turn = advance_team(team, event);
    while (turn == TURN_BLOCKED && !is_blocked(team))
        turn = advance_team(team, event);
    return turn;
}

static void team_sent(struct executor *executor, const void *data)
{
    struct team *team = team_of(executor);
    const unsigned char *bytes = data;
    executor_sent(&team->exec.executor, data);
    for (unsigned i = 0; i < team->ring.slots; i++) {
        struct team_slot *slot = &team->slot[i];
        if (bytes == slot->small + EXEC_HEADROOM)
            slot->small_sent = false;
        else if (slot->bytes != NULL && bytes >= slot->bytes && bytes < slot->bytes + EXEC_HEADROOM + slot->size)
            if (--slot->sent == 0 && slot->over)
                drop_records(team, slot);
    }
}

static int team_descriptor(const struct executor *executor)
{
    return ((const struct team *)executor)->bell;
}

static void team_check(const struct executor *executor)
{
    const struct team *team = (const struct team *)executor;
    const struct team_oldest *oldest = &team->oldest;
    const uint64_t begun = ring_begun(&team->ring);
    size_t bytes = 0;
    ring_check(&team->ring);
    assert(team->chunk_count <= TEAM_CHUNKS_MAX && team->begun <= team->chunk_count && "chunks begin in their order");
    for (unsigned i = 0; i < team->chunk_count; i++) {
        const struct team_chunk *chunk = &team->chunk[(team->chunk_first + i) % TEAM_CHUNKS_MAX];
        assert((i < team->begun) == (chunk->given == chunk->count) && "a chunk has begun when all of it is in slots");
        assert((i <= team->begun || chunk->given == 0) && "one chunk after another goes into slots");
    }
    assert(oldest->slot <= begun && begun - oldest->slot <= team->ring.slots && "slots are told in their order");
    if (oldest->slot < begun) {
        const uint64_t in_slot = ring_slot(&team->ring, oldest->slot)->count;
        assert(oldest->told <= in_slot && "no more is told of a slot than is in it");
        assert(team->chunk_count > 0 && oldest->before + in_slot <= team->chunk[team->chunk_first].count &&
               "the slot that is told is the oldest chunk's");
    }
    assert((!oldest->alone || oldest->slot < begun) && "the main thread computes iterations of a slot");
    assert((!team->problem_told || team->has_problem) && "a problem that was told is there");
    for (unsigned i = 0; i < team->ring.slots; i++) {
        const struct team_slot *slot = &team->slot[i];
        assert((slot->bytes != NULL) == (slot->size > 0) && "records have memory");
        assert((slot->sent == 0 || slot->bytes != NULL) && "records on their way are kept");
        bytes += slot->size;
    }
    assert(bytes == team->bytes_in_use && "the memory of all slots is counted");
}

static const struct executor_ops team_ops = {
    .probe = team_probe,
    .begin = team_begin,
    .set_mark = team_set_mark,
    .forget = team_forget,
    .advance = team_advance,
    .sent = team_sent,
    .descriptor = team_descriptor,
    .check = team_check,
    .fini = team_close,
};

int team_init(struct team *team, const struct team_config *config)
{
    struct error error;
    *team = (struct team){
        .executor = {&team_ops, {.worker = config->exec.worker.rank, .count = config->threads, .max_over_mean = 1}},
        .config = *config,
        .bell = -1,
    };
    team->config.exec.short_runs = false;
    struct exec_config alone = team->config.exec;
    alone.spread = false;
    team->record_bytes = hdss_record_size(alone.loop);
    set_limits(team);
    pthread_mutex_init(&team->lock, NULL);
    if (exec_init(&team->exec, &alone) < 0) {
        snprintf(team->error, sizeof team->error, "%s", team->exec.error);
        return -1;
    }
    if (ring_init(&team->ring, config->threads, config->technique, notify, team, &error) < 0)
        return team_refuse(team, error.text);
    team->bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    team->member = aligned_alloc(RING_LINE, config->threads * sizeof *team->member);
    team->slot = calloc(team->ring.slots, sizeof *team->slot);
    if (team->member != NULL)
        memset(team->member, 0, config->threads * sizeof *team->member);
    if (team->bell < 0 || team->member == NULL || team->slot == NULL)
        return team_refuse(team, "no memory, or no files, for its threads");
    for (unsigned t = 0; t < config->threads; t++)
        if (open_member(team, t) < 0)
            return -1;
    team->exec.step.tell_others = tell_members;
    team->exec.step.others = team;
    return 0;
}
