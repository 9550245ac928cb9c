/* SPDX-License-Identifier: MIT */
/* Running chunks with dependencies: see pipeline.h. */
#include "worker/exec/pipeline.h"

#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/os/clock.h"
#include "common/util/digest.h"
#include "common/util/kept.h"
#include "common/util/returned.h"
#include "hdss/kernel.h"
#include "proto/message.h"
#include "proto/record.h"
#include "worker/exec/helper.h"
#include "worker/exec/pieces.h"
#include "worker/exec/steps.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A step takes about TURN_NS, or about REMOTE_TURN_NS in a helper. Between steps the worker handles messages. But a
 * step has at least ELEMENTS_MIN elements of each row, because shorter steps would use the cache badly. */
#define TURN_NS        4000000.0
#define ELEMENTS_MIN   256
#define REMOTE_TURN_NS 16000000.0

/* Keys of the boundaries of probe rows. No boundary of a loop has these keys. */
#define PROBE_BEFORE (UINT64_MAX - 1)
#define PROBE_AFTER  UINT64_MAX

static struct pipeline *pipeline_of(struct executor *executor)
{
    return (struct pipeline *)executor;
}

static bool is_remote(const struct pipeline *pipeline)
{
    return pipeline->exec.config.helper != NULL;
}

static bool is_probing(const struct pipeline *pipeline)
{
    return pipeline->exec.remote.probing != PROBING_NOTHING;
}

struct halo *pipeline_find_seam(struct pipeline *pipeline, uint64_t at)
{
    for (unsigned i = 0; i < pipeline->halo_count; i++)
        if (pipeline->halos[i].at == at)
            return &pipeline->halos[i];
    return NULL;
}

void pipeline_note_problem(struct pipeline *pipeline, const char *text)
{
    if (pipeline->has_problem)
        return;
    pipeline->has_problem = true;
    if (text != pipeline->exec.error)
        snprintf(pipeline->exec.error, sizeof pipeline->exec.error, "%s", text);
}

static struct halo *pipeline_take_seam(struct pipeline *pipeline, uint64_t at)
{
    struct halo *boundary_at = pipeline_find_seam(pipeline, at);
    if (boundary_at != NULL)
        return boundary_at;
    if (pipeline->halo_count == pipeline->halo_capacity) {
        unsigned room = 2 * pipeline->halo_capacity + 4;
        struct halo *halos = realloc(pipeline->halos, room * sizeof *halos);
        if (halos == NULL) {
            pipeline_note_problem(pipeline, "out of memory for boundary data");
            return NULL;
        }
        memset(halos + pipeline->halo_capacity, 0, (room - pipeline->halo_capacity) * sizeof *halos);
        pipeline->halos = halos;
        pipeline->halo_capacity = room;
    }
    boundary_at = &pipeline->halos[pipeline->halo_count];
    *boundary_at = (struct halo){.at = at, .data = boundary_at->data};
    if (boundary_at->data == NULL)
        boundary_at->data = aligned_alloc(64, (pipeline->halo_bytes + 63) / 64 * 64);
    if (boundary_at->data == NULL) {
        pipeline_note_problem(pipeline, "out of memory for boundary data");
        return NULL;
    }
    pipeline->halo_count++;
    return boundary_at;
}

static void remove_halo(struct pipeline *pipeline, struct halo *boundary_at)
{
    struct halo *last = &pipeline->halos[--pipeline->halo_count], dropped = *boundary_at;
    *boundary_at = *last;
    *last = dropped;
}

static void abandon_halo(struct pipeline *pipeline, struct halo *boundary_at)
{
    kept_add(boundary_at->data);
    boundary_at->data = NULL;
    remove_halo(pipeline, boundary_at);
}

static void pipeline_drop_seam(struct pipeline *pipeline, uint64_t at)
{
    struct halo *boundary_at = pipeline_find_seam(pipeline, at);
    if (boundary_at != NULL && boundary_at->is_kept)
        abandon_halo(pipeline, boundary_at);
    else if (boundary_at != NULL)
        remove_halo(pipeline, boundary_at);
}

