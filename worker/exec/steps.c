/* SPDX-License-Identifier: MIT */
/* The executor's steps off the usual way of a chunk: opening and closing, being slower than the core can, variable
 * output, a child process, a kernel that fails or waits. */
#include "worker/exec/steps.h"

#include "common/os/clock.h"
#include "common/util/digest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Digested-only results are made in a buffer that stays in the cache. */
#define SCRATCH_BYTES (256u << 10)
/* Sleeps shorter than this are put off: the timer is not that precise. */
#define WAIT_MIN_NS 200000.0

static int allocate(struct exec *exec)
{
    if (exec->variable)
        return 0; /* what is needed, when it is known */
    uint64_t limit = exec->config.collect ? SLICE_MAX : SCRATCH_BYTES;
    exec->capacity = exec->record_bytes < limit ? limit / exec->record_bytes : 1;
    size_t bytes = EXEC_HEADROOM + exec->capacity * exec->record_bytes;
    for (unsigned i = 0; i < (exec->config.collect ? EXEC_BUFFERS : 1); i++) {
        exec->buffers[i].bytes = aligned_alloc(64, (bytes + 63) / 64 * 64);
        if (exec->buffers[i].bytes == NULL)
            return -1;
    }
    return 0;
}

int exec_init(struct exec *exec, const struct exec_config *config)
{
    *exec = (struct exec){
        .executor = {&inline_ops, {.worker = config->worker.rank, .count = 1, .max_over_mean = 1}},
        .config = *config,
        .variable = config->loop->streams > 0,
        .random = 1,
    };
    exec->record_bytes = exec->variable ? 0 : hdss_record_size(config->loop);
    output_init(&exec->output, config->loop->streams, config->collect);
    if (exec->variable || config->collect || config->spread || config->slowdown > 1)
        exec->config.short_runs = false;
    if (exec->config.short_runs)
        exec->clock_ns = exec_time_clock();
    if (allocate(exec) < 0) {
        exec_fini(&exec->executor);
        snprintf(exec->error, sizeof exec->error, "%s: no memory for a record of %llu bytes", config->kernel->name,
                 (unsigned long long)exec->record_bytes);
        return -1;
    }
    if (config->kernel->open(config->values, config->loop, &exec->config.worker, &exec->instance, exec->error) < 0) {
        exec_fini(&exec->executor);
        return -1;
    }
    exec->open = true;
    exec->step_count = config->each > 0 ? config->each : UINT64_MAX;
    if (config->kernel->step == NULL || config->kernel->step(exec->instance, 0, NULL, exec->error) == 0)
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
    careful_fini(&exec->careful);
    for (unsigned i = 0; i < EXEC_BUFFERS; i++) {
        free(exec->buffers[i].bytes);
        exec->buffers[i].bytes = NULL;
    }
    output_fini(&exec->output);
    free(exec->earlier);
    exec->earlier = NULL;
}

/* --- being slower than the core can --- */

clockid_t exec_work_clock(const struct exec *exec)
{
    bool waits = exec->config.loop->waits || exec->config.kernel->descriptor != NULL;
    return waits ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
}

static void sleep_for(double ns)
{
    const uint64_t until = clock_ns(CLOCK_MONOTONIC) + (uint64_t)ns;
    const struct timespec at = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
        ;
}

void exec_pay_waiting(double *waiting_ns, bool at_end)
{
    if (*waiting_ns < (at_end ? WAIT_MIN_NS / 4 : WAIT_MIN_NS))
        return;
    uint64_t before = clock_ns(CLOCK_MONOTONIC);
    sleep_for(*waiting_ns);
    *waiting_ns -= (double)(clock_ns(CLOCK_MONOTONIC) - before); /* the oversleep counts for the next time */
}

/* --- variable output --- */

int exec_run_variable(struct exec *exec, uint64_t first, uint64_t count)
{
    struct output *output = &exec->output;
    if (!exec->waiting)
        output_begin(output, first + count);
    int result = exec->config.kernel->run_variable(exec->instance, first, count, &output->calls, exec->error);
    exec->waiting = result == HDSS_WAIT && output->problem[0] == '\0';
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
    double known = exec->iteration_bytes;
    double bytes = count > 0 ? (double)(output_bytes(&exec->output) - before) / (double)count : known;
    exec->iteration_bytes = bytes > known ? bytes : known + (bytes - known) / 8;
    if (!exec->config.collect)
        exec->digest += output_take(&exec->output, output_count(&exec->output), exec->config.loop, NULL);
}

/* --- iterations that took workers down --- */

void exec_compute_in_child(struct exec *exec)
{
    const struct careful_job job = {
        .kernel = exec->config.kernel,
        .instance = exec->instance,
        .first = exec->first + exec->done,
        .count = exec->variable ? 1 : exec_least(exec->count - exec->done, exec_room(exec)),
        .record_bytes = exec->record_bytes,
        .capacity = exec->capacity,
        .output = exec->variable ? &exec->output : NULL,
        .loop = exec->config.loop,
    };
    size_t gathered = output_bytes(&exec->output);
    unsigned char *records = exec_next_records(exec);
    if (!exec_is_in_step(exec, job.first) && exec_enter_step(exec, job.first) < 0)
        return;
    uint64_t count = careful_turn(&exec->careful, &job, records, &exec->failed, &exec->final, exec->error);
    if (exec->variable)
        exec_look_at_output(exec, count, gathered);
    else
        exec->digest += digest_records(exec->first + exec->done, count, records, exec->record_bytes);
    exec->done += count;
    exec->ended_ns = clock_ns(CLOCK_MONOTONIC);
    exec->compute_ns = exec->ended_ns - exec->began_ns;
}

/* --- a kernel that fails or waits --- */

void exec_tell_failure(struct exec *exec, struct event *event)
{
    size_t bytes;
    *event = (struct event){.type = EVENT_SLICE, .chunk = {.done = exec->done, .compute_ns = exec->compute_ns}};
    if (exec->done > exec->sliced) {
        uint64_t count = exec_next_part(exec, &bytes);
        exec_send_part(exec, event, count, bytes);
        return;
    }
    event->type = EVENT_FAILURE;
    event->text = exec->error;
    event->chunk.count = 1;
    event->chunk.final = exec->final;
    exec->failed = exec->final = false;
    exec->sliced = ++exec->done;
    if (exec->variable)
        output_clear(&exec->output, exec->first + exec->done);
}

enum turn exec_wait_turn(struct exec *exec, struct event *event)
{
    size_t bytes;
    uint64_t ready = exec->done - exec->sliced;
    bool is_mixed = exec->config.collect && output_count(&exec->output) > ready;
    if (ready == 0 || is_mixed || clock_ns(CLOCK_MONOTONIC) - exec->wait_began_ns < SLICE_NS)
        return TURN_BLOCKED;
    uint64_t count = exec_next_part(exec, &bytes);
    event->chunk.done = exec->done;
    event->chunk.compute_ns = exec->compute_ns;
    exec_send_part(exec, event, count, bytes);
    if (exec->config.collect)
        output_begin(&exec->output, exec->first + exec->done + 1); /* the one that waits goes on */
    return TURN_EVENT;
}
