/* SPDX-License-Identifier: MIT */
/* The usual way of a chunk through the executor: see inline.h. It is in one file, as with short chunks it is to take
 * few instructions; what a chunk hardly ever meets is in steps.c. */
#include "worker/exec/inline.h"

#include "common/os/clock.h"
#include "common/util/digest.h"
#include "worker/exec/steps.h"

#include <stdio.h>
#include <stdlib.h>

/* Between two looks at the messages. */
#define TURN_NS 2000000.0
/* So much is digested in less than a microsecond: the clock need not be read again after it. */
#define DIGEST_SOON_BYTES 4096

/* --- pieces, which show how iterations differ --- */

static void begin_piece(struct exec *exec)
{
    exec->piece_first = exec->done;
    exec->piece_end = exec->done + spread_piece(exec->count, exec->count - exec->done, exec->iteration_ns);
    exec->piece_ns = 0;
}

static void begin_spread(struct exec *exec)
{
    exec->spread = (struct spread){0};
    begin_piece(exec);
}

/* Where a piece may end: one that turned out too short goes on, a short rest at the end tells more of the clock than of
 * the kernel and is left out. */
static void look_at_piece(struct exec *exec)
{
    if (exec->done < exec->piece_end)
        return;
    bool is_long = exec->piece_ns >= SPREAD_PIECE_NS / 2, last = exec->done == exec->count;
    if (is_long || (last && exec->spread.pieces == 0))
        spread_add(&exec->spread, exec->done - exec->piece_first, exec->piece_ns);
    if (last)
        return;
    if (is_long)
        begin_piece(exec);
    else
        exec->piece_end += spread_piece(exec->count, exec->count - exec->done, exec->iteration_ns);
}

/* --- computing --- */

int exec_call_kernel(struct exec *exec, uint64_t first, uint64_t count, void *records)
{
    if (!exec_is_in_step(exec, first) && exec_enter_step(exec, first) < 0)
        return -1;
    return exec->variable ? exec_run_variable(exec, first, count)
                          : exec->config.kernel->run(exec->instance, first, count, records, exec->error);
}

/* Runs the kernel; its time, waiting included, is added to compute_ns and to the running piece. The waiting of a slow
 * worker comes in lumps: to a piece it counts evenly. */
static int run_kernel(struct exec *exec, uint64_t first, uint64_t count, void *records, bool at_end)
{
    bool slow = exec->config.slowdown > 1;
    uint64_t began = exec->waiting ? exec->wait_began_ns : clock_ns(CLOCK_MONOTONIC);
    uint64_t before = exec->waiting || !slow ? began : clock_ns(exec_work_clock(exec));
    int result = exec_call_kernel(exec, first, count, records);
    double worked = 0;
    if (result == HDSS_WAIT) {
        exec->wait_began_ns = began;
        return result;
    }
    if (slow) {
        worked = (double)(clock_ns(exec_work_clock(exec)) - before);
        exec->waiting_ns += worked * (exec->config.slowdown - 1);
        exec_pay_waiting(&exec->waiting_ns, at_end);
    }
    uint64_t ended = clock_ns(CLOCK_MONOTONIC), elapsed = ended - began;
    if (exec->done == 0)
        exec->began_ns = began;
    exec->compute_ns += elapsed;
    if (exec->config.short_runs && count == exec->count)
        exec_look_for_short(exec, began, ended);
    exec->ended_ns = ended;
    exec->piece_ns += slow ? worked * exec->config.slowdown : (double)elapsed;
    return result;
}

/* Iterations for this turn: no further than the mark, the buffer and TURN_NS allow. */
static uint64_t turn_size(const struct exec *exec)
{
    uint64_t size = exec_least(exec->count - exec->done, exec_room(exec));
    if (exec->config.kernel->descriptor != NULL) /* what others have done must not wait for one that waits */
        return 1;
    if (exec->mark > exec->done)
        size = exec_least(size, exec->mark - exec->done);
    if (exec->done < exec->doubtful)
        return 1;
    double in_time = exec->iteration_ns > 0 ? TURN_NS / exec->iteration_ns : 1;
    return in_time < 1 ? 1 : in_time < (double)size ? (uint64_t)in_time : size;
}

static void learn(struct exec *exec, uint64_t iterations, uint64_t elapsed_ns)
{
    double time = (double)elapsed_ns / (double)iterations, before = exec->iteration_ns;
    time = time < 0.5 ? 0.5 : time;
    /* Slower is believed at once, faster by a factor at a time, so that one cheap iteration does not make a long turn.
     */
    exec->iteration_ns = before <= 0 || time > before ? time : time < before / 8 ? before / 8 : time;
}

/* The kernel failed at the next `count` iterations. */
static void note_failure(struct exec *exec, uint64_t count)
{
    exec->failed = count == 1;
    exec->final = exec->failed && exec->output.called_failed;
    exec->doubtful = exec->done + count;
}

