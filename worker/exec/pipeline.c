/* SPDX-License-Identifier: MIT */
/* Chunks that depend on one another: see pipeline.h. */
#include "worker/exec/pipeline.h"

#include "common/os/clock.h"
#include "common/util/digest.h"
#include "common/util/grow.h"
#include "worker/exec/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Between two looks at the messages, unless so few elements of each row take longer: then each row's memory would be
 * left too soon. */
#define TURN_NS      4000000.0
#define ELEMENTS_MIN 256

/* Seams that no loop has, for the rows of a probe. */
#define PROBE_BEFORE (UINT64_MAX - 1)
#define PROBE_AFTER  UINT64_MAX

/* --- boundary data --- */

static struct pipeline *pipeline_of(struct executor *executor)
{
    return (struct pipeline *)executor;
}

static struct seam_data *find_seam(struct pipeline *pipeline, uint64_t at)
{
    for (unsigned i = 0; i < pipeline->seam_count; i++)
        if (pipeline->seams[i].at == at && !pipeline->seams[i].is_aside)
            return &pipeline->seams[i];
    return NULL;
}

static void note_problem(struct pipeline *pipeline, const char *text)
{
    if (pipeline->has_problem)
        return;
    pipeline->has_problem = true;
    if (text != pipeline->exec.error)
        snprintf(pipeline->exec.error, sizeof pipeline->exec.error, "%s", text);
}

static int grow_seams(struct pipeline *pipeline)
{
    unsigned room = 2 * pipeline->seam_room + 4;
    struct seam_data *seams = realloc(pipeline->seams, room * sizeof *seams);
    if (seams == NULL)
        return -1;
    memset(seams + pipeline->seam_room, 0, (room - pipeline->seam_room) * sizeof *seams);
    pipeline->seams = seams;
    pipeline->seam_room = room;
    return 0;
}

static unsigned char *allocate_seam(const struct pipeline *pipeline)
{
    return aligned_alloc(64, (pipeline->seam_bytes + 63) / 64 * 64);
}

/* The seam at an iteration, new if there is none. NULL when memory is out, which is noted. */
static struct seam_data *take_seam(struct pipeline *pipeline, uint64_t at)
{
    struct seam_data *seam = find_seam(pipeline, at);
    if (seam != NULL)
        return seam;
    if (pipeline->seam_count < pipeline->seam_room || grow_seams(pipeline) == 0) {
        seam = &pipeline->seams[pipeline->seam_count];
        *seam = (struct seam_data){.at = at, .data = seam->data != NULL ? seam->data : allocate_seam(pipeline)};
    }
    if (seam == NULL || seam->data == NULL) {
        note_problem(pipeline, "out of memory for boundary data");
        return NULL;
    }
    pipeline->seam_count++;
    return seam;
}

/* Its array stays for the next one. */
static void remove_seam(struct pipeline *pipeline, struct seam_data *seam)
{
    struct seam_data *last = &pipeline->seams[--pipeline->seam_count], dropped = *seam;
    *seam = *last;
    *last = dropped;
}

static void drop_seam(struct pipeline *pipeline, uint64_t at)
{
    struct seam_data *seam = find_seam(pipeline, at);
    if (seam != NULL)
        remove_seam(pipeline, seam);
}

/* Its array may still be sent from or received into. */
static void abandon_seam(struct pipeline *pipeline, struct seam_data *seam)
{
    unsigned char **abandoned =
        grow(pipeline->abandoned, pipeline->abandoned_count, &pipeline->abandoned_room, sizeof *abandoned);
    if (abandoned == NULL) { /* then it is lost */
        note_problem(pipeline, "out of memory for boundary data");
    } else {
        pipeline->abandoned = abandoned;
        abandoned[pipeline->abandoned_count++] = seam->data;
    }
    seam->data = NULL;
    remove_seam(pipeline, seam);
}

static void *pipeline_await(struct executor *executor, uint64_t at, uint64_t offset, uint64_t bytes)
{
    struct pipeline *pipeline = pipeline_of(executor);
    struct seam_data *seam = take_seam(pipeline, at);
    if (seam == NULL)
        return NULL;
    seam->announced = offset + bytes;
    seam->awaited++;
    return seam->data + offset;
}

static void pipeline_came(struct executor *executor, uint64_t at, uint64_t offset, uint64_t bytes)
{
    struct pipeline *pipeline = pipeline_of(executor);
    struct seam_data *seam = find_seam(pipeline, at);
    if (seam == NULL)
        return;
    seam->awaited--;
    seam->bytes = seam->awaited == 0 ? seam->announced : offset + bytes;
}