static void *pipeline_await(struct executor *executor, uint64_t at, uint64_t offset, uint64_t bytes)
{
    struct pipeline *pipeline = pipeline_of(executor);
    struct halo *boundary_at = pipeline_take_seam(pipeline, at);
    if (boundary_at == NULL)
        return NULL;
    assert(offset + bytes <= pipeline->halo_bytes && "boundary data fit their seam");
    boundary_at->announced = offset + bytes;
    boundary_at->awaited++;
    return boundary_at->data + offset;
}

static void pipeline_came(struct executor *executor, uint64_t at, uint64_t offset, uint64_t bytes)
{
    struct pipeline *pipeline = pipeline_of(executor);
    struct halo *boundary_at = pipeline_find_seam(pipeline, at);
    if (boundary_at == NULL)
        return;
    assert(boundary_at->awaited > 0 && "boundary data come that are awaited");
    boundary_at->awaited--;
    boundary_at->bytes = boundary_at->awaited == 0 ? boundary_at->announced : offset + bytes;
}

static void pipeline_take(struct executor *executor, uint64_t at, uint64_t offset, const void *data, uint64_t bytes)
{
    struct pipeline *pipeline = pipeline_of(executor);
    struct halo *boundary_at = pipeline_take_seam(pipeline, at);
    if (boundary_at == NULL)
        return;
    assert(offset + bytes <= pipeline->halo_bytes && "boundary data fit their seam");
    memcpy(boundary_at->data + offset, data, bytes);
    boundary_at->announced = offset + bytes;
    if (boundary_at->awaited == 0)
        boundary_at->bytes = boundary_at->announced;
}

static void pipeline_reuse(struct executor *executor, uint64_t at)
{
    struct pipeline *pipeline = pipeline_of(executor);
    struct halo *boundary_at = pipeline_find_seam(pipeline, at);
    if (boundary_at != NULL)
        boundary_at->bytes = pipeline->halo_bytes;
}

static void pipeline_release(struct executor *executor, uint64_t at)
{
    pipeline_drop_seam(pipeline_of(executor), at);
}

static int make_room_for_rows(struct pipeline *pipeline)
{
    struct pipeline_buffer *buffer = pipeline_buffer(pipeline);
    uint64_t bytes = pipeline->chunk.count * pipeline->exec.records.bytes;
    if (is_remote(pipeline))
        return pieces_share_rows(pipeline, buffer);
    if (bytes <= buffer->room)
        return 0;
    free(buffer->bytes);
    buffer->bytes = aligned_alloc(64, (EXEC_HEADROOM + bytes + 63) / 64 * 64);
    buffer->room = buffer->bytes != NULL ? bytes : 0;
    return buffer->bytes != NULL ? 0 : -1;
}

static void leave_rows(const struct pipeline *pipeline, struct pipeline_buffer *buffer)
{
    if (!is_remote(pipeline))
        kept_add(buffer->bytes);
    *buffer = (struct pipeline_buffer){0};
}

static void move_rows(struct pipeline *pipeline, struct pipeline_buffer *buffer)
{
    const struct pipeline_buffer before = *buffer;
    const struct pipeline_chunk *chunk = &pipeline->chunk;
    leave_rows(pipeline, buffer);
    if (buffer != pipeline_buffer(pipeline) || !chunk->running || !chunk->has_room)
        return;
    if (make_room_for_rows(pipeline) < 0)
        pipeline_note_problem(pipeline, "out of memory for the results of a chunk");
    else
        memcpy(buffer->bytes, before.bytes, EXEC_HEADROOM + exec_least(before.room, buffer->room));
}

static void move_kept_rows(struct pipeline *pipeline)
{
    for (unsigned i = 0; i < EXEC_BUFFERS; i++)
        if (pipeline->buffers[i].is_kept)
            move_rows(pipeline, &pipeline->buffers[i]);
}

static void pipeline_fini(struct executor *executor)
{
    struct pipeline *pipeline = pipeline_of(executor);
    executor_fini(&pipeline->exec.executor);
    while (pipeline->halo_count > 0) {
        struct halo *last = &pipeline->halos[pipeline->halo_count - 1];
        if (last->is_kept || last->awaited > 0) /* boundary data that a lost rank has announced may still arrive */
            abandon_halo(pipeline, last);
        else
            remove_halo(pipeline, last);
    }
    for (unsigned i = 0; i < pipeline->halo_capacity; i++)
        free(pipeline->halos[i].data);
    for (unsigned i = 0; i < EXEC_BUFFERS; i++) {
        if (pipeline->buffers[i].is_kept)
            leave_rows(pipeline, &pipeline->buffers[i]);
        pieces_free_rows(&pipeline->buffers[i]);
    }
    free(pipeline->halos);
    *pipeline = (struct pipeline){0};
}

