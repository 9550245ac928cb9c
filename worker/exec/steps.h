/* SPDX-License-Identifier: MIT */
/* The steps of the executor that several of its files take. Inside worker/exec only. */
#pragma once

#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "proto/message.h"
#include "proto/record.h"
#include "worker/exec/inline.h"
#include "worker/exec/output.h"

#include <time.h>

/* Computing time after which results leave, be the buffer full or not. */
#define SLICE_NS 1000000000u

/* --- inline.c --- */

extern const struct executor_ops inline_ops;

static inline struct exec *exec_of(struct executor *executor)
{
    return (struct exec *)executor;
}

/* Runs the kernel, without a look at the time. */
int exec_call_kernel(struct exec *exec, uint64_t first, uint64_t count, void *records);

/* Runs the kernel for a step of a chunk, in a loop with dependencies; `last`: it completes the chunk. Its time, waiting
 * of a slow worker included, is that of the step. */
int exec_run_block(struct exec *exec, const struct hdss_block *block, bool last, uint64_t *began_ns,
                   uint64_t *elapsed_ns);

/* Goes on to the chunk behind one of which FINISHED has been told, if there is one. */
void exec_take_next_chunk(struct exec *exec);

/* The running chunk gives up its iterations behind `kept`, or behind those that have begun, or the first, where these
 * are more. */
void exec_cut(struct exec *exec, uint64_t kept);

/* The next part that leaves: its iterations, and their bytes. */
uint64_t exec_next_part(const struct exec *exec, size_t *bytes);

/* Sends the part; the last one of the chunk ends it. */
void exec_send_part(struct exec *exec, struct event *event, uint64_t count, size_t bytes);

/* Runs the kernel for the next `count` iterations of the chunk; its time, waiting included, is added to the chunk and
 * to the running piece. `soon`: the clock has been read behind the call before, and hardly anything was done since. */
int exec_run_timed(struct exec *exec, uint64_t count, void *records, bool soon);

/* Iterations for the next call of the kernel, at most `most`. */
uint64_t exec_call_size(const struct exec *exec, uint64_t most);

/* Ends the running piece where it may end. */
void exec_end_piece(struct exec *exec);

/* --- remote.c: the kernel in a helper --- */

/* Makes the helper's shared memory, with `room` bytes behind the share. -1 with one line in exec->error. */
int exec_remote_init(struct exec *exec, const struct helper_start *start, size_t room);

/* Ends the helper, and gives back what is shared with it. */
void exec_remote_fini(struct exec *exec);

/* Begins the helper and waits until the kernel is open. -1 with one line in exec->error. */
int exec_remote_open(struct exec *exec);

/* Begins the chunk that has been put into exec->chunk. */
void exec_remote_begin(struct exec *exec);

/* Gives the helper the chunk in exec->next ahead, where it may have it by now. */
void exec_remote_give_ahead(struct exec *exec);

/* Gives up iterations of that chunk: see executor_cut(). All of it, where the helper has not taken it. */
struct range exec_remote_cut_next(struct exec *exec, unsigned waiting);

/* Gives that chunk up. What the helper has begun of it ends before it gets anything else. */
void exec_remote_forget_next(struct exec *exec);

/* Takes the new mark of the chunk to the helper. */
void exec_remote_set_mark(struct exec *exec);

/* Has the helper go on with the chunk and takes over what it has done; false while its command runs on. */
bool exec_remote_turn(struct exec *exec);

/* Looks after a helper that has nothing to do, or that opens the kernel while the chunk has nothing for it: no turn of
 * the chunk does, and its news would keep the worker from its rest. */
void exec_remote_look(struct exec *exec);

/* How long what the helper computes stands: begins with a command, adds the time since the latest look, takes in that
 * all iterations of a while were over after `ns`, by itself the time of the longest at most. */
void exec_begin_standing(struct exec_standing *standing, uint64_t now_ns);
void exec_look_at_standing(struct exec_standing *standing, uint64_t now_ns);
void exec_learn_longest(struct exec_standing *standing, uint64_t ns);

/* The time that an iteration may take, or, until one has begun, the helper may; UINT64_MAX: any. */
uint64_t exec_limit_of_iteration(const struct exec *exec, bool has_begun);

/* exec_kill_overdue() kills a helper whose iteration took longer than the limit, unless the helper has gone on to its
 * next command by then. exec_tell_overdue() then writes that reason; otherwise it leaves the text as it is. */
void exec_kill_overdue(struct exec *exec, uint64_t limit_ns);
void exec_tell_overdue(const struct exec *exec, char why[HDSS_ERROR_MAX]);

/* Says that the worker is going to sleep. False where the helper has news. */
bool exec_remote_rest(struct exec *exec);

/* Iterations of the chunk that have begun, while the helper has a command. */
uint64_t exec_remote_begun(const struct exec *exec);

/* Has the helper compute no iteration of the chunk from `kept` on that has not begun. Returns the end of its command,
 * or `kept` where that lies behind it. */
uint64_t exec_remote_cut(struct exec *exec, uint64_t kept);

