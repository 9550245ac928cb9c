/* SPDX-License-Identifier: MIT */
/* The worker's side of a loop with dependencies whose kernel runs in a helper. pipeline.h explains pieces, channel.h
 * the shared memory. */
#include "worker/exec/pieces.h"

#include "worker/exec/helper.h"
#include "worker/exec/steps.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define IDLE_DEATHS_MAX 3

static struct channel *channel_of(const struct pipeline *pipeline)
{
    return pipeline->exec.remote.helper.channel;
}

static uint64_t halo_at(const struct pipeline *pipeline, unsigned i)
{
    return channel_halo_at(channel_of(pipeline), i, pipeline->halo_bytes);
}

static unsigned char *halo_of(const struct pipeline *pipeline, unsigned i)
{
    return (unsigned char *)channel_of(pipeline) + halo_at(pipeline, i);
}

void pieces_init(struct pipeline *pipeline)
{
    pipeline->shared.bytes = channel_of(pipeline)->bytes;
    helper_wake_at(&pipeline->exec.remote.helper, UINT64_MAX);
}

static uint64_t piece_at(const struct pipeline *pipeline)
{
    const struct pipeline_chunk *chunk = &pipeline->chunk;
    return chunk->is_split ? (EXEC_HEADROOM + chunk->count * pipeline->exec.records.bytes + 63) / 64 * 64
                           : EXEC_HEADROOM;
}

void pieces_free_rows(struct pipeline_buffer *buffer)
{
    if (buffer->at > 0 && buffer->bytes != NULL)
        munmap(buffer->bytes, EXEC_HEADROOM + buffer->room);
    else
        free(buffer->bytes);
    buffer->bytes = NULL;
}

int pieces_share_rows(struct pipeline *pipeline, struct pipeline_buffer *buffer)
{
    const struct pipeline_chunk *chunk = &pipeline->chunk;
    const int file = pipeline->exec.remote.helper.file;
    const uint64_t most = exec_least(chunk->count, 2 * pipeline->config.exec.loop->distance);
    uint64_t end = piece_at(pipeline) + (chunk->is_split ? most : chunk->count) * pipeline->exec.records.bytes;
    if (buffer->bytes != NULL && end <= EXEC_HEADROOM + buffer->room)
        return 0;
    if (buffer->bytes != NULL) {
        pieces_free_rows(buffer);
        fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)buffer->at,
                  (off_t)(EXEC_HEADROOM + buffer->room));
    }
    end = (end + 4095) / 4096 * 4096;
    buffer->at = (pipeline->shared.bytes + 4095) / 4096 * 4096;
    void *memory = MAP_FAILED;
    if (ftruncate(file, (off_t)(buffer->at + end)) == 0)
        memory = mmap(NULL, end, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)buffer->at);
    buffer->bytes = memory == MAP_FAILED ? NULL : memory;
    buffer->room = buffer->bytes != NULL ? end - EXEC_HEADROOM : 0;
    pipeline->shared.bytes = buffer->at + end;
    return buffer->bytes != NULL ? 0 : -1;
}

void pieces_take_edge(const struct pipeline *pipeline, unsigned char *data, uint64_t from, uint64_t to)
{
    memcpy(data + from, halo_of(pipeline, pipeline->shared.halo_in ^ 1) + from, to - from);
}

static void put_halo(struct pipeline *pipeline)
{
    struct pipeline_shared *shared = &pipeline->shared;
    const struct halo *before = pipeline_find_seam(pipeline, pipeline->chunk.first);
    assert(before != NULL && before->bytes >= shared->in_bytes && "boundary data become more");
    memcpy(halo_of(pipeline, 0) + shared->in_bytes, before->data + shared->in_bytes, before->bytes - shared->in_bytes);
    shared->in_bytes = before->bytes;
}

/* Number of rows of the next piece, if `left` rows remain. A piece has as few rows as a chunk may have. If possible,
 * the loop's last row is a piece of its own, because no row depends on it. */
static uint64_t piece_of_rows(const struct pipeline *pipeline, uint64_t left)
{
    const struct pipeline_chunk *chunk = &pipeline->chunk;
    const uint64_t distance = pipeline->config.exec.loop->distance;
    const bool has_last = chunk->first + chunk->count == pipeline->config.end;
    const uint64_t rest = has_last ? left - 1 : left;
    if (rest < distance)
        return left;
    return rest < 2 * distance ? rest : distance;
}