static unsigned char *records_of(struct pipeline *pipeline, uint64_t row)
{
    return pipeline_buffer(pipeline)->bytes + EXEC_HEADROOM + row * pipeline->exec.records.bytes;
}

void pipeline_begin_piece(struct pipeline *pipeline, uint64_t piece, uint64_t rows)
{
    const struct hdss_loop *loop = pipeline->config.exec.loop;
    struct pipeline_chunk *chunk = &pipeline->chunk;
    assert(rows > 0 && piece + rows <= chunk->count && "a piece has rows, of the chunk");
    chunk->piece = piece;
    chunk->rows = rows;
    chunk->from = 0;
    chunk->end = loop->sync + (rows - 1) * loop->reach;
}

static void pipeline_begin(struct executor *executor, uint64_t first, uint64_t count, uint64_t mark, bool isolated)
{
    struct pipeline *pipeline = pipeline_of(executor);
    (void)isolated; /* ignored: chunks that have crashed workers run in the same way as others */
    pipeline->chunk = (struct pipeline_chunk){.running = true, .first = first, .count = count, .mark = mark};
    pipeline_begin_piece(pipeline, 0, count);
    pipeline->shared.halo_in = 0;
    pipeline->shared.in_bytes = 0;
    pipeline->element_ns = 0;
    pipeline_drop_seam(pipeline, PROBE_BEFORE);
    pipeline_drop_seam(pipeline, PROBE_AFTER);
    pipeline_take_seam(pipeline, first + count);
}

static void pipeline_set_mark(struct executor *executor, uint64_t mark)
{
    pipeline_of(executor)->chunk.mark = mark;
}

static uint64_t reachable(struct pipeline *pipeline)
{
    const struct hdss_loop *loop = pipeline->config.exec.loop;
    if (pipeline->chunk.first == pipeline->config.exec.probe_first || pipeline->chunk.piece > 0)
        return pipeline->chunk.end;
    const struct halo *before = pipeline_find_seam(pipeline, pipeline->chunk.first);
    uint64_t elements = before != NULL ? before->bytes / loop->boundary_bytes : 0;
    if (elements == loop->sync)
        return pipeline->chunk.end;
    return elements > loop->reach ? elements - loop->reach : 0;
}

static uint64_t turn_end(const struct pipeline *pipeline, uint64_t limit)
{
    uint64_t point = (pipeline->chunk.from / pipeline->interval + 1) * pipeline->interval;
    double turn_ns = is_remote(pipeline) ? REMOTE_TURN_NS : TURN_NS;
    double fit = pipeline->element_ns > 0 ? turn_ns / pipeline->element_ns : ELEMENTS_MIN;
    uint64_t most = fit < ELEMENTS_MIN ? ELEMENTS_MIN : fit < 1e18 ? (uint64_t)fit : UINT64_MAX / 2;
    return exec_least(exec_least(point, limit), pipeline->chunk.from + most);
}

/* Converts progress to a number of rows: the first row of the piece has been computed up to element `at`, later rows
 * less far. Returns the number of all rows only after the last row is complete. */
static uint64_t rows_worth(const struct pipeline *pipeline, uint64_t at)
{
    const struct hdss_loop *loop = pipeline->config.exec.loop;
    const struct pipeline_chunk *chunk = &pipeline->chunk;
    if (at >= chunk->end)
        return chunk->piece + chunk->rows;
    double reach = (double)loop->reach, sync = (double)loop->sync, rows = (double)chunk->rows, x = (double)at;
    double begun = reach > 0 && x < rows * reach ? x / reach : rows;
    double complete = x < sync ? 0 : reach > 0 ? (x - sync) / reach : rows;
    double elements = complete * sync + (begun - complete) * (x - reach * (begun + complete) / 2);
    uint64_t worth = elements > 0 ? (uint64_t)(elements / sync) : 0;
    return chunk->piece + (worth < chunk->rows ? worth : chunk->rows - 1);
}

