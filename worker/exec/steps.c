/* SPDX-License-Identifier: MIT */
/* The parts of the executor that run rarely: opening and closing, slowdown, variable output, child processes, and
 * kernels that fail or wait. */
#include "worker/exec/steps.h"

#include "common/os/clock.h"
#include "common/util/digest.h"
#include "common/util/returned.h"
#include "hdss/kernel.h"
#include "worker/exec/helper.h"
#include "worker/exec/isolated.h"
#include "worker/exec/remote_team.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define SCRATCH_BYTES (256u << 10)
/* The timer is not precise enough for shorter sleeps. So a shorter sleep is put off and added to the next one. */
#define WAIT_MIN_NS 200000.0

/* Puts the buffers of collected results into the memory that the helper shares. In a loop with dependencies only the
 * halos are put there, because the pipeline has its own buffers. Each buffer has a second place, which takes no memory
 * until it is used: see leave_buffer(). */
static int share_buffers(struct exec *exec, size_t bytes)
{
    const struct hdss_loop *loop = exec->config.loop;
    const struct channel halos = {.records_at = 0};
    if (loop->sync > 0)
        return exec_remote_init(exec, exec->config.helper,
                                channel_halo_at(&halos, CHANNEL_HALOS, loop->sync * loop->boundary_bytes));
    const unsigned buffers = exec->config.collect ? EXEC_BUFFERS : 0;
    const struct exec_team *team = exec->config.team;
    const size_t shared = team != NULL ? team_layout_of(team->threads, team->slot_room).bytes : 0;
    if (exec_remote_init(exec, exec->config.helper, 2 * buffers * bytes + shared) < 0)
        return -1;
    unsigned char *memory = (unsigned char *)exec->remote.helper.channel;
    for (unsigned i = 0; i < buffers; i++)
        exec->records.buffers[i].bytes = memory + exec->remote.helper.channel->records_at + i * bytes;
    return 0;
}

static int allocate_buffers(struct exec *exec)
{
    if (exec->records.variable && exec->config.helper != NULL)
        return exec_remote_init(exec, exec->config.helper, CHANNEL_BLOCKS);
    if (exec->records.variable)
        return 0;
    uint64_t limit = exec->config.collect ? SLICE_MAX : SCRATCH_BYTES;
    exec->records.capacity = exec->records.bytes < limit ? limit / exec->records.bytes : 1;
    const size_t bytes = exec_buffer_bytes(exec);
    if (exec->config.helper != NULL)
        return share_buffers(exec, bytes);
    for (unsigned i = 0; i < (exec->config.collect ? EXEC_BUFFERS : 1); i++) {
        exec->records.buffers[i].bytes = aligned_alloc(64, bytes);
        if (exec->records.buffers[i].bytes == NULL)
            return -1;
    }
    return 0;
}

int exec_init(struct exec *exec, const struct exec_config *config)
{
    *exec = (struct exec){
        .executor = {&inline_ops, {.worker = config->worker.rank, .count = 1, .max_over_mean = 1}},
        .config = *config,
        .records.variable = config->loop->streams > 0,
        .shorts.random = 1,
    };
    exec->records.bytes = exec->records.variable ? 0 : hdss_record_size(config->loop);
    output_init(&exec->records.output, config->loop->streams, config->collect);
    if (exec->records.variable || config->collect || config->spread || config->slowdown > 1 || config->helper != NULL)
        exec->config.short_runs = false;
    exec->executor.is_away = config->kernel->descriptor != NULL;
    exec->step.count = config->step_iterations > 0 ? config->step_iterations : UINT64_MAX;
    if (exec->config.short_runs)
        exec->shorts.clock_ns = exec_time_clock();
    if (allocate_buffers(exec) < 0) {
        exec_fini(&exec->executor);
        snprintf(exec->error, sizeof exec->error, "%s: no memory for a record of %llu bytes", config->kernel->name,
                 (unsigned long long)exec->records.bytes);
        return -1;
    }
    if (config->helper != NULL) {
        int result = config->begins_late ? 0 : exec_remote_open(exec);
        if (result < 0)
            exec_fini(&exec->executor);
        return result;
    }
    int opened = config->kernel->open(config->values, config->loop, &exec->config.worker, &exec->instance, exec->error);
    if (returned(opened, "open", exec->error) < 0) {
        exec_fini(&exec->executor);
        return -1;
    }
    exec->open = true;
    if (config->kernel->step == NULL ||
        returned(config->kernel->step(exec->instance, 0, NULL, exec->error), "step", exec->error) == 0)
        return 0;
    exec_fini(&exec->executor);
    return -1;
}