void pieces_next(struct pipeline *pipeline)
{
    struct pipeline_chunk *chunk = &pipeline->chunk;
    const uint64_t piece = chunk->piece + chunk->rows;
    assert(chunk->is_split && chunk->from == chunk->end && "the piece before is complete");
    pipeline->shared.halo_in ^= 1;
    chunk->deaths = 0;
    pipeline_begin_piece(pipeline, piece, piece_of_rows(pipeline, chunk->count - piece));
}

static void begin_again(struct pipeline *pipeline)
{
    struct pipeline_chunk *chunk = &pipeline->chunk;
    if (!chunk->is_split) {
        chunk->is_split = true;
        chunk->has_room = false;
        if (pipeline_buffer(pipeline)->on_way > 0)
            pipeline->filling = (pipeline->filling + 1) % EXEC_BUFFERS;
    }
    pipeline_begin_piece(pipeline, chunk->piece, piece_of_rows(pipeline, chunk->count - chunk->piece));
}

static void blame_piece(struct pipeline *pipeline, const char *why)
{
    struct pipeline_chunk *chunk = &pipeline->chunk;
    const uint64_t rows = chunk->rows;
    begin_again(pipeline);
    if (chunk->rows < rows)
        return;
    snprintf(pipeline->exec.error, sizeof pipeline->exec.error, "%s", why);
    chunk->deaths++;
    chunk->died = true;
}

/* Begins to measure the time of a step. If the chunk can be split further, the step may take as long as one row may, so
 * that a hanging row is found soon. If the helper is then killed, no row is blamed. If the chunk cannot be split
 * further, all steps of the piece together may take as long as all its rows may. */
static void begin_to_watch(struct pipeline *pipeline)
{
    struct pipeline_shared *shared = &pipeline->shared;
    const struct pipeline_chunk *chunk = &pipeline->chunk;
    const bool is_divisible = piece_of_rows(pipeline, chunk->count - chunk->piece) < chunk->rows;
    exec_begin_standing(&pipeline->exec.remote.standing, helper_now(&pipeline->exec.remote.helper));
    if (chunk->from == 0)
        shared->piece_ns = 0;
    shared->earlier_ns = is_divisible ? 0 : shared->piece_ns;
    shared->limit_rows = is_divisible ? 1 : chunk->rows;
}

static void kill_if_overdue(struct pipeline *pipeline)
{
    struct exec *exec = &pipeline->exec;
    const struct pipeline_shared *shared = &pipeline->shared;
    const bool has_begun = channel_begun(atomic_load(&helper_work(&exec->remote.helper)->claims)) > 0;
    uint64_t limit_ns;
    if (__builtin_mul_overflow(exec_limit_of_iteration(exec, has_begun), shared->limit_rows, &limit_ns))
        return;
    if (shared->earlier_ns + exec->remote.standing.ns > limit_ns)
        exec_kill_overdue(exec, limit_ns);
}

static void learn_time(struct pipeline *pipeline)
{
    struct pipeline_shared *shared = &pipeline->shared;
    const struct pipeline_chunk *chunk = &pipeline->chunk;
    shared->piece_ns += pipeline->exec.remote.standing.ns;
    if (chunk->from == chunk->end)
        exec_learn_longest(&pipeline->exec.remote.standing, shared->piece_ns / chunk->rows);
}

void pieces_post(struct pipeline *pipeline, uint64_t to)
{
    struct exec *exec = &pipeline->exec;
    struct helper *helper = &exec->remote.helper;
    struct pipeline_chunk *chunk = &pipeline->chunk;
    const struct pipeline_buffer *buffer = pipeline_buffer(pipeline);
    const bool is_first = chunk->first + chunk->piece == pipeline->config.exec.probe_first;
    assert(!exec->remote.posted && chunk->from < to && to <= chunk->end && "a step has elements, of the piece");
    if (helper->state == HELPER_NONE && helper_begin(helper, exec->error) < 0)
        pipeline_note_problem(pipeline, exec->error);
    if (helper->state != HELPER_READY)
        return;
    if (!is_first && chunk->piece == 0)
        put_halo(pipeline);
    channel_of(pipeline)->block = (struct channel_block){
        .first = chunk->first + chunk->piece,
        .count = chunk->rows,
        .from = chunk->from,
        .to = to,
        .before = is_first ? 0 : halo_at(pipeline, pipeline->shared.halo_in),
        .after = halo_at(pipeline, pipeline->shared.halo_in ^ 1),
        .rows = pipeline->filling,
        .rows_at = buffer->at,
        .rows_bytes = EXEC_HEADROOM + buffer->room,
        .record_at = piece_at(pipeline),
    };
    atomic_store(&helper_next_work(helper)->claims, channel_claims_of(0, 1));
    if (exec->config.limit_ns > 0)
        begin_to_watch(pipeline);
    exec->remote.posted = true;
    pipeline->executor.is_away = true;
    helper_call(helper, CHANNEL_BLOCK);
}