static uint64_t rows_complete(const struct pipeline *pipeline)
{
    const struct hdss_loop *loop = pipeline->config.exec.loop;
    const struct pipeline_chunk *chunk = &pipeline->chunk;
    if (chunk->from == chunk->end)
        return chunk->piece + chunk->rows;
    if (chunk->from < loop->sync || chunk->is_split)
        return chunk->piece;
    uint64_t more = loop->reach > 0 ? (chunk->from - loop->sync) / loop->reach : chunk->rows;
    return more < chunk->rows ? more + 1 : chunk->rows;
}

static bool is_computed(const struct pipeline_chunk *chunk)
{
    return chunk->from == chunk->end && chunk->piece + chunk->rows == chunk->count;
}

int exec_run_block(struct exec *exec, const struct hdss_block *block, bool last, uint64_t *began_ns,
                   uint64_t *elapsed_ns)
{
    const struct exec_config *config = &exec->config;
    const bool is_slow = config->slowdown > 1;
    const clockid_t clock = exec_work_clock(exec);
    uint64_t worked = is_slow ? clock_ns(clock) : 0;
    *began_ns = clock_ns(CLOCK_MONOTONIC);
    int result = returned(config->kernel->run_block(exec->instance, block, exec->error), "run_block", exec->error);
    if (result < 0)
        return result;
    if (is_slow) {
        exec->waiting_ns += (double)(clock_ns(clock) - worked) * (config->slowdown - 1);
        exec_pay_waiting(&exec->waiting_ns, last);
    }
    *elapsed_ns = clock_ns(CLOCK_MONOTONIC) - *began_ns;
    return 0;
}

void pipeline_count_block(struct pipeline *pipeline, uint64_t to, uint64_t began_ns, uint64_t elapsed_ns)
{
    struct pipeline_chunk *chunk = &pipeline->chunk;
    if (chunk->began_ns == 0)
        chunk->began_ns = began_ns;
    chunk->compute_ns += elapsed_ns;
    pipeline->element_ns = (double)(elapsed_ns > 0 ? elapsed_ns : 1) / (double)(to - chunk->from);
    chunk->from = to;
    uint64_t done = rows_worth(pipeline, to);
    chunk->done = done > chunk->done ? done : chunk->done;
}

static void compute_block(struct pipeline *pipeline, uint64_t to)
{
    const struct exec_config *config = &pipeline->config.exec;
    struct pipeline_chunk *chunk = &pipeline->chunk;
    const struct halo *before = pipeline_find_seam(pipeline, chunk->first);
    const struct halo *after = pipeline_find_seam(pipeline, chunk->first + chunk->count);
    const bool is_first = chunk->first == config->probe_first;
    uint64_t began_ns, elapsed_ns;
    assert(chunk->from < to && to <= chunk->end && "a block has elements, of the chunk");
    assert((is_first || before != NULL) && after != NULL && "a chunk that runs has its boundary data");
    const struct hdss_block block = {
        .first = chunk->first,
        .count = chunk->count,
        .from = chunk->from,
        .to = to,
        .sync = config->loop->sync,
        .reach = config->loop->reach,
        .before = is_first ? NULL : before->data,
        .after = after->data,
        .records = records_of(pipeline, 0),
    };
    if (exec_run_block(&pipeline->exec, &block, to == chunk->end, &began_ns, &elapsed_ns) < 0)
        pipeline_note_problem(pipeline, pipeline->exec.error);
    else
        pipeline_count_block(pipeline, to, began_ns, elapsed_ns);
}

/* Runs one iteration for the probe. The boundary data before it are zeros. */
static void pipeline_try_row(void *context, uint64_t iteration)
{
    struct pipeline *pipeline = context;
    const struct hdss_loop *loop = pipeline->config.exec.loop;
    struct halo *before = pipeline_take_seam(pipeline, PROBE_BEFORE),
                *after = pipeline_take_seam(pipeline, PROBE_AFTER);
    /* the call for PROBE_AFTER may have moved the array of halos */
    before = pipeline_find_seam(pipeline, PROBE_BEFORE);
    if (before == NULL || after == NULL)
        return;
    if (before->bytes == 0)
        memset(before->data, 0, pipeline->halo_bytes);
    before->bytes = pipeline->halo_bytes;
    const struct hdss_block block = {
        .first = iteration,
        .count = 1,
        .to = loop->sync,
        .sync = loop->sync,
        .reach = loop->reach,
        .before = iteration == pipeline->config.exec.probe_first ? NULL : before->data,
        .after = after->data,
        .records = pipeline->exec.records.buffers[0].bytes + EXEC_HEADROOM,
    };
    pipeline->config.exec.kernel->run_block(pipeline->exec.instance, &block, pipeline->exec.error);
}

