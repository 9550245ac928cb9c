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

/* Compute time after which results are sent even if the buffer is not full. */
#define SLICE_NS 1000000000u

extern const struct executor_ops inline_ops;

static inline struct exec *exec_of(struct executor *executor)
{
    return (struct exec *)executor;
}

/* Runs the kernel without timing. */
int exec_call_kernel(struct exec *exec, uint64_t first, uint64_t count, void *records);

/* Runs the kernel for a step of a chunk with dependencies; `last`: it completes the chunk. `*ns` includes the waits of
 * a slowed worker. */
int exec_run_block(struct exec *exec, const struct hdss_block *block, bool last, uint64_t *began_ns,
                   uint64_t *elapsed_ns);

/* Continues with the next chunk, if any, after FINISHED was reported. */
void exec_take_next_chunk(struct exec *exec);

/* Cuts the running chunk to `kept` iterations, but not below those that have begun, or one. */
void exec_cut(struct exec *exec, uint64_t kept);

/* Iterations of the next part to send, and its bytes. */
uint64_t exec_next_part(const struct exec *exec, size_t *bytes);

/* Sends the part; the last one ends the chunk. */
void exec_send_part(struct exec *exec, struct event *event, uint64_t count, size_t bytes);

/* Runs the kernel for the next `count` iterations; adds their time, waits included, to chunk and piece. `soon`: the
 * clock was read after the previous call, and almost nothing was done since. */
int exec_run_timed(struct exec *exec, uint64_t count, void *records, bool soon);

/* Iterations for the next call of the kernel, at most `most`. */
uint64_t exec_call_size(const struct exec *exec, uint64_t most);

/* Ends the running piece if it is long enough. */
void exec_end_piece(struct exec *exec);

/* Creates the helper's shared memory, with `room` bytes after the share. */
int exec_remote_init(struct exec *exec, const struct helper_start *start, size_t room);

/* Ends the helper and frees what is shared with it. */
void exec_remote_fini(struct exec *exec);

/* Starts the helper and waits until the kernel is open. */
int exec_remote_open(struct exec *exec);

/* Begins the chunk in exec->chunk. */
void exec_remote_begin(struct exec *exec);

/* Gives the helper the chunk in exec->next ahead, if possible now. */
void exec_remote_give_ahead(struct exec *exec);

/* Gives up iterations of that chunk: see executor_cut(); all of it if the helper has not taken it. */
struct range exec_remote_cut_next(struct exec *exec, unsigned waiting);

/* Gives up that chunk. What the helper has begun of it ends before other commands. */
void exec_remote_forget_next(struct exec *exec);

/* Passes the chunk's new mark to the helper. */
void exec_remote_set_mark(struct exec *exec);

/* Lets the helper continue and takes over its results; false while its command runs. */
bool exec_remote_turn(struct exec *exec);

/* Checks a helper that has nothing to do, or opens the kernel, outside of the turns of a chunk: its news would keep the
 * worker from sleeping. */
void exec_remote_look(struct exec *exec);

/* The time for which the helper's iteration stands still: begin of a command; more time since the last look; some
 * iterations have finished after `ns`, which bounds the longest one. */
void exec_begin_standing(struct exec_standing *standing, uint64_t now_ns);
void exec_look_at_standing(struct exec_standing *standing, uint64_t now_ns);
void exec_learn_longest(struct exec_standing *standing, uint64_t ns);

/* Time limit of an iteration or, until one has begun, of the helper; UINT64_MAX: none. */
uint64_t exec_limit_of_iteration(const struct exec *exec, bool has_begun);

/* exec_kill_overdue() kills a helper whose iteration exceeded the limit, unless it has begun its next command.
 * exec_tell_overdue() then writes that reason; otherwise it leaves the text unchanged. */
void exec_kill_overdue(struct exec *exec, uint64_t limit_ns);
void exec_tell_overdue(const struct exec *exec, char why[HDSS_ERROR_MAX]);

/* Announces that the worker will sleep. False if the helper has news. */
bool exec_remote_rest(struct exec *exec);

/* Begun iterations of the chunk while the helper has a command. */
uint64_t exec_remote_begun(const struct exec *exec);

/* Prevents iterations of the chunk from `kept` on from beginning. Returns the end of the command, or `kept` if that is
 * later. */
uint64_t exec_remote_cut(struct exec *exec, uint64_t kept);

/* Ends the command with what has begun. False while it runs. */
bool exec_remote_put_off(struct exec *exec);

