/* SPDX-License-Identifier: MIT */
/* The usual path of a chunk through the executor: see inline.h. This path is in one file so that a short chunk takes
 * few instructions. Rare cases are in steps.c. */
#include "worker/exec/inline.h"

#include "common/machine/machine.h"
#include "common/machine/span.h"
#include "common/os/clock.h"
#include "common/util/digest.h"
#include "common/util/kept.h"
#include "common/util/ranges.h"
#include "common/util/returned.h"
#include "proto/message.h"
#include "worker/exec/steps.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define TURN_NS 2000000.0
/* Upper bound of the expected time of one call of the kernel. A turn ends after the first call that exceeds the time of
 * the turn, so short calls keep turns short. But reading the clock after each call costs some 50 ns. If the configured
 * turn is shorter than this bound, a turn is one call, because many kernels are slower in shorter calls. */
#define CALL_NS           (TURN_NS / 8)
#define LOOK_BACK_NS      1e9
#define DIGEST_SOON_BYTES 4096

static void begin_spread_piece(struct exec *exec)
{
    const struct exec_chunk *chunk = &exec->chunk;
    exec->pieces.first = chunk->done;
    exec->pieces.end = chunk->done + spread_piece(chunk->count, chunk->count - chunk->done, exec->iteration_ns);
    exec->pieces.ns = 0;
}

/* Ends a complete piece; its time becomes a sample of the spread. If the piece took too little time, it is extended
 * instead. A short piece at the end of the chunk is ignored, unless it is the only piece: its time depends more on the
 * clock than on the kernel. */
void exec_end_piece(struct exec *exec)
{
    const struct exec_chunk *chunk = &exec->chunk;
    struct exec_pieces *pieces = &exec->pieces;
    if (chunk->done < pieces->end)
        return;
    bool is_long = pieces->ns >= SPREAD_PIECE_NS / 2, last = chunk->done == chunk->count;
    if (is_long || (last && pieces->spread.pieces == 0))
        spread_add(&pieces->spread, chunk->done - pieces->first, pieces->ns);
    if (last)
        return;
    if (is_long)
        begin_spread_piece(exec);
    else
        pieces->end += spread_piece(chunk->count, chunk->count - chunk->done, exec->iteration_ns);
}

int exec_call_kernel(struct exec *exec, uint64_t first, uint64_t count, void *records)
{
    if (!exec_is_in_step(exec, first) && exec_enter_step(exec, first) < 0)
        return -1;
    if (exec->records.variable)
        return exec_run_variable(exec, first, count);
    return returned(exec->config.kernel->run(exec->instance, first, count, records, exec->error), "run", exec->error);
}

/* Updates the estimated iteration time after `count` iterations took `ns`. If the new time is longer than the estimate,
 * it replaces the estimate. Otherwise the new time enters a mean. The mean covers the iterations since the last
 * replacement, but at most those of about LOOK_BACK_NS. At first the mean has one iteration of TURN_NS: even if nearly
 * all iterations cost nothing, one in a thousand may be long. */
static void learn_iteration(struct exec *exec, uint64_t count, double ns)
{
    bool is_known = exec->iteration_ns > 0;
    double time = ns / (double)count, known = is_known ? exec->iteration_ns : TURN_NS;
    double seen = is_known ? exec->iterations_seen : 1, most = LOOK_BACK_NS / known;
    time = time < 0.5 ? 0.5 : time;
    if (time > known)
        seen = 0;
    else if (seen > most)
        seen = most < 1 ? 1 : most;
    exec->iterations_seen = seen + (double)count;
    exec->iteration_ns = (known * seen + time * (double)count) / exec->iterations_seen;
}

/* A slowed worker sleeps at irregular intervals. So the piece of the spread gets the computing time times the slowdown,
 * and not the elapsed time. */