static bool pipeline_tell_edge(struct pipeline *pipeline, struct event *event)
{
    struct pipeline_chunk *chunk = &pipeline->chunk;
    const struct hdss_loop *loop = pipeline->config.exec.loop;
    uint64_t at = chunk->first + chunk->count, behind = chunk->end - loop->sync;
    uint64_t bytes = (chunk->from > behind ? chunk->from - behind : 0) * loop->boundary_bytes;
    bool at_point = chunk->from % pipeline->interval == 0 || chunk->from == chunk->end;
    bool has_last_row = chunk->piece + chunk->rows == chunk->count;
    if (!at_point || !has_last_row || bytes <= chunk->told || at == pipeline->config.end)
        return false;
    unsigned char *data = pipeline_find_seam(pipeline, at)->data;
    assert(bytes <= pipeline->halo_bytes && "boundary data become more, up to all of them");
    if (is_remote(pipeline))
        pieces_take_edge(pipeline, data, chunk->told, bytes);
    *event = (struct event){.type = EVENT_BOUNDARY_READY, .ready = {at, data, bytes}};
    chunk->told = bytes;
    return true;
}

static bool pipeline_tell_mark(struct pipeline *pipeline, struct event *event)
{
    struct pipeline_chunk *chunk = &pipeline->chunk;
    if (chunk->mark == 0 || chunk->done < chunk->mark || chunk->done == chunk->count)
        return false;
    chunk->mark = 0;
    *event = (struct event){.type = EVENT_MARK, .chunk = {.done = chunk->done, .compute_ns = chunk->compute_ns}};
    return true;
}

static void end_chunk(struct pipeline *pipeline, struct event *event)
{
    struct pipeline_chunk *chunk = &pipeline->chunk;
    event->type = EVENT_FINISHED;
    event->chunk.first = chunk->first;
    event->chunk.began_ns = chunk->began_ns;
    chunk->running = false;
    if (chunk->first != pipeline->config.exec.probe_first)
        pipeline_drop_seam(pipeline, chunk->first);
    if (chunk->first + chunk->count == pipeline->config.end)
        pipeline_drop_seam(pipeline, pipeline->config.end);
    if (pipeline_buffer(pipeline)->on_way > 0)
        pipeline->filling = (pipeline->filling + 1) % EXEC_BUFFERS;
}

static void send_rows(struct pipeline *pipeline, uint64_t rows, struct event *event)
{
    struct pipeline_chunk *chunk = &pipeline->chunk;
    const uint64_t row_bytes = pipeline->exec.records.bytes;
    const unsigned char *records = records_of(pipeline, chunk->sliced);
    *event = (struct event){
        .type = EVENT_SLICE,
        .chunk = {.done = chunk->done, .compute_ns = chunk->compute_ns, .count = rows},
    };
    event->chunk.digest = digest_records(chunk->first + chunk->sliced, rows, records, row_bytes);
    if (pipeline->config.exec.collect) {
        event->chunk.data = records;
        event->chunk.bytes = rows * row_bytes;
        pipeline_buffer(pipeline)->on_way++;
    }
    chunk->sliced += rows;
    chunk->sliced_at_ns = chunk->compute_ns;
    if (chunk->sliced == chunk->count)
        end_chunk(pipeline, event);
}

/* Number of rows to send next: at most `complete` and one slice; 0 if there are none. The head of a short message is
 * written in front of its rows, over the end of the previous part. So a short part must wait until the previous part
 * has been sent. */