void exec_fini(struct executor *executor)
{
    struct exec *exec = exec_of(executor);
    if (exec->open && exec->config.kernel->close != NULL)
        exec->config.kernel->close(exec->instance);
    exec->open = false;
    isolated_fini(&exec->isolated);
    exec_remote_fini(exec);
    for (unsigned i = 0; i < EXEC_BUFFERS; i++) {
        if (exec->config.helper == NULL || exec->records.variable)
            free(exec->records.buffers[i].bytes);
        exec->records.buffers[i].bytes = NULL;
    }
    /* The helper may never have been opened. So later calls must not find it. */
    exec->config.helper = NULL;
    output_fini(&exec->records.output);
    free(exec->step.earlier);
    exec->step.earlier = NULL;
}

clockid_t exec_work_clock(const struct exec *exec)
{
    bool waits = exec->config.loop->waits || exec->config.kernel->descriptor != NULL;
    return waits ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
}

void exec_pay_waiting(double *waiting_ns, bool at_end)
{
    if (*waiting_ns < (at_end ? WAIT_MIN_NS / 4 : WAIT_MIN_NS))
        return;
    const uint64_t before = clock_ns(CLOCK_MONOTONIC), until = before + (uint64_t)*waiting_ns;
    const struct timespec at = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
        ;
    *waiting_ns -= (double)(clock_ns(CLOCK_MONOTONIC) - before);
}

int exec_run_variable(struct exec *exec, uint64_t first, uint64_t count)
{
    struct output *output = &exec->records.output;
    if (!exec->chunk.waiting)
        output_begin(output, first + count);
    const struct hdss_kernel *kernel = exec->config.kernel;
    int result = kernel->run_variable(exec->instance, first, count, &output->calls, exec->error);
    bool waits = result == HDSS_WAIT && kernel->descriptor != NULL;
    if (!waits)
        result = returned(result, "run_variable", exec->error);
    exec->chunk.waiting = waits && output->problem[0] == '\0';
    if (output->problem[0] == '\0' && result == 0)
        result = output_end(output);
    if (output->problem[0] != '\0') {
        snprintf(exec->error, sizeof exec->error, "%s", output->problem);
        result = -1;
    }
    if (result < 0)
        output_revert(output);
    return result;
}

void exec_look_at_output(struct exec *exec, uint64_t count, size_t before)
{
    double known = exec->records.iteration_bytes;
    double bytes = count > 0 ? (double)(output_bytes(&exec->records.output) - before) / (double)count : known;
    exec->records.iteration_bytes = bytes > known ? bytes : known + (bytes - known) / 8;
    if (!exec->config.collect)
        exec->chunk.digest +=
            output_take(&exec->records.output, output_count(&exec->records.output), exec->config.loop, NULL);
}

void exec_compute_in_child(struct exec *exec)
{
    const struct isolated_job job = {
        .kernel = exec->config.kernel,
        .instance = exec->instance,
        .first = exec->chunk.first + exec->chunk.done,
        .count = exec->records.variable ? 1 : exec_least(exec->chunk.count - exec->chunk.done, exec_room(exec)),
        .record_bytes = exec->records.bytes,
        .capacity = exec->records.capacity,
        .output = exec->records.variable ? &exec->records.output : NULL,
        .loop = exec->config.loop,
    };
    size_t gathered = output_bytes(&exec->records.output);
    unsigned char *records = exec_next_records(exec);
    if (!exec_is_in_step(exec, job.first) && exec_enter_step(exec, job.first) < 0)
        return;
    uint64_t count =
        isolated_turn(&exec->isolated, &job, records, &exec->chunk.failed, &exec->chunk.final, exec->error);
    exec->chunk.died = exec->chunk.final;
    if (exec->records.variable)
        exec_look_at_output(exec, count, gathered);
    else
        exec->chunk.digest += digest_records(exec->chunk.first + exec->chunk.done, count, records, exec->records.bytes);
    exec->chunk.done += count;
    exec->ended_ns = clock_ns(CLOCK_MONOTONIC);
    exec->chunk.compute_ns = exec->ended_ns - exec->chunk.began_ns;
}

void exec_tell_failure(struct exec *exec, struct event *event)
{
    size_t bytes;
    *event =
        (struct event){.type = EVENT_SLICE, .chunk = {.done = exec->chunk.done, .compute_ns = exec->chunk.compute_ns}};
    if (exec->chunk.done > exec->chunk.sliced) {
        uint64_t count = exec_next_part(exec, &bytes);
        exec_send_part(exec, event, count, bytes);
        return;
    }
    event->type = EVENT_ITERATIONS_FAILED;
    event->text = exec->error;
    event->chunk.count = 1;
    event->chunk.final = exec->chunk.final;
    event->chunk.died = exec->chunk.died;
    exec->chunk.failed = exec->chunk.final = exec->chunk.died = false;
    exec->chunk.sliced = ++exec->chunk.done;
    if (exec->records.variable)
        output_clear(&exec->records.output, exec->chunk.first + exec->chunk.done);
}