int exec_run_timed(struct exec *exec, uint64_t count, void *records, bool soon)
{
    struct exec_chunk *chunk = &exec->chunk;
    bool slow = exec->config.slowdown > 1;
    uint64_t began = chunk->waiting ? chunk->wait_began_ns : soon ? exec->ended_ns : clock_ns(CLOCK_MONOTONIC);
    uint64_t before = chunk->waiting || !slow ? began : clock_ns(exec_work_clock(exec));
    int result = exec_call_kernel(exec, chunk->first + chunk->done, count, records);
    double worked = 0, took;
    if (result == HDSS_WAIT) {
        chunk->wait_began_ns = began;
        return result;
    }
    if (slow) {
        worked = (double)(clock_ns(exec_work_clock(exec)) - before);
        exec->waiting_ns += worked * (exec->config.slowdown - 1);
        exec_pay_waiting(&exec->waiting_ns, chunk->done + count == chunk->count);
    }
    uint64_t ended = clock_ns(CLOCK_MONOTONIC), elapsed = ended - began;
    if (chunk->done == 0)
        chunk->began_ns = began;
    chunk->compute_ns += elapsed;
    if (exec->config.short_runs && count == chunk->count)
        exec_look_for_short(exec, began, ended);
    exec->ended_ns = ended;
    took = slow ? worked * exec->config.slowdown : (double)elapsed;
    exec->pieces.ns += took;
    if (result == 0)
        learn_iteration(exec, count, took);
    return result;
}

static double turn_ns(const struct exec *exec)
{
    return exec->config.turn_ns > 0 ? (double)exec->config.turn_ns : TURN_NS;
}

static double call_ns(const struct exec *exec)
{
    return turn_ns(exec) < CALL_NS ? turn_ns(exec) : CALL_NS;
}

static uint64_t turn_size(const struct exec *exec)
{
    const struct exec_chunk *chunk = &exec->chunk;
    uint64_t size = exec_least(chunk->count - chunk->done, exec_room(exec));
    /* A kernel with a descriptor() may wait for an event in each iteration. So a turn has one iteration: otherwise the
     * finished iterations would wait for the next one before their results are sent. */
    if (exec->config.kernel->descriptor != NULL)
        return 1;
    if (exec->config.turn_iterations > 0)
        size = exec_least(size, exec->config.turn_iterations);
    if (chunk->mark > chunk->done)
        size = exec_least(size, chunk->mark - chunk->done);
    return chunk->done < chunk->is_reset ? 1 : size;
}

uint64_t exec_call_size(const struct exec *exec, uint64_t most)
{
    double in_time = exec->iteration_ns > 0 ? call_ns(exec) / exec->iteration_ns : 1;
    if (exec->config.spread)
        most = exec_least(most, exec->pieces.end - exec->chunk.done);
    return in_time < 1 ? 1 : in_time < (double)most ? (uint64_t)in_time : most;
}

static void take_in_end(struct exec *exec, uint64_t end)
{
    const uint64_t count = exec->chunk.count;
    if (end < count)
        exec_cut(exec, end);
    exec->chunk.stolen += count - exec->chunk.count;
}

/* Marks the next `count` iterations as begun; the server can then take only later iterations. The server may already
 * have taken some of these `count` iterations. Returns how many of them this worker still has. */
__attribute__((noinline)) static uint64_t claim(struct exec *exec, uint64_t count)
{
    struct exec_chunk *chunk = &exec->chunk;
    const uint64_t begun = chunk->done + count;
    if (chunk->is_shared)
        take_in_end(exec, span_claim(exec->config.span, begun));
    else
        chunk->is_shared =
            span_open(exec->config.span, *exec->config.server, *exec->config.chunk, chunk->first, chunk->count, begun);
    return exec_least(count, chunk->count - chunk->done);
}