/* Ends the helper's work: takes over what is done and kills it. */
void exec_remote_end(struct exec *exec);

/* True once the helper runs nothing. */
bool exec_remote_has_ended(struct exec *exec);

/* Lets the helper probe; exec_remote_probe_turn() returns true when the speed is available. */
void exec_remote_begin_probe(struct exec *exec);
bool exec_remote_probe_turn(struct exec *exec);

/* The same, waiting for the result. */
void exec_remote_probe(struct exec *exec, struct speed *speed);

/* Advances the kernel to the time step of the iteration, step by step. */
int exec_enter_step(struct exec *exec, uint64_t iteration);

/* True if the kernel is in the iteration's time step. */
static inline bool exec_is_in_step(const struct exec *exec, uint64_t iteration)
{
    return iteration - exec->step.first < exec->step.count;
}

bool exec_probe(struct executor *executor, struct speed *speed);

/* Advances a probe in a helper. */
enum turn exec_probe_turn(struct exec *exec, struct event *event);

/* Time of an iteration that the probe reports if iterations crash or may not be run. */
#define EXEC_UNKNOWN_NS 1000000u

static inline struct speed exec_unknown_speed(void)
{
    return (struct speed){.mean_ns = 0, .levels = 1, .elapsed_ns = {EXEC_UNKNOWN_NS}};
}

/* Time of reading the clock. */
double exec_time_clock(void);

/* Checks whether a chunk that was timed by itself was short and followed the previous one closely. */
void exec_look_for_short(struct exec *exec, uint64_t began_ns, uint64_t ended_ns);

void exec_fini(struct executor *executor);

/* Ends what runs: see executor_end(). exec_has_ended() tells when nothing runs any more. */
struct range exec_end(struct executor *executor);
bool exec_has_ended(struct exec *exec);

/* Asserts invariants. */
void exec_check(const struct executor *executor);

/* The clock for compute times: wall time for kernels that sleep, processor time for others, whose core may be shared.
 * */
clockid_t exec_work_clock(const struct exec *exec);

/* Waits for the time owed to the slowdown; a short rest is carried over unless the chunk ends. */
void exec_pay_waiting(double *waiting_ns, bool at_end);

/* Lets the kernel put the output of `count` iterations. HDSS_WAIT if it is not finished. */
int exec_run_variable(struct exec *exec, uint64_t first, uint64_t count);

/* Accounts for the output of `count` iterations since there were `before` bytes; only digests it if nothing is
 * collected. */
void exec_look_at_output(struct exec *exec, uint64_t count, size_t before);

/* Computes in a child process and takes over what it has done since the last call. */
void exec_compute_in_child(struct exec *exec);

/* Reports a failed iteration, after the results before it. */
void exec_tell_failure(struct exec *exec, struct event *event);

/* Ends the turn of a waiting kernel. Results before it are sent when due, unless the waiting iteration has put
 * something already. */
enum turn exec_wait_turn(struct exec *exec, struct event *event);

static inline struct exec_buffer *exec_buffer_in_use(struct exec *exec)
{
    return &exec->records.buffers[exec->records.filling];
}

/* Size of a buffer for records, in whole cache lines. */
static inline size_t exec_buffer_bytes(const struct exec *exec)
{
    return (EXEC_HEADROOM + exec->records.capacity * exec->records.bytes + 63) / 64 * 64;
}

/* True if the running chunk can continue: its results have room. There may be more variable output than fits a part.
 * While the executor is put off only a waiting iteration continues. */
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

/* Number of iterations for which there is room; for variable output an estimate, as exceeding a slice does no harm. */
static inline uint64_t exec_room(const struct exec *exec)
{
    if (!exec->records.variable)
        return exec->config.collect ? exec->records.capacity - (exec->chunk.done - exec->chunk.sliced)
                                    : exec->records.capacity;
    size_t gathered = output_bytes(&exec->records.output);
    double fit = gathered < SLICE_MAX ? (double)(SLICE_MAX - gathered) / (exec->records.iteration_bytes + 1) : 1;
    return fit < 1 ? 1 : fit < 1e18 ? (uint64_t)fit : UINT64_MAX;
}

/* Place of the next records. */
static inline unsigned char *exec_next_records(struct exec *exec)
{
    if (exec->records.variable)
        return NULL;
    uint64_t place = exec->config.collect ? exec->chunk.done - exec->chunk.sliced : 0;
    return exec_buffer_in_use(exec)->bytes + EXEC_HEADROOM + place * exec->records.bytes;
}