static uint64_t rows_to_send(struct pipeline *pipeline, uint64_t complete)
{
    const struct pipeline_chunk *chunk = &pipeline->chunk;
    const uint64_t row_bytes = pipeline->exec.records.bytes, most = row_bytes < SLICE_MAX ? SLICE_MAX / row_bytes : 1;
    if (complete <= chunk->sliced)
        return 0;
    uint64_t rows = complete - chunk->sliced;
    if (!pipeline->config.exec.collect)
        return rows;
    rows = exec_least(rows, most);
    bool is_held = rows * row_bytes <= INLINE_MAX && chunk->sliced > 0 && pipeline_buffer(pipeline)->on_way > 0;
    return is_held ? 0 : rows;
}

static bool tell_rows(struct pipeline *pipeline, struct event *event)
{
    struct pipeline_chunk *chunk = &pipeline->chunk;
    const bool collect = pipeline->config.exec.collect;
    const uint64_t row_bytes = pipeline->exec.records.bytes, most = row_bytes < SLICE_MAX ? SLICE_MAX / row_bytes : 1;
    const uint64_t complete = rows_complete(pipeline);
    bool late = chunk->compute_ns - chunk->sliced_at_ns >= SLICE_NS;
    if (complete <= chunk->sliced || (!(collect && complete - chunk->sliced >= most) && !late && !is_computed(chunk)))
        return false;
    uint64_t rows = rows_to_send(pipeline, complete);
    if (rows == 0)
        return false;
    send_rows(pipeline, rows, event);
    return true;
}

/* Reports that the piece has crashed its helper. If the piece is given up, first sends the results before it. Computes
 * nothing after the piece in this turn. Either no iteration follows the piece, or the next turn reports the end of the
 * loop. */
static enum turn tell_death(struct pipeline *pipeline, struct event *event)
{
    struct pipeline_chunk *chunk = &pipeline->chunk;
    const bool gives_up = chunk->deaths > pipeline->config.exec.retries;
    if (gives_up && chunk->sliced < chunk->piece) {
        uint64_t rows = rows_to_send(pipeline, chunk->piece);
        if (rows == 0)
            return TURN_BLOCKED;
        send_rows(pipeline, rows, event);
        return TURN_EVENT;
    }
    chunk->died = false;
    chunk->is_given_up = gives_up;
    *event = (struct event){
        .type = EVENT_ITERATIONS_FAILED,
        .text = pipeline->exec.error,
        .chunk = {.done = chunk->done,
                  .compute_ns = chunk->compute_ns,
                  .first = chunk->first + chunk->piece,
                  .count = chunk->rows,
                  .final = gives_up && chunk->sliced == chunk->piece,
                  .died = true},
    };
    return TURN_EVENT;
}

/* Continues after a piece was given up. If nothing depends on the piece, ends the chunk; otherwise ends the whole loop.
 * The chunk ends only after all boundary data of the previous chunk have arrived. */
static enum turn leave_piece(struct pipeline *pipeline, struct event *event)
{
    struct pipeline_chunk *chunk = &pipeline->chunk;
    const uint64_t first = chunk->first + chunk->piece, end = first + chunk->rows;
    char text[HDSS_ERROR_MAX], which[60];
    if (end == pipeline->config.end && chunk->sliced == chunk->piece) {
        if (reachable(pipeline) < chunk->end)
            return TURN_BLOCKED;
        chunk->done = chunk->sliced = chunk->count;
        *event = (struct event){.chunk = {.done = chunk->done, .compute_ns = chunk->compute_ns}};
        end_chunk(pipeline, event);
        return TURN_EVENT;
    }
    if (chunk->rows == 1)
        snprintf(which, sizeof which, "iteration %" PRIu64, first);
    else
        snprintf(which, sizeof which, "iterations %" PRIu64 " to %" PRIu64, first, end - 1);
    snprintf(text, sizeof text, "%s %.250s: given up, and what depends on %s cannot be computed", which,
             pipeline->exec.error, chunk->rows == 1 ? "it" : "them");
    pipeline_note_problem(pipeline, text);
    return TURN_WORKED;
}

static enum turn pipeline_tell_problem(struct pipeline *pipeline, struct event *event)
{
    if (pipeline->problem_told)
        return TURN_BLOCKED;
    pipeline->problem_told = true;
    *event = (struct event){.type = EVENT_FATAL, .text = pipeline->exec.error};
    return TURN_EVENT;
}