static void pipeline_take(struct executor *executor, uint64_t at, uint64_t offset, const void *data, uint64_t bytes)
{
    struct pipeline *pipeline = pipeline_of(executor);
    struct seam_data *seam = take_seam(pipeline, at);
    if (seam == NULL)
        return;
    memcpy(seam->data + offset, data, bytes);
    seam->announced = offset + bytes;
    if (seam->awaited == 0)
        seam->bytes = seam->announced;
}

static void pipeline_inherit(struct executor *executor, uint64_t at)
{
    struct pipeline *pipeline = pipeline_of(executor);
    struct seam_data *seam = find_seam(pipeline, at);
    if (seam != NULL)
        seam->bytes = pipeline->seam_bytes;
}

static void pipeline_release(struct executor *executor, uint64_t at)
{
    drop_seam(pipeline_of(executor), at);
}

/* --- standing still --- */

static bool is_among(const uint64_t *seams, unsigned count, uint64_t seam)
{
    for (unsigned i = 0; i < count; i++)
        if (seams[i] == seam)
            return true;
    return false;
}

static void pipeline_halt(struct executor *executor, const uint64_t *seams, unsigned count)
{
    struct pipeline *pipeline = pipeline_of(executor);
    for (unsigned i = pipeline->seam_count; i-- > 0;) {
        struct seam_data *seam = &pipeline->seams[i];
        if (is_among(seams, count, seam->at))
            seam->is_aside = true;
        else if (seam->is_own || seam->awaited > 0)
            abandon_seam(pipeline, seam);
        else
            remove_seam(pipeline, seam);
    }
    if (pipeline->running && pipeline->buffers[pipeline->filling].on_way > 0)
        pipeline->filling = (pipeline->filling + 1) % EXEC_BUFFERS;
    pipeline->running = false;
}

static void pipeline_restart(struct executor *executor, uint64_t at)
{
    struct pipeline *pipeline = pipeline_of(executor);
    for (unsigned i = pipeline->seam_count; i-- > 0;) {
        struct seam_data *seam = &pipeline->seams[i];
        if (!seam->is_aside)
            continue;
        seam->is_aside = false;
        if (at == 0 || seam->at != at)
            abandon_seam(pipeline, seam);
    }
}

/* --- closing --- */

static void pipeline_fini(struct executor *executor)
{
    struct pipeline *pipeline = pipeline_of(executor);
    executor_fini(&pipeline->exec.executor);
    for (unsigned i = 0; i < pipeline->seam_room; i++)
        free(pipeline->seams[i].data);
    for (unsigned i = 0; i < EXEC_BUFFERS; i++)
        free(pipeline->buffers[i].bytes);
    for (unsigned i = 0; i < pipeline->abandoned_count; i++)
        free(pipeline->abandoned[i]);
    free(pipeline->abandoned);
    free(pipeline->seams);
    *pipeline = (struct pipeline){0};
}

/* --- computing --- */

static struct pipeline_buffer *buffer_in_use(struct pipeline *pipeline)
{
    return &pipeline->buffers[pipeline->filling];
}

static unsigned char *records_of(struct pipeline *pipeline, uint64_t row)
{
    return buffer_in_use(pipeline)->bytes + EXEC_HEADROOM + row * pipeline->exec.records.bytes;
}

/* Room for the records of the chunk in a buffer of which nothing is on its way. -1 when memory is out. */
static int make_room(struct pipeline *pipeline)
{
    struct pipeline_buffer *buffer = buffer_in_use(pipeline);
    uint64_t bytes = pipeline->count * pipeline->exec.records.bytes;
    if (bytes <= buffer->room)
        return 0;
    free(buffer->bytes);
    buffer->bytes = aligned_alloc(64, (EXEC_HEADROOM + bytes + 63) / 64 * 64);
    buffer->room = buffer->bytes != NULL ? bytes : 0;
    return buffer->bytes != NULL ? 0 : -1;
}

static void pipeline_begin(struct executor *executor, uint64_t first, uint64_t count, uint64_t mark, bool careful)
{
    struct pipeline *pipeline = pipeline_of(executor);
    const struct hdss_loop *loop = pipeline->config.exec.loop;
    (void)careful; /* no iteration is suspected where all wait for one another */
    pipeline->running = true;
    pipeline->first = first;
    pipeline->count = count;
    pipeline->mark = mark;
    pipeline->end = loop->sync + (count - 1) * loop->reach;
    pipeline->from = pipeline->told = pipeline->done = pipeline->sliced = 0;
    pipeline->compute_ns = pipeline->sliced_at_ns = 0;
    pipeline->element_ns = 0;
    drop_seam(pipeline, PROBE_BEFORE);
    drop_seam(pipeline, PROBE_AFTER);
    struct seam_data *after = take_seam(pipeline, first + count);
    if (after != NULL)
        after->is_own = true;
}