static void compute_turn(struct exec *exec)
{
    struct exec_chunk *chunk = &exec->chunk;
    struct exec_records *made = &exec->records;
    const uint64_t before_ns = chunk->compute_ns, begun = chunk->done, end = begun + turn_size(exec);
    const size_t gathered = output_bytes(&made->output);
    unsigned char *const records = exec_next_records(exec), *to = records;
    int result = 0;
    assert(end > begun && end <= chunk->count && "a turn has iterations, of the chunk");
    /* If the last turn ended with a failed iteration, exec_tell_failure() has counted this iteration as done. It may
     * have completed a piece. */
    if (exec->config.spread)
        exec_end_piece(exec);
    while (result == 0 && chunk->done < end && (double)(chunk->compute_ns - before_ns) < turn_ns(exec)) {
        uint64_t count = exec_call_size(exec, end - chunk->done);
        if (exec->config.span != NULL && (chunk->is_shared || chunk->done + count < chunk->count) &&
            (count = claim(exec, count)) == 0)
            break;
        result = exec_run_timed(exec, count, to, chunk->done > begun);
        if (result < 0) {
            chunk->failed = count == 1;
            chunk->final = chunk->failed && made->output.called_failed;
            chunk->is_reset = chunk->done + count;
        } else if (result == 0) {
            chunk->done += count;
            if (!made->variable)
                to += count * made->bytes;
            if (exec->config.spread)
                exec_end_piece(exec);
        }
    }
    if (chunk->is_shared) {
        chunk->is_shared = false;
        take_in_end(exec, span_close(exec->config.span));
    }
    const uint64_t iterations = chunk->done - begun;
    if (iterations == 0)
        return;
    if (made->variable)
        exec_look_at_output(exec, iterations, gathered);
    else
        chunk->digest += digest_records(chunk->first + begun, iterations, records, made->bytes);
}

uint64_t exec_next_part(const struct exec *exec, size_t *bytes)
{
    uint64_t gathered = exec->chunk.done - exec->chunk.sliced;
    *bytes = gathered * exec->records.bytes;
    return exec->records.variable && exec->config.collect ? output_fit(&exec->records.output, bytes) : gathered;
}

static int reserve_block(struct exec *exec, struct exec_buffer *buffer, size_t bytes)
{
    free(buffer->bytes);
    buffer->room = bytes < SLICE_MAX ? SLICE_MAX : bytes;
    buffer->bytes = aligned_alloc(64, (EXEC_HEADROOM + buffer->room + 63) / 64 * 64);
    if (buffer->bytes != NULL)
        return 0;
    buffer->room = 0;
    snprintf(exec->error, sizeof exec->error, "no memory for a block of %zu bytes", bytes);
    return -1;
}

void exec_send_part(struct exec *exec, struct event *event, uint64_t count, size_t bytes)
{
    struct exec_chunk *chunk = &exec->chunk;
    struct exec_records *made = &exec->records;
    struct exec_buffer *buffer = exec_buffer_in_use(exec);
    assert(count <= chunk->done - chunk->sliced && "what leaves has been computed");
    event->chunk.count = count;
    if (made->variable && exec->config.collect && bytes > buffer->room && reserve_block(exec, buffer, bytes) < 0) {
        /* The executor has no memory for the results and cannot give the iterations to another rank. So it reports them
         * as failed. */
        event->type = EVENT_ITERATIONS_FAILED;
        event->text = exec->error;
        output_take(&made->output, count, exec->config.loop, NULL);
        chunk->sliced += count;
        return;
    }
    if (exec->config.collect && count > 0) {
        event->chunk.data = buffer->bytes + EXEC_HEADROOM;
        event->chunk.bytes = bytes;
        event->chunk.has_failed = made->variable && output_fails_next(&made->output);
        if (made->variable)
            chunk->digest += output_take(&made->output, count, exec->config.loop, buffer->bytes + EXEC_HEADROOM);
        buffer->sent = true;
        made->filling = (made->filling + 1) % EXEC_BUFFERS;
    }
    event->chunk.digest = chunk->digest;
    chunk->sliced += count;
    chunk->sliced_at_ns = chunk->compute_ns;
    chunk->digest = 0;
    event->type = EVENT_SLICE;
    if (chunk->sliced < chunk->count)
        return;
    event->type = EVENT_FINISHED;
    event->chunk.first = chunk->first;
    event->chunk.began_ns = chunk->began_ns;
    event->chunk.deviation_ns = spread_deviation_ns(&exec->pieces.spread);
    event->chunk.samples = exec->pieces.spread.pieces < UINT32_MAX ? (uint32_t)exec->pieces.spread.pieces : UINT32_MAX;
    chunk->running = false;
}

/* Sends the next part if that is due. It is due if the part completes the chunk, if the part fills a buffer, or if the
 * previous part was sent long ago. Parts are sent in order. An empty part is due only at the end of the chunk. */