enum turn exec_wait_turn(struct exec *exec, struct event *event)
{
    size_t bytes;
    uint64_t ready = exec->chunk.done - exec->chunk.sliced;
    bool is_mixed = exec->config.collect && output_count(&exec->records.output) > ready;
    if (ready == 0 || is_mixed || clock_ns(CLOCK_MONOTONIC) - exec->chunk.wait_began_ns < SLICE_NS)
        return TURN_BLOCKED;
    uint64_t count = exec_next_part(exec, &bytes);
    event->chunk.done = exec->chunk.done;
    event->chunk.compute_ns = exec->chunk.compute_ns;
    exec_send_part(exec, event, count, bytes);
    if (exec->config.collect)
        output_begin(&exec->records.output, exec->chunk.first + exec->chunk.done + 1);
    return TURN_EVENT;
}

struct range exec_end(struct executor *executor)
{
    struct exec *exec = exec_of(executor);
    struct exec_chunk *chunk = &exec->chunk;
    const struct hdss_kernel *kernel = exec->config.kernel;
    exec_take_next_chunk(exec);
    if (exec->config.helper != NULL)
        exec_remote_end(exec);
    isolated_fini(&exec->isolated);
    if (!chunk->running)
        return (struct range){0};
    if (chunk->waiting && kernel->stop != NULL)
        kernel->stop(exec->instance);
    const struct range rest = {chunk->first + chunk->done, chunk->count - chunk->done};
    chunk->ends = true;
    chunk->failed = chunk->final = chunk->died = false;
    chunk->count = chunk->done;
    chunk->is_reset = exec_least(chunk->is_reset, chunk->count);
    chunk->mark = 0;
    return rest;
}

/* Returns true if nothing runs any more. If an iteration waits, lets the kernel stop it, and then drops its output. A
 * kernel without stop() does not stop the iteration, and is closed while it waits. */
bool exec_has_ended(struct exec *exec)
{
    struct exec_chunk *chunk = &exec->chunk;
    if (exec->config.helper != NULL)
        return exec_remote_has_ended(exec);
    if (!chunk->waiting)
        return true;
    if (exec->config.kernel->stop != NULL && exec_run_variable(exec, chunk->first + chunk->done, 1) == HDSS_WAIT)
        return false;
    output_revert(&exec->records.output);
    chunk->waiting = false;
    return true;
}

void exec_check(const struct executor *executor)
{
    const struct exec *exec = (const struct exec *)executor;
    const struct exec_chunk *chunk = &exec->chunk;
    const struct exec_records *made = &exec->records;
    assert(chunk->sliced <= chunk->done && chunk->done <= chunk->count && "iterations are computed before they leave");
    assert(chunk->is_reset <= chunk->count && "iterations in doubt are the chunk's");
    assert((chunk->running || chunk->sliced == chunk->count) && "a chunk is over when all of it has left");
    assert((!chunk->failed || (chunk->running && chunk->done < chunk->count)) && "an iteration that failed is next");
    assert((!chunk->final || chunk->failed) && "what fails for good has failed");
    assert((!chunk->waiting || (made->variable && !chunk->failed)) && "an iteration that waits has not failed");
    assert(made->filling < EXEC_BUFFERS && "there are so many buffers");
    assert((made->variable || !exec->config.collect || chunk->done - chunk->sliced <= made->capacity) &&
           "records that have not left fit the buffer");
    assert((made->bytes == 0 || !made->variable) && "output is records or variable");
    assert(exec->shorts.count <= made->capacity && "a short chunk fits the buffer");
    assert((exec->config.short_runs || exec->shorts.count == 0) && "no chunk is short where each is timed");
    const bool has_command = exec->remote.posted || exec->remote.probing == PROBING_RUNS;
    assert((has_command || exec->remote.drops_next || exec->remote.helper.state != HELPER_RUNNING) &&
           (!has_command || exec->remote.helper.state == HELPER_RUNNING) &&
           "a helper runs commands of a chunk, or a probe, or what nobody wants any more");
    assert((!exec->remote.helper.has_next || exec->next.count > 0 || exec->remote.drops_next) &&
           "what a helper has ahead is the next chunk, or is not wanted any more");
    assert((!chunk->ends || (chunk->done == chunk->count && !chunk->failed)) && "nothing is left of what ends");
    assert((!exec->step.stuck_told || exec->step.is_stuck) && "a step that cannot be entered is told once");
    for (unsigned i = 0; i < EXEC_BUFFERS; i++)
        assert((!made->buffers[i].sent || made->buffers[i].bytes != NULL) && "a buffer that is sent is there");
}