/* Runs the next `size` iterations, piece by piece where the spread is wanted, until the kernel fails or waits. */
static void run_pieces(struct exec *exec, uint64_t size, unsigned char *records)
{
    for (uint64_t end = exec->done + size; exec->done < end;) {
        uint64_t count = exec->config.spread ? exec_least(end, exec->piece_end) - exec->done : end - exec->done;
        int result = run_kernel(exec, exec->first + exec->done, count, records, exec->done + count == exec->count);
        if (result < 0)
            note_failure(exec, count);
        if (result != 0)
            return;
        exec->done += count;
        if (!exec->variable)
            records += count * exec->record_bytes;
        if (exec->config.spread)
            look_at_piece(exec);
    }
}

/* Computes one turn's iterations. */
static void compute(struct exec *exec)
{
    uint64_t before = exec->compute_ns, done = exec->done;
    size_t gathered = output_bytes(&exec->output);
    unsigned char *records = exec_next_records(exec);
    run_pieces(exec, turn_size(exec), records);
    if (exec->done == done)
        return;
    if (exec->variable)
        exec_look_at_output(exec, exec->done - done, gathered);
    else
        exec->digest += digest_records(exec->first + done, exec->done - done, records, exec->record_bytes);
    learn(exec, exec->done - done, exec->compute_ns - before);
}

/* --- what is computed leaves --- */

uint64_t exec_next_part(const struct exec *exec, size_t *bytes)
{
    uint64_t gathered = exec->done - exec->sliced;
    *bytes = gathered * exec->record_bytes;
    return exec->variable && exec->config.collect ? output_fit(&exec->output, bytes) : gathered;
}

/* Makes room for a block of variable output. -1 when memory is out. */
static int reserve(struct exec *exec, struct exec_buffer *buffer, size_t bytes)
{
    if (!exec->variable || !exec->config.collect || bytes <= buffer->room)
        return 0;
    free(buffer->bytes);
    buffer->room = bytes < SLICE_MAX ? SLICE_MAX : bytes;
    buffer->bytes = aligned_alloc(64, (EXEC_HEADROOM + buffer->room + 63) / 64 * 64);
    if (buffer->bytes != NULL)
        return 0;
    buffer->room = 0;
    snprintf(exec->error, sizeof exec->error, "no memory for a block of %zu bytes", bytes);
    return -1;
}

/* Puts the next results that have gathered into the event, and goes on with the other buffer. */
static void hand_over(struct exec *exec, struct event *event, uint64_t count, size_t bytes)
{
    if (exec->config.collect && count > 0) {
        struct exec_buffer *buffer = exec_buffer_in_use(exec);
        event->chunk.data = buffer->bytes + EXEC_HEADROOM;
        event->chunk.bytes = bytes;
        if (exec->variable)
            exec->digest += output_take(&exec->output, count, exec->config.loop, buffer->bytes + EXEC_HEADROOM);
        buffer->sent = true;
        exec->filling = (exec->filling + 1) % EXEC_BUFFERS;
    }
    event->chunk.count = count;
    event->chunk.digest = exec->digest;
    exec->sliced += count;
    exec->sliced_at_ns = exec->compute_ns;
    exec->digest = 0;
}

/* The next `count` iterations, which nobody will have from here. */
static void lose_part(struct exec *exec, struct event *event, uint64_t count)
{
    event->type = EVENT_FAILURE;
    event->text = exec->error;
    event->chunk.count = count;
    output_take(&exec->output, count, exec->config.loop, NULL);
    exec->sliced += count;
}

/* A buffer is full, or the last slice is long ago. */
static bool slice_is_due(const struct exec *exec, uint64_t count, size_t bytes)
{
    bool full = exec->variable ? bytes >= SLICE_MAX || count < exec->done - exec->sliced : count == exec->capacity;
    return (exec->config.collect && full) || exec->compute_ns - exec->sliced_at_ns >= SLICE_NS;
}

static void end_chunk(struct exec *exec, struct event *event)
{
    event->type = EVENT_FINISHED;
    event->chunk.began_ns = exec->began_ns;
    exec->running = false;
    event->chunk.deviation_ns = spread_deviation_ns(&exec->spread);
    event->chunk.samples = exec->spread.pieces < UINT32_MAX ? (uint32_t)exec->spread.pieces : UINT32_MAX;
}

void exec_send_part(struct exec *exec, struct event *event, uint64_t count, size_t bytes)
{
    if (reserve(exec, exec_buffer_in_use(exec), bytes) < 0) {
        lose_part(exec, event, count);
        return;
    }
    hand_over(exec, event, count, bytes);
    event->type = EVENT_SLICE;
    if (exec->sliced == exec->count)
        end_chunk(exec, event);
}