static bool send_due_part(struct exec *exec, struct event *event)
{
    const struct exec_chunk *chunk = &exec->chunk;
    size_t bytes;
    uint64_t count = exec_next_part(exec, &bytes), gathered = chunk->done - chunk->sliced;
    if (count > 0 && chunk->count * exec->records.bytes <= DIGEST_SOON_BYTES)
        event->now_ns = exec->ended_ns;
    event->chunk.done = chunk->done;
    event->chunk.compute_ns = chunk->compute_ns;
    bool full = exec->records.variable ? bytes >= SLICE_MAX || count < gathered : count == exec->records.capacity;
    bool late = chunk->compute_ns - chunk->sliced_at_ns >= SLICE_NS;
    if (chunk->sliced + count < chunk->count && (count == 0 || (!(exec->config.collect && full) && !late)))
        return false;
    exec_send_part(exec, event, count, bytes);
    return true;
}

static bool inline_tell_mark(struct exec *exec, struct event *event)
{
    struct exec_chunk *chunk = &exec->chunk;
    if (!chunk->running || chunk->mark == 0 || chunk->mark > chunk->done)
        return false;
    chunk->mark = 0;
    *event = (struct event){.type = EVENT_MARK, .chunk = {.done = chunk->done, .compute_ns = chunk->compute_ns}};
    return true;
}

static void begin_chunk(struct exec *exec, uint64_t first, uint64_t count, uint64_t mark, bool isolated)
{
    struct exec_chunk *chunk = &exec->chunk;
    assert(!chunk->running && "chunks are computed one after another");
    /* Enters the time step before the chunk begins, so that the chunk's time does not include the time for entering. If
     * entering fails, executor_advance() reports it. */
    if (exec->config.helper == NULL && !exec_is_in_step(exec, first))
        exec_enter_step(exec, first);
    if (exec->config.span != NULL)
        span_note_chunk(exec->config.span, *exec->config.chunk);
    chunk->running = true;
    chunk->first = first;
    chunk->count = count;
    chunk->mark = mark;
    chunk->done = chunk->sliced = chunk->is_reset = 0;
    chunk->waiting = chunk->ends = chunk->failed = chunk->final = chunk->died = false;
    chunk->sliced_at_ns = 0;
    chunk->digest = 0;
    chunk->compute_ns = exec->config.short_runs ? exec_pause(exec) : 0;
    if (exec->records.variable)
        output_clear(&exec->records.output, first);
    if (exec->config.spread) {
        exec->pieces.spread = (struct spread){0};
        begin_spread_piece(exec);
    }
    if (exec->config.helper != NULL) {
        exec_remote_begin(exec);
        return;
    }
    exec->isolated.wanted = isolated && exec->config.kernel->descriptor == NULL;
    if (exec->isolated.wanted)
        chunk->began_ns = clock_ns(CLOCK_MONOTONIC);
}

void exec_take_next_chunk(struct exec *exec)
{
    const struct exec_next next = exec->next;
    if (next.count == 0 || exec->chunk.running)
        return;
    exec->next.count = 0;
    begin_chunk(exec, next.first, next.count, next.mark, next.isolated);
}

static void inline_begin(struct executor *executor, uint64_t first, uint64_t count, uint64_t mark, bool isolated)
{
    struct exec *exec = exec_of(executor);
    exec_take_next_chunk(exec);
    if (!exec->chunk.running) {
        begin_chunk(exec, first, count, mark, isolated);
        return;
    }
    assert(exec->config.helper != NULL && exec->next.count == 0 && "a helper has one chunk ahead");
    exec->next = (struct exec_next){first, count, mark, isolated};
    exec_remote_give_ahead(exec);
}

static void inline_set_mark(struct executor *executor, uint64_t mark)
{
    struct exec *exec = exec_of(executor);
    exec_take_next_chunk(exec);
    exec->chunk.mark = mark;
    if (exec->config.helper != NULL)
        exec_remote_set_mark(exec);
}

static uint64_t begun_of_chunk(const struct exec *exec)
{
    const struct exec_chunk *chunk = &exec->chunk;
    if (exec->remote.posted)
        return exec_remote_begun(exec);
    uint64_t in_child = exec->isolated.wanted ? isolated_begun(&exec->isolated) : 0;
    return chunk->done + (chunk->waiting || chunk->failed ? 1 : in_child);
}