/* Reports boundary data before anything else, because another worker may be waiting for them. */
static bool tell_chunk(struct pipeline *pipeline, struct event *event)
{
    return pipeline_tell_edge(pipeline, event) || pipeline_tell_mark(pipeline, event) || tell_rows(pipeline, event);
}

static enum turn go_on(struct pipeline *pipeline, struct event *event)
{
    struct pipeline_chunk *chunk = &pipeline->chunk;
    if (chunk->from == chunk->end && !is_computed(chunk))
        pieces_next(pipeline);
    uint64_t limit = reachable(pipeline);
    if (chunk->from >= exec_least(limit, chunk->end))
        return TURN_BLOCKED;
    if (!chunk->has_room) {
        if (pipeline_buffer(pipeline)->on_way > 0)
            return TURN_BLOCKED;
        if (make_room_for_rows(pipeline) < 0) {
            pipeline_note_problem(pipeline, "out of memory for the results of a chunk");
            return pipeline_tell_problem(pipeline, event);
        }
        chunk->has_room = true;
    }
    if (is_remote(pipeline)) {
        pieces_post(pipeline, turn_end(pipeline, limit));
        return pipeline->has_problem ? pipeline_tell_problem(pipeline, event) : TURN_BLOCKED;
    }
    compute_block(pipeline, turn_end(pipeline, limit));
    if (pipeline->has_problem)
        return pipeline_tell_problem(pipeline, event);
    return tell_chunk(pipeline, event) ? TURN_EVENT : TURN_WORKED;
}

static enum turn advance_pipeline(struct pipeline *pipeline, struct event *event)
{
    const struct pipeline_chunk *chunk = &pipeline->chunk;
    if (is_remote(pipeline))
        pieces_look(pipeline);
    /* Rows are not moved while a command runs, because the helper then writes to the buffer. */
    if (!pipeline->exec.remote.posted)
        move_kept_rows(pipeline);
    if (pipeline->has_problem)
        return pipeline_tell_problem(pipeline, event);
    if (!chunk->running || pipeline->exec.remote.posted)
        return TURN_BLOCKED;
    if (chunk->died)
        return tell_death(pipeline, event);
    if (chunk->is_given_up)
        return leave_piece(pipeline, event);
    if (chunk->from + chunk->piece > 0 && tell_chunk(pipeline, event))
        return TURN_EVENT;
    return go_on(pipeline, event);
}

static int pipeline_descriptor(const struct executor *executor)
{
    const struct pipeline *pipeline = (const struct pipeline *)executor;
    return is_remote(pipeline) ? helper_descriptor(&pipeline->exec.remote.helper) : -1;
}

static void pipeline_sent(struct executor *executor, const void *data)
{
    struct pipeline *pipeline = pipeline_of(executor);
    const unsigned char *bytes = data;
    for (unsigned i = 0; i < EXEC_BUFFERS; i++) {
        struct pipeline_buffer *buffer = &pipeline->buffers[i];
        if (buffer->bytes != NULL && bytes >= buffer->bytes && bytes < buffer->bytes + EXEC_HEADROOM + buffer->room) {
            assert(buffer->on_way > 0 && "a part comes back once");
            buffer->on_way--;
        }
    }
}

static void pipeline_abandon(struct executor *executor, const void *data)
{
    struct pipeline *pipeline = pipeline_of(executor);
    const unsigned char *bytes = data;
    for (unsigned i = 0; i < EXEC_BUFFERS; i++) {
        struct pipeline_buffer *buffer = &pipeline->buffers[i];
        buffer->is_kept |=
            buffer->bytes != NULL && bytes >= buffer->bytes && bytes < buffer->bytes + EXEC_HEADROOM + buffer->room;
    }
    for (unsigned i = 0; i < pipeline->halo_count; i++) {
        struct halo *boundary_at = &pipeline->halos[i];
        boundary_at->is_kept |= bytes >= boundary_at->data && bytes < boundary_at->data + pipeline->halo_bytes;
    }
}

static bool pipeline_probe(struct executor *executor, struct speed *speed)
{
    struct pipeline *pipeline = pipeline_of(executor);
    pipeline->executor.is_away = is_remote(pipeline);
    if (is_remote(pipeline))
        exec_remote_begin_probe(&pipeline->exec);
    else
        exec_time_probe(&pipeline->exec, pipeline_try_row, pipeline, speed);
    return !is_remote(pipeline);
}

