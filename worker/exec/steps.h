/* SPDX-License-Identifier: MIT */
/* Internal interface between the files of the executor. */
#pragma once

#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "proto/message.h"
#include "proto/record.h"
#include "worker/exec/inline.h"
#include "worker/exec/output.h"

#include <time.h>

/* Results are sent after this much computing time, even if the buffer is not full. */
#define SLICE_NS 1000000000u

extern const struct executor_ops inline_ops;

static inline struct exec *exec_of(struct executor *executor)
{
    return (struct exec *)executor;
}

int exec_call_kernel(struct exec *exec, uint64_t first, uint64_t count, void *records);

/* Runs the kernel for a step of a chunk with dependencies. `last`: the step completes the chunk. `*elapsed_ns`: the
 * time of the step, including the sleeps of a slowed worker. */
int exec_run_block(struct exec *exec, const struct hdss_block *block, bool last, uint64_t *began_ns,
                   uint64_t *elapsed_ns);

void exec_take_next_chunk(struct exec *exec);

void exec_cut(struct exec *exec, uint64_t kept);

uint64_t exec_next_part(const struct exec *exec, size_t *bytes);

void exec_send_part(struct exec *exec, struct event *event, uint64_t count, size_t bytes);

/* Runs the kernel for the next `count` iterations. Adds their time, with the sleeps of a slowed worker, to the time of
 * the chunk and of the piece. `soon`: the previous call read the clock just before, so its reading is used again. */
int exec_run_timed(struct exec *exec, uint64_t count, void *records, bool soon);

uint64_t exec_call_size(const struct exec *exec, uint64_t most);

void exec_end_piece(struct exec *exec);

int exec_remote_init(struct exec *exec, const struct helper_start *start, size_t room);

void exec_remote_fini(struct exec *exec);

int exec_remote_open(struct exec *exec);

void exec_remote_begin(struct exec *exec);

void exec_remote_give_ahead(struct exec *exec);

struct range exec_remote_cut_next(struct exec *exec, unsigned waiting);

void exec_remote_forget_next(struct exec *exec);

void exec_remote_set_mark(struct exec *exec);

/* Lets the helper continue and takes over its results. Returns false while the helper's command runs. */
bool exec_remote_turn(struct exec *exec);

/* Checks a helper that has nothing to do or is opening the kernel. Call it even while no chunk runs: otherwise unread
 * news of the helper would keep the worker awake. */
void exec_remote_look(struct exec *exec);

/* Three functions that measure for how long the helper has made no progress. Call the first at the beginning of a
 * command and the second at each later check. Call the third after iterations have taken `ns`; it notes the longest
 * such time. */
void exec_begin_standing(struct exec_standing *standing, uint64_t now_ns);
void exec_look_at_standing(struct exec_standing *standing, uint64_t now_ns);
void exec_learn_longest(struct exec_standing *standing, uint64_t ns);

/* Returns the time limit of an iteration; UINT64_MAX: none. `has_begun` false: returns the time within which the helper
 * must begin an iteration. */
uint64_t exec_limit_of_iteration(const struct exec *exec, bool has_begun);

/* exec_kill_overdue() kills the helper because it has exceeded `limit_ns`. If the helper has begun its next command,
 * the function does nothing. exec_tell_overdue() writes to `why` that the limit was exceeded, but only if the helper
 * was killed for that. */
void exec_kill_overdue(struct exec *exec, uint64_t limit_ns);
void exec_tell_overdue(const struct exec *exec, char why[HDSS_ERROR_MAX]);

bool exec_remote_rest(struct exec *exec);

uint64_t exec_remote_begun(const struct exec *exec);

/* Cuts the chunk at the index `kept`: later iterations must not begin any more. Iterations that have begun already stay
 * in the chunk. Returns how many iterations the chunk then has. */
uint64_t exec_remote_cut(struct exec *exec, uint64_t kept);