void exec_cut(struct exec *exec, uint64_t kept)
{
    struct exec_chunk *chunk = &exec->chunk;
    uint64_t begun = begun_of_chunk(exec);
    assert(chunk->running && begun <= chunk->count && "what has begun is the chunk's");
    kept = kept > begun ? kept : begun > 0 ? begun : 1;
    if (exec->remote.posted)
        kept = exec_remote_cut(exec, kept);
    if (kept >= chunk->count)
        return;
    chunk->count = kept;
    chunk->is_reset = exec_least(chunk->is_reset, kept);
    if (chunk->mark >= kept)
        chunk->mark = 0;
    if (exec->config.spread && exec->config.helper == NULL) {
        exec->pieces.end = exec_least(exec->pieces.end, kept);
        exec_end_piece(exec);
    }
}

static void inline_forget(struct executor *executor)
{
    exec_remote_forget_next(exec_of(executor));
}

static struct range inline_cut(struct executor *executor, unsigned waiting)
{
    struct exec *exec = exec_of(executor);
    if (exec->next.count > 0) {
        const struct range of_next = exec_remote_cut_next(exec, waiting);
        if (of_next.count > 0)
            return of_next;
    }
    struct exec_chunk *chunk = &exec->chunk;
    const uint64_t count = chunk->count, begun = begun_of_chunk(exec), unbegun = count - (begun > 0 ? begun : 1);
    if (!chunk->running)
        return (struct range){0};
    exec_cut(exec, count - recall_share(unbegun, 1, waiting));
    return (struct range){chunk->first + chunk->count, count - chunk->count};
}

static void tell_stolen(struct exec *exec, struct event *event)
{
    struct exec_chunk *chunk = &exec->chunk;
    const struct range range = {chunk->first + chunk->count, chunk->stolen};
    chunk->stolen = 0;
    *event = (struct event){.type = EVENT_STOLEN, .stolen.range = range};
}

static enum turn advance_exec(struct exec *exec, struct event *event)
{
    const struct exec_chunk *chunk = &exec->chunk;
    if (inline_tell_mark(exec, event))
        return TURN_EVENT;
    if (!chunk->running || exec_buffer_in_use(exec)->sent || (chunk->ends && !exec_has_ended(exec)))
        return TURN_BLOCKED;
    bool computes = exec_can_compute(exec);
    if (exec->config.helper != NULL) {
        if ((computes || exec->remote.posted) && !exec_remote_turn(exec))
            return inline_tell_mark(exec, event) ? TURN_EVENT : TURN_BLOCKED;
        /* After EVENT_STOLEN the buffer may still be full, so it may have no room. */
    } else if (computes && exec_room(exec) > 0) {
        (exec->isolated.wanted ? exec_compute_in_child : compute_turn)(exec);
        if (chunk->stolen > 0) {
            tell_stolen(exec, event);
            return TURN_EVENT;
        }
    }
    if (exec->step.is_stuck) {
        if (exec->step.stuck_told)
            return TURN_BLOCKED;
        *event = (struct event){.type = EVENT_FATAL, .text = exec->error};
        exec->step.stuck_told = true;
        return TURN_EVENT;
    }
    if (chunk->failed) {
        exec_tell_failure(exec, event);
        return TURN_EVENT;
    }
    if (chunk->waiting)
        return exec_wait_turn(exec, event);
    if (send_due_part(exec, event) || inline_tell_mark(exec, event))
        return TURN_EVENT;
    return exec->executor.is_put_off ? TURN_BLOCKED : TURN_WORKED;
}

/* True if the buffer for the running chunk's results is still being sent. The worker must then poll the runtime instead
 * of sleeping. The helper may have got this chunk ahead and finished it already; then no news of the helper would wake
 * the worker. */
static bool waits_for_sends(struct exec *exec)
{
    return exec->chunk.running && exec_buffer_in_use(exec)->sent;
}

static enum turn advance_with_helper(struct exec *exec, struct event *event)
{
    enum turn turn;
    exec_take_next_chunk(exec);
    do {
        const bool probes = exec->remote.probing != PROBING_NOTHING;
        if (!probes)
            exec_remote_look(exec);
        turn = probes ? exec_probe_turn(exec, event) : advance_exec(exec, event);
    } while (turn == TURN_BLOCKED && !waits_for_sends(exec) && !exec_remote_rest(exec));
    return turn;
}