static void pipeline_set_mark(struct executor *executor, uint64_t mark)
{
    pipeline_of(executor)->mark = mark;
}

/* Elements of the first row up to which the chunk can be computed with the boundary data that are here. */
static uint64_t reachable(struct pipeline *pipeline)
{
    const struct hdss_loop *loop = pipeline->config.exec.loop;
    if (pipeline->first == pipeline->config.exec.probe_first)
        return pipeline->end;
    const struct seam_data *before = find_seam(pipeline, pipeline->first);
    uint64_t elements = before != NULL ? before->bytes / loop->boundary_bytes : 0;
    if (elements == loop->sync)
        return pipeline->end;
    return elements > loop->reach ? elements - loop->reach : 0;
}

/* How far this turn goes: to the next point at most. */
static uint64_t turn_end(const struct pipeline *pipeline, uint64_t limit)
{
    uint64_t point = (pipeline->from / pipeline->interval + 1) * pipeline->interval;
    double fit = pipeline->element_ns > 0 ? TURN_NS / pipeline->element_ns : ELEMENTS_MIN;
    uint64_t most = fit < ELEMENTS_MIN ? ELEMENTS_MIN : fit < 1e18 ? (uint64_t)fit : UINT64_MAX / 2;
    return exec_least(exec_least(point, limit), pipeline->from + most);
}

/* The elements of all rows that are computed when the first row has come to `at`, in rows. All of them only at the end.
 */
static uint64_t rows_worth(const struct pipeline *pipeline, uint64_t at)
{
    const struct hdss_loop *loop = pipeline->config.exec.loop;
    if (at >= pipeline->end)
        return pipeline->count;
    double reach = (double)loop->reach, sync = (double)loop->sync, rows = (double)pipeline->count, x = (double)at;
    double begun = reach > 0 && x < rows * reach ? x / reach : rows;
    double complete = x < sync ? 0 : reach > 0 ? (x - sync) / reach : rows;
    double elements = complete * sync + (begun - complete) * (x - reach * (begun + complete) / 2);
    uint64_t worth = elements > 0 ? (uint64_t)(elements / sync) : 0;
    return worth < pipeline->count ? worth : pipeline->count - 1;
}

/* Rows of the chunk that are complete, and elements of its last row that are. */
static uint64_t rows_complete(const struct pipeline *pipeline)
{
    const struct hdss_loop *loop = pipeline->config.exec.loop;
    if (pipeline->from < loop->sync)
        return 0;
    uint64_t more = loop->reach > 0 ? (pipeline->from - loop->sync) / loop->reach : pipeline->count;
    return more < pipeline->count ? more + 1 : pipeline->count;
}

static uint64_t last_row(const struct pipeline *pipeline)
{
    uint64_t behind = pipeline->end - pipeline->config.exec.loop->sync;
    return pipeline->from > behind ? pipeline->from - behind : 0;
}

static int run_kernel(struct pipeline *pipeline, uint64_t to)
{
    const struct hdss_loop *loop = pipeline->config.exec.loop;
    const struct seam_data *before = find_seam(pipeline, pipeline->first);
    const struct hdss_block block = {
        .first = pipeline->first,
        .count = pipeline->count,
        .from = pipeline->from,
        .to = to,
        .sync = loop->sync,
        .reach = loop->reach,
        .before = pipeline->first == pipeline->config.exec.probe_first ? NULL : before->data,
        .after = find_seam(pipeline, pipeline->first + pipeline->count)->data,
        .records = records_of(pipeline, 0),
    };
    return pipeline->config.exec.kernel->run_block(pipeline->exec.instance, &block, pipeline->exec.error);
}