static enum turn advance_probe(struct pipeline *pipeline, struct event *event)
{
    const enum turn turn = exec_probe_turn(&pipeline->exec, event);
    pipeline->executor.is_away = turn == TURN_BLOCKED;
    return turn;
}

static struct range pipeline_end(struct executor *executor)
{
    struct pipeline *pipeline = pipeline_of(executor);
    if (is_probing(pipeline))
        exec_remote_end(&pipeline->exec);
    return (struct range){0};
}

static enum turn pipeline_advance(struct executor *executor, struct event *event)
{
    struct pipeline *pipeline = pipeline_of(executor);
    enum turn turn;
    do
        turn = is_probing(pipeline) ? advance_probe(pipeline, event) : advance_pipeline(pipeline, event);
    while (turn == TURN_BLOCKED && is_remote(pipeline) && !exec_remote_rest(&pipeline->exec));
    return turn;
}

static void pipeline_check(const struct executor *executor)
{
    const struct pipeline *pipeline = (const struct pipeline *)executor;
    const struct pipeline_chunk *chunk = &pipeline->chunk;
    assert(chunk->sliced <= chunk->done && chunk->done <= chunk->count && "rows are computed before they leave");
    assert(chunk->from <= chunk->end && "no element is computed beyond the last row");
    assert((chunk->done < chunk->count || chunk->from == chunk->end || chunk->is_split) &&
           "all rows are done when all elements are");
    assert(chunk->piece + chunk->rows <= chunk->count && "a piece is one of the chunk");
    assert((chunk->is_split || chunk->rows == chunk->count) && "a chunk is computed as a whole");
    assert(chunk->told <= pipeline->halo_bytes && "a chunk has so many boundary data");
    assert((!pipeline->problem_told || pipeline->has_problem) && "a problem that was told is there");
    assert(pipeline->halo_count <= pipeline->halo_capacity && "seams have room");
    for (unsigned i = 0; i < pipeline->halo_count; i++) {
        const struct halo *boundary_at = &pipeline->halos[i];
        assert(boundary_at->data != NULL && "a seam has memory");
        assert(boundary_at->bytes <= pipeline->halo_bytes && boundary_at->announced <= pipeline->halo_bytes &&
               "no more boundary data come than there are");
        assert((boundary_at->awaited == 0 || boundary_at->announced > 0) &&
               "boundary data are announced before they come");
        for (unsigned k = 0; k < i; k++)
            assert(pipeline->halos[k].at != boundary_at->at && "a seam is there once");
    }
    for (unsigned i = 0; i < EXEC_BUFFERS; i++)
        assert((pipeline->buffers[i].on_way == 0 || pipeline->buffers[i].bytes != NULL) &&
               "a buffer on its way is there");
}

static const struct executor_ops pipeline_ops = {
    .probe = pipeline_probe,
    .begin = pipeline_begin,
    .set_mark = pipeline_set_mark,
    .advance = pipeline_advance,
    .end = pipeline_end,
    .sent = pipeline_sent,
    .abandon = pipeline_abandon,
    .descriptor = pipeline_descriptor,
    .check = pipeline_check,
    .fini = pipeline_fini,
    .take_boundary = pipeline_take,
    .await_boundary = pipeline_await,
    .boundary_came = pipeline_came,
    .reuse = pipeline_reuse,
    .release = pipeline_release,
};

int pipeline_init(struct pipeline *pipeline, const struct pipeline_config *config)
{
    const struct hdss_loop *loop = config->exec.loop;
    *pipeline = (struct pipeline){
        .executor = {&pipeline_ops, {.worker = config->exec.worker.rank, .count = 1, .max_over_mean = 1}},
        .config = *config,
        .interval = (loop->sync + config->points - 1) / config->points,
        .halo_bytes = loop->sync * loop->boundary_bytes,
    };
    pipeline->config.exec.short_runs = false;
    if (exec_init(&pipeline->exec, &pipeline->config.exec) < 0)
        return -1;
    if (is_remote(pipeline))
        pieces_init(pipeline);
    return 0;
}