/* A kernel with a descriptor() waits for asynchronous work, such as a process. After a turn that finished an iteration,
 * the kernel gets a second turn at once and begins the next iteration. So this iteration already runs while the runtime
 * handles messages and results. */
static enum turn inline_advance(struct executor *executor, struct event *event)
{
    struct exec *exec = exec_of(executor);
    if (exec->config.helper != NULL)
        return advance_with_helper(exec, event);
    enum turn turn = advance_exec(exec, event);
    if (turn != TURN_WORKED || exec->config.kernel->descriptor == NULL)
        return turn;
    enum turn next = advance_exec(exec, event);
    return next == TURN_BLOCKED ? TURN_WORKED : next;
}

static void inline_sent(struct executor *executor, const void *data)
{
    struct exec_buffer *buffers = exec_of(executor)->records.buffers;
    for (unsigned i = 0; i < EXEC_BUFFERS; i++)
        if (buffers[i].bytes != NULL && buffers[i].bytes + EXEC_HEADROOM == data)
            buffers[i].sent = false;
}

/* Gives a buffer other memory, because MPI may read its present memory until the process ends. If there is no other
 * memory, the buffer counts as being sent forever, and the worker stops. A buffer in memory shared with a helper can
 * move only once. Once is enough: a worker sends its results to its master, and to the supermaster after the loss of
 * the master. */
static void leave_buffer(struct exec *exec, struct exec_buffer *buffer)
{
    const size_t bytes = exec_buffer_bytes(exec);
    unsigned char *fresh = NULL;
    if (exec->records.variable)
        buffer->room = 0;
    else if (exec->config.helper == NULL)
        fresh = aligned_alloc(64, bytes);
    else if (!buffer->has_moved)
        fresh = buffer->bytes + EXEC_BUFFERS * bytes;
    if (fresh == NULL && !exec->records.variable)
        return;
    if (exec->records.variable || exec->config.helper == NULL)
        kept_add(buffer->bytes);
    else
        exec->remote.helper.is_kept = buffer->has_moved = true;
    buffer->bytes = fresh;
    buffer->sent = false;
}

static void inline_abandon(struct executor *executor, const void *data)
{
    struct exec *exec = exec_of(executor);
    for (unsigned i = 0; i < EXEC_BUFFERS; i++) {
        struct exec_buffer *buffer = &exec->records.buffers[i];
        if (buffer->bytes != NULL && buffer->bytes + EXEC_HEADROOM == data) {
            leave_buffer(exec, buffer);
            return;
        }
    }
}

static int inline_descriptor(const struct executor *executor)
{
    const struct exec *exec = (const struct exec *)executor;
    const struct hdss_kernel *kernel = exec->config.kernel;
    if (exec->config.helper != NULL)
        return helper_descriptor(&exec->remote.helper);
    return exec->open && kernel->descriptor != NULL ? kernel->descriptor(exec->instance) : -1;
}

static bool inline_put_off(struct executor *executor)
{
    struct exec *exec = exec_of(executor);
    return exec_remote_put_off(exec) && !exec->chunk.waiting;
}

static bool inline_has_chunk(const struct executor *executor)
{
    const struct exec *exec = (const struct exec *)executor;
    return exec->chunk.running || exec->next.count > 0;
}

static void inline_stop_at(struct executor *executor, uint64_t ns)
{
    const struct exec *exec = exec_of(executor);
    if (exec->config.helper != NULL)
        atomic_store(&exec->remote.helper.channel->until_ns, ns);
}

const struct executor_ops inline_ops = {
    .probe = exec_probe,
    .begin = inline_begin,
    .set_mark = inline_set_mark,
    .forget = inline_forget,
    .cut = inline_cut,
    .end = exec_end,
    .advance = inline_advance,
    .sent = inline_sent,
    .abandon = inline_abandon,
    .descriptor = inline_descriptor,
    .check = exec_check,
    .put_off = inline_put_off,
    .stop_at = inline_stop_at,
    .has_chunk = inline_has_chunk,
    .fini = exec_fini,
};