/* Parts go in order. */
static bool event_is_due(struct exec *exec, struct event *event)
{
    size_t bytes;
    uint64_t count = exec_next_part(exec, &bytes);
    if (count > 0 && exec->count * exec->record_bytes <= DIGEST_SOON_BYTES)
        event->now_ns = exec->ended_ns;
    event->chunk.done = exec->done;
    event->chunk.compute_ns = exec->compute_ns;
    if (exec->sliced + count < exec->count && !slice_is_due(exec, count, bytes))
        return false;
    exec_send_part(exec, event, count, bytes);
    return true;
}

/* --- chunks --- */

static void inline_begin(struct executor *executor, uint64_t first, uint64_t count, uint64_t mark, bool careful)
{
    struct exec *exec = exec_of(executor);
    if (!exec_is_in_step(exec, first))
        exec_enter_step(exec, first); /* not in the chunk's time; executor_advance() tells if it fails */
    exec->running = true;
    exec->first = first;
    exec->count = count;
    exec->mark = mark;
    exec->done = exec->sliced = exec->doubtful = 0;
    exec->failed = exec->final = false;
    exec->careful.wanted = careful && exec->config.kernel->descriptor == NULL;
    exec->sliced_at_ns = 0;
    exec->digest = 0;
    exec->waiting = false;
    exec->compute_ns = exec->config.short_runs ? exec_pause(exec) : 0;
    if (exec->variable)
        output_clear(&exec->output, first);
    if (exec->config.spread)
        begin_spread(exec);
    if (exec->careful.wanted)
        exec->began_ns = clock_ns(CLOCK_MONOTONIC);
}

static void inline_set_mark(struct executor *executor, uint64_t mark)
{
    exec_of(executor)->mark = mark;
}

static bool mark_is_due(struct exec *exec, struct event *event)
{
    if (!exec->running || exec->mark == 0 || exec->mark != exec->done)
        return false;
    exec->mark = 0;
    *event = (struct event){.type = EVENT_MARK, .chunk = {.done = exec->done, .compute_ns = exec->compute_ns}};
    return true;
}

/* A time step cannot be entered: said once. */
static enum turn be_stuck(struct exec *exec, struct event *event)
{
    if (exec->stuck_told)
        return TURN_BLOCKED;
    *event = (struct event){.type = EVENT_PROBLEM, .text = exec->error};
    exec->stuck_told = true;
    return TURN_EVENT;
}

/* More of variable output has gathered than could leave at once. */
static bool lags(const struct exec *exec)
{
    return exec->variable && exec->config.collect && output_bytes(&exec->output) >= SLICE_MAX;
}

static enum turn advance_once(struct exec *exec, struct event *event)
{
    if (mark_is_due(exec, event)) /* reached together with a slice, which went first */
        return TURN_EVENT;
    if (!exec->running || exec_buffer_in_use(exec)->sent)
        return TURN_BLOCKED;
    if (!exec->is_stuck && !exec->failed && exec->done < exec->count && (exec->waiting || !lags(exec)))
        (exec->careful.wanted ? exec_compute_in_child : compute)(exec);
    if (exec->is_stuck)
        return be_stuck(exec, event);
    if (exec->failed) {
        exec_tell_failure(exec, event);
        return TURN_EVENT;
    }
    if (exec->waiting)
        return exec_wait_turn(exec, event);
    return event_is_due(exec, event) || mark_is_due(exec, event) ? TURN_EVENT : TURN_WORKED;
}

/* What a kernel waits for next is begun before anything else is looked at: it runs beside that. */
static enum turn inline_advance(struct executor *executor, struct event *event)
{
    struct exec *exec = exec_of(executor);
    enum turn turn = advance_once(exec, event);
    if (turn != TURN_WORKED || exec->config.kernel->descriptor == NULL)
        return turn;
    enum turn next = advance_once(exec, event);
    return next == TURN_BLOCKED ? TURN_WORKED : next;
}

static void inline_sent(struct executor *executor, const void *data)
{
    struct exec *exec = exec_of(executor);
    for (unsigned i = 0; i < EXEC_BUFFERS; i++)
        if (exec->buffers[i].bytes != NULL && exec->buffers[i].bytes + EXEC_HEADROOM == data)
            exec->buffers[i].sent = false;
}

static int inline_descriptor(const struct executor *executor)
{
    const struct exec *exec = (const struct exec *)executor;
    const struct hdss_kernel *kernel = exec->config.kernel;
    return exec->open && kernel->descriptor != NULL ? kernel->descriptor(exec->instance) : -1;
}

const struct executor_ops inline_ops = {
    .probe = exec_probe,
    .begin = inline_begin,
    .set_mark = inline_set_mark,
    .advance = inline_advance,
    .sent = inline_sent,
    .descriptor = inline_descriptor,
    .fini = exec_fini,
};