static void take_step(struct pipeline *pipeline)
{
    struct pipeline_chunk *chunk = &pipeline->chunk;
    const struct channel *channel = channel_of(pipeline);
    const struct channel_work *work = helper_work(&pipeline->exec.remote.helper);
    struct pipeline_buffer *buffer = pipeline_buffer(pipeline);
    const uint64_t row_bytes = pipeline->exec.records.bytes;
    if (work->result != CHANNEL_DONE) {
        snprintf(pipeline->exec.error, sizeof pipeline->exec.error, "%.*s", HDSS_ERROR_MAX - 1, work->error);
        pipeline_note_problem(pipeline, pipeline->exec.error);
        return;
    }
    pipeline_count_block(pipeline, channel->block.to, work->began_ns, channel->block_ns);
    if (pipeline->exec.config.limit_ns > 0)
        learn_time(pipeline);
    if (chunk->from < chunk->end)
        return;
    pipeline->exec.remote.deaths = 0;
    if (chunk->is_split)
        memcpy(buffer->bytes + EXEC_HEADROOM + chunk->piece * row_bytes, buffer->bytes + piece_at(pipeline),
               chunk->rows * row_bytes);
}

/* Checks a helper that computes nothing. If the helper died between two steps, the piece begins again; after several
 * such deaths the piece is blamed. If the helper died while it opened the kernel, something else may have killed it, so
 * a few other helpers try to open the kernel. */
static void look_after_idle(struct pipeline *pipeline)
{
    struct exec *exec = &pipeline->exec;
    struct helper *helper = &exec->remote.helper;
    char why[HDSS_ERROR_MAX];
    if (helper->state == HELPER_OPENING) {
        if (!helper_look(helper, why) || ++exec->remote.deaths < IDLE_DEATHS_MAX)
            return;
        snprintf(exec->error, sizeof exec->error, "%.150s: loading or opening it %.220s", exec->config.kernel->name,
                 why);
        pipeline_note_problem(pipeline, exec->error);
    }
    if (helper->state != HELPER_READY)
        return;
    exec_remote_look(exec);
    if (helper->state != HELPER_NONE || !pipeline->chunk.running || pipeline->chunk.from == 0 ||
        pipeline->chunk.from == pipeline->chunk.end)
        return;
    if (++exec->remote.deaths < IDLE_DEATHS_MAX)
        begin_again(pipeline);
    else
        blame_piece(pipeline, "ended the child process between two steps");
}

void pieces_look(struct pipeline *pipeline)
{
    struct exec *exec = &pipeline->exec;
    struct helper *helper = &exec->remote.helper;
    const struct channel *channel = channel_of(pipeline);
    char why[HDSS_ERROR_MAX];
    if (!exec->remote.posted) {
        look_after_idle(pipeline);
        return;
    }
    double expected_ns = pipeline->element_ns * (double)(channel->block.to - channel->block.from);
    if (!helper_is_over(helper) && expected_ns > 0 && expected_ns < CHANNEL_SHORT_NS)
        helper_await_moment(&exec->remote.helper);
    if (exec->config.limit_ns > 0)
        exec_look_at_standing(&exec->remote.standing, helper_now(helper));
    bool died = helper_look(helper, why);
    if (!died && helper->state == HELPER_RUNNING) {
        if (exec->config.limit_ns > 0)
            kill_if_overdue(pipeline);
        return;
    }
    if (died)
        exec_tell_overdue(exec, why);
    exec->remote.posted = pipeline->executor.is_away = false;
    if (died)
        blame_piece(pipeline, why);
    else
        take_step(pipeline);
}