/* Computes up to `to`; the time of it, waiting of a slow worker included, is the chunk's. */
static void compute(struct pipeline *pipeline, uint64_t to)
{
    const double slowdown = pipeline->config.exec.slowdown;
    const clockid_t clock = exec_work_clock(&pipeline->exec);
    uint64_t began = clock_ns(CLOCK_MONOTONIC), before = slowdown > 1 ? clock_ns(clock) : 0;
    if (run_kernel(pipeline, to) < 0) {
        note_problem(pipeline, pipeline->exec.error);
        return;
    }
    if (slowdown > 1) {
        pipeline->waiting_ns += (double)(clock_ns(clock) - before) * (slowdown - 1);
        exec_pay_waiting(&pipeline->waiting_ns, to == pipeline->end);
    }
    uint64_t elapsed = clock_ns(CLOCK_MONOTONIC) - began;
    if (pipeline->from == 0)
        pipeline->began_ns = began;
    pipeline->compute_ns += elapsed;
    pipeline->element_ns = (double)(elapsed > 0 ? elapsed : 1) / (double)(to - pipeline->from);
    pipeline->from = to;
    pipeline->done = rows_worth(pipeline, to);
}

/* Computes an iteration to measure it, as if all before it were zeros. */
static void pipeline_try_row(void *context, uint64_t iteration)
{
    struct pipeline *pipeline = context;
    const struct hdss_loop *loop = pipeline->config.exec.loop;
    struct seam_data *before = take_seam(pipeline, PROBE_BEFORE), *after = take_seam(pipeline, PROBE_AFTER);
    before = find_seam(pipeline, PROBE_BEFORE); /* the second may have moved the first */
    if (before == NULL || after == NULL)
        return;
    if (before->bytes == 0)
        memset(before->data, 0, pipeline->seam_bytes);
    before->bytes = pipeline->seam_bytes;
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

/* --- events --- */

/* What the last row has added is told at the points, and when the chunk is complete; the last chunk's nobody wants. */
static bool edge_is_due(struct pipeline *pipeline, struct event *event)
{
    uint64_t at = pipeline->first + pipeline->count,
             bytes = last_row(pipeline) * pipeline->config.exec.loop->boundary_bytes;
    bool at_point = pipeline->from % pipeline->interval == 0 || pipeline->from == pipeline->end;
    if (!at_point || bytes == pipeline->told || at == pipeline->config.end)
        return false;
    *event = (struct event){.type = EVENT_EDGE, .edge = {at, find_seam(pipeline, at)->data, bytes}};
    pipeline->told = bytes;
    return true;
}

static bool mark_is_due(struct pipeline *pipeline, struct event *event)
{
    if (pipeline->mark == 0 || pipeline->done < pipeline->mark || pipeline->done == pipeline->count)
        return false;
    pipeline->mark = 0;
    *event = (struct event){.type = EVENT_MARK, .chunk = {.done = pipeline->done, .compute_ns = pipeline->compute_ns}};
    return true;
}

/* Rows that leave next: those that are complete, up to a slice. None before there is a slice of them, or the last is
 * long ago, or the chunk is complete. */
static uint64_t rows_to_leave(const struct pipeline *pipeline)
{
    uint64_t ready = rows_complete(pipeline) - pipeline->sliced, bytes = pipeline->exec.records.bytes;
    uint64_t most = bytes < SLICE_MAX ? SLICE_MAX / bytes : 1;
    bool full = pipeline->config.exec.collect && ready >= most;
    bool late = pipeline->compute_ns - pipeline->sliced_at_ns >= SLICE_NS;
    if (!full && !late && pipeline->from < pipeline->end)
        return 0;
    return pipeline->config.exec.collect ? exec_least(ready, most) : ready;
}

static void end_chunk(struct pipeline *pipeline, struct event *event)
{
    event->type = EVENT_FINISHED;
    event->chunk.began_ns = pipeline->began_ns;
    pipeline->running = false;
    if (pipeline->first != pipeline->config.exec.probe_first)
        drop_seam(pipeline, pipeline->first);
    if (pipeline->first + pipeline->count == pipeline->config.end)
        drop_seam(pipeline, pipeline->config.end);
    if (buffer_in_use(pipeline)->on_way > 0)
        pipeline->filling = (pipeline->filling + 1) % EXEC_BUFFERS;
}

/* A short part goes in one message with its head, which is written before it: that must be through itself. */
static bool must_wait(struct pipeline *pipeline, uint64_t bytes)
{
    return bytes <= INLINE_MAX && pipeline->sliced > 0 && buffer_in_use(pipeline)->on_way > 0;
}

static bool slice_is_due(struct pipeline *pipeline, struct event *event, bool *blocked)
{
    uint64_t rows = rows_to_leave(pipeline), bytes = rows * pipeline->exec.records.bytes;
    *blocked = rows > 0 && pipeline->config.exec.collect && must_wait(pipeline, bytes);
    if (rows == 0 || *blocked)
        return false;
    const unsigned char *records = records_of(pipeline, pipeline->sliced);
    *event = (struct event){
        .type = EVENT_SLICE,
        .chunk = {.done = pipeline->done, .compute_ns = pipeline->compute_ns, .count = rows},
    };
    event->chunk.digest =
        digest_records(pipeline->first + pipeline->sliced, rows, records, pipeline->exec.records.bytes);
    if (pipeline->config.exec.collect) {
        event->chunk.data = records;
        event->chunk.bytes = bytes;
        buffer_in_use(pipeline)->on_way++;
    }
    pipeline->sliced += rows;
    pipeline->sliced_at_ns = pipeline->compute_ns;
    if (pipeline->sliced == pipeline->count)
        end_chunk(pipeline, event);
    return true;
}

static enum turn tell_problem(struct pipeline *pipeline, struct event *event)
{
    if (pipeline->problem_told)
        return TURN_BLOCKED;
    pipeline->problem_told = true;
    *event = (struct event){.type = EVENT_PROBLEM, .text = pipeline->exec.error};
    return TURN_EVENT;
}

/* Boundary data go first: somebody may be waiting for them. */
static bool event_is_due(struct pipeline *pipeline, struct event *event, bool *blocked)
{
    *blocked = false;
    return edge_is_due(pipeline, event) || mark_is_due(pipeline, event) || slice_is_due(pipeline, event, blocked);
}

/* Whether the chunk can begin: its records have room. */
static bool is_ready(struct pipeline *pipeline)
{
    if (pipeline->from > 0)
        return true;
    if (buffer_in_use(pipeline)->on_way > 0)
        return false;
    if (make_room(pipeline) < 0)
        note_problem(pipeline, "out of memory for the results of a chunk");
    return !pipeline->has_problem;
}

static enum turn pipeline_advance(struct executor *executor, struct event *event)
{
    struct pipeline *pipeline = pipeline_of(executor);
    bool blocked;
    if (pipeline->has_problem)
        return tell_problem(pipeline, event);
    if (!pipeline->running)
        return TURN_BLOCKED;
    if (pipeline->from > 0 && event_is_due(pipeline, event, &blocked))
        return TURN_EVENT;
    uint64_t limit = reachable(pipeline);
    if (pipeline->from >= exec_least(limit, pipeline->end) || !is_ready(pipeline))
        return pipeline->has_problem ? tell_problem(pipeline, event) : TURN_BLOCKED;
    compute(pipeline, turn_end(pipeline, limit));
    if (pipeline->has_problem)
        return tell_problem(pipeline, event);
    return event_is_due(pipeline, event, &blocked) ? TURN_EVENT : TURN_WORKED;
}

static void pipeline_sent(struct executor *executor, const void *data)
{
    struct pipeline *pipeline = pipeline_of(executor);
    const unsigned char *bytes = data;
    for (unsigned i = 0; i < EXEC_BUFFERS; i++) {
        struct pipeline_buffer *buffer = &pipeline->buffers[i];
        if (buffer->bytes != NULL && bytes >= buffer->bytes && bytes < buffer->bytes + EXEC_HEADROOM + buffer->room)
            buffer->on_way--;
    }
}

static void pipeline_probe(struct executor *executor, struct speed *speed)
{
    struct pipeline *pipeline = pipeline_of(executor);
    exec_time_probe(&pipeline->exec, pipeline_try_row, pipeline, speed);
}

static const struct executor_ops pipeline_ops = {
    .probe = pipeline_probe,
    .begin = pipeline_begin,
    .set_mark = pipeline_set_mark,
    .advance = pipeline_advance,
    .sent = pipeline_sent,
    .fini = pipeline_fini,
    .take_boundary = pipeline_take,
    .await_boundary = pipeline_await,
    .boundary_came = pipeline_came,
    .inherit = pipeline_inherit,
    .release = pipeline_release,
    .halt = pipeline_halt,
    .restart = pipeline_restart,
};

int pipeline_init(struct pipeline *pipeline, const struct pipeline_config *config)
{
    const struct hdss_loop *loop = config->exec.loop;
    *pipeline = (struct pipeline){
        .executor = {&pipeline_ops, {.worker = config->exec.worker.rank, .count = 1, .max_over_mean = 1}},
        .config = *config,
        .interval = (loop->sync + config->points - 1) / config->points,
        .seam_bytes = loop->sync * loop->boundary_bytes,
    };
    pipeline->config.exec.short_runs = false;
    return exec_init(&pipeline->exec, &pipeline->config.exec);
}