bool exec_remote_put_off(struct exec *exec);

void exec_remote_end(struct exec *exec);

bool exec_remote_has_ended(struct exec *exec);

void exec_remote_begin_probe(struct exec *exec);
bool exec_remote_probe_turn(struct exec *exec);

void exec_remote_probe(struct exec *exec, struct speed *speed);

int exec_enter_step(struct exec *exec, uint64_t iteration);

static inline bool exec_is_in_step(const struct exec *exec, uint64_t iteration)
{
    return iteration - exec->step.first < exec->step.count;
}

bool exec_probe(struct executor *executor, struct speed *speed);

enum turn exec_probe_turn(struct exec *exec, struct event *event);

/* If iterations crash or may not be run, a probe reports this time per iteration. */
#define EXEC_UNKNOWN_NS 1000000u

static inline struct speed exec_unknown_speed(void)
{
    return (struct speed){.mean_ns = 0, .levels = 1, .elapsed_ns = {EXEC_UNKNOWN_NS}};
}

double exec_time_clock(void);

void exec_look_for_short(struct exec *exec, uint64_t began_ns, uint64_t ended_ns);

void exec_fini(struct executor *executor);

/* exec_end(): see executor_end(). exec_has_ended() returns true if nothing runs any more. */
struct range exec_end(struct executor *executor);
bool exec_has_ended(struct exec *exec);

void exec_check(const struct executor *executor);

/* The clock that measures computing times. It is wall time for kernels that sleep. For others it is processor time,
 * because the core may be shared. */
clockid_t exec_work_clock(const struct exec *exec);

/* Sleeps for the time that a slowed worker owes. A short remainder is left for the next call, unless `at_end`. */
void exec_pay_waiting(double *waiting_ns, bool at_end);

/* Runs a kernel with variable output for `count` iterations. Returns HDSS_WAIT if the kernel is not finished. */
int exec_run_variable(struct exec *exec, uint64_t first, uint64_t count);

void exec_look_at_output(struct exec *exec, uint64_t count, size_t before);

void exec_compute_in_child(struct exec *exec);

void exec_tell_failure(struct exec *exec, struct event *event);

enum turn exec_wait_turn(struct exec *exec, struct event *event);

static inline struct exec_buffer *exec_buffer_in_use(struct exec *exec)
{
    return &exec->records.buffers[exec->records.filling];
}

static inline size_t exec_buffer_bytes(const struct exec *exec)
{
    return (EXEC_HEADROOM + exec->records.capacity * exec->records.bytes + 63) / 64 * 64;
}

static inline bool exec_can_compute(const struct exec *exec)
{
    const struct exec_chunk *chunk = &exec->chunk;
    bool lags = exec->records.variable && exec->config.collect && output_bytes(&exec->records.output) >= SLICE_MAX &&
                !chunk->waiting;
    return !exec->step.is_stuck && !chunk->failed && chunk->done < chunk->count && !lags &&
           (!exec->executor.is_put_off || chunk->waiting);
}

static inline uint64_t exec_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t exec_room(const struct exec *exec)
{
    if (!exec->records.variable)
        return exec->config.collect ? exec->records.capacity - (exec->chunk.done - exec->chunk.sliced)
                                    : exec->records.capacity;
    size_t gathered = output_bytes(&exec->records.output);
    double fit = gathered < SLICE_MAX ? (double)(SLICE_MAX - gathered) / (exec->records.iteration_bytes + 1) : 1;
    return fit < 1 ? 1 : fit < 1e18 ? (uint64_t)fit : UINT64_MAX;
}

static inline unsigned char *exec_next_records(struct exec *exec)
{
    if (exec->records.variable)
        return NULL;
    uint64_t place = exec->config.collect ? exec->chunk.done - exec->chunk.sliced : 0;
    return exec_buffer_in_use(exec)->bytes + EXEC_HEADROOM + place * exec->records.bytes;
}