/* Has the command end with what has begun. False while it runs. */
bool exec_remote_put_off(struct exec *exec);

/* Ends what the helper runs: takes over what is done of its command, and kills it. */
void exec_remote_end(struct exec *exec);

/* True once the helper runs nothing of it any more. */
bool exec_remote_has_ended(struct exec *exec);

/* Has the helper probe; exec_remote_probe_turn() says, now and then, whether that is over: then the speed is there. */
void exec_remote_begin_probe(struct exec *exec);
bool exec_remote_probe_turn(struct exec *exec);

/* The same, and waits for it. */
void exec_remote_probe(struct exec *exec, struct speed *speed);

/* --- timestep.c --- */

/* Brings the kernel, step by step, to the time step that the iteration is of. -1 with one line in exec->error. */
int exec_enter_step(struct exec *exec, uint64_t iteration);

/* True where the kernel is in the iteration's time step. */
static inline bool exec_is_in_step(const struct exec *exec, uint64_t iteration)
{
    return iteration - exec->step.first < exec->step.count;
}

/* --- timing.c --- */

bool exec_probe(struct executor *executor, struct speed *speed);

/* Advances a probe that a helper runs. */
enum turn exec_probe_turn(struct exec *exec, struct event *event);

/* Time of an iteration as a probe tells it that nobody survives, or that none may run. */
#define EXEC_UNKNOWN_NS 1000000u

static inline struct speed exec_unknown_speed(void)
{
    return (struct speed){.mean_ns = 0, .levels = 1, .elapsed_ns = {EXEC_UNKNOWN_NS}};
}

/* Returns the time that a reading of the clock takes. */
double exec_time_clock(void);

/* Looks at a whole chunk that was timed by itself: whether it was short, and came soon after the one before. */
void exec_look_for_short(struct exec *exec, uint64_t began_ns, uint64_t ended_ns);

/* --- steps.c --- */

void exec_fini(struct executor *executor);

/* Ends what runs: see executor_end(). exec_has_ended() says that nothing of it does any more. */
struct range exec_end(struct executor *executor);
bool exec_has_ended(struct exec *exec);

/* Stops the program where an invariant does not hold. */
void exec_check(const struct executor *executor);

/* Returns the clock of the real work: a sleeping kernel is timed by the wall, a computing one by the core, which others
 * may share. */
clockid_t exec_work_clock(const struct exec *exec);

/* Pays the time that is owed to the slowdown, by real waiting; a short rest is carried over unless the chunk is at its
 * end. */
void exec_pay_waiting(double *waiting_ns, bool at_end);

/* Has the kernel put the output of `count` iterations. HDSS_WAIT where it has not got so far. */
int exec_run_variable(struct exec *exec, uint64_t first, uint64_t count);

/* Looks at the variable output of `count` iterations, put since there were `before` bytes. Where nothing is collected
 * it has served its purpose with its digest. */
void exec_look_at_output(struct exec *exec, uint64_t count, size_t before);

/* Has a child process compute, and takes over what it has done since the last call. */
void exec_compute_in_child(struct exec *exec);

/* Tells that an iteration has failed; results before it go first. */
void exec_tell_failure(struct exec *exec, struct event *event);

/* Ends the turn of a kernel that waits. Results before it leave all the same, when it is time; not where the waiting
 * iteration has put something already. */
enum turn exec_wait_turn(struct exec *exec, struct event *event);

/* --- all --- */

static inline struct exec_buffer *exec_buffer_in_use(struct exec *exec)
{
    return &exec->records.buffers[exec->records.filling];
}

/* Bytes of a buffer for records of one length: whole lines of the cache. */
static inline size_t exec_buffer_bytes(const struct exec *exec)
{
    return (EXEC_HEADROOM + exec->records.capacity * exec->records.bytes + 63) / 64 * 64;
}

/* True where the running chunk, whose results have room, goes on with an iteration. More variable output may have
 * gathered than could leave at once. While the executor is put off only the iteration goes on that waits. */
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

/* Returns the number of iterations for which there is room. Of variable output that is an estimate by earlier ones:
 * more than a slice of it does no harm. */
static inline uint64_t exec_room(const struct exec *exec)
{
    if (!exec->records.variable)
        return exec->config.collect ? exec->records.capacity - (exec->chunk.done - exec->chunk.sliced)
                                    : exec->records.capacity;
    size_t gathered = output_bytes(&exec->records.output);
    double fit = gathered < SLICE_MAX ? (double)(SLICE_MAX - gathered) / (exec->records.iteration_bytes + 1) : 1;
    return fit < 1 ? 1 : fit < 1e18 ? (uint64_t)fit : UINT64_MAX;
}

/* Returns the place of the next records. */
static inline unsigned char *exec_next_records(struct exec *exec)
{
    if (exec->records.variable)
        return NULL;
    uint64_t place = exec->config.collect ? exec->chunk.done - exec->chunk.sliced : 0;
    return exec_buffer_in_use(exec)->bytes + EXEC_HEADROOM + place * exec->records.bytes;
}
