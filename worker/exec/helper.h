/* SPDX-License-Identifier: MIT */
/* The worker's end of a helper, a process that runs a user's kernel.
 *
 * The helper is started once, opens the kernel, and takes commands through shared memory (channel.h). If it dies the
 * worker learns how, and starts another one for the next command. It ends with its worker. */
#pragma once

#include "hdss/kernel.h"
#include "worker/exec/channel.h"
#include "worker/exec/world.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct helper_start {
    /* Starts a process that calls serve(), with the two files as descriptors CHANNEL_FILE and CHANNEL_BELL. Returns -1
     * with an error. */
    pid_t (*begin)(void *context, int file, int bell, char error[HDSS_ERROR_MAX]);
    void *context;
    bool lets_go; /* do not wait for a helper that is slow to leave */
    const struct helper_world *world;
};

enum helper_state {
    HELPER_NONE,
    HELPER_OPENING,
    HELPER_READY,
    HELPER_RUNNING,
};

struct helper {
    struct helper_start start;
    enum helper_state state;
    struct channel *channel;
    size_t channel_bytes;
    int file;
    int bell;    /* eventfd by which the helper wakes the worker */
    int watch;   /* epoll descriptor, readable if the bell was rung or the process has ended */
    int process; /* pidfd of the process; -1 if there is none */
    pid_t pid;
    int status; /* of the last helper, from waitpid() */
    uint32_t current;
    bool has_next;
    bool killed;      /* the worker has killed the helper, whose end is still to come */
    bool is_kept;     /* the mapping is kept, because MPI may read it until the process ends */
    bool has_refused; /* the kernel has reported why it cannot be opened */
    bool rests;
    uint64_t rings; /* number of rings that are not read yet */
    bool has_cores;
    uint64_t wake_at; /* the helper wakes the worker after this many finished iterations */
    uint64_t cpu_ns;
};

int helper_init(struct helper *helper, const struct helper_start *start, size_t room, char error[HDSS_ERROR_MAX]);

/* Ends the process and frees everything. A kernel that does not close in time is killed. */
void helper_fini(struct helper *helper);

/* Starts a process if there is none; it begins to open the kernel. */
int helper_begin(struct helper *helper, char error[HDSS_ERROR_MAX]);

/* Data of the running or last command, and of the one after it, which may be filled in before it is given. */
static inline struct channel_work *helper_work(const struct helper *helper)
{
    return channel_work(helper->channel, helper->current);
}

static inline struct channel_work *helper_next_work(const struct helper *helper)
{
    return channel_work(helper->channel, helper->current + CHANNEL_STEP);
}

/* Gives a ready helper the next command, whose data the caller has written to the channel. */
void helper_call(struct helper *helper, enum channel_command command);

/* Like helper_call(), but the helper begins on CPU `cpu` - 1 and may move later; 0: on any CPU. */
void helper_call_on(struct helper *helper, enum channel_command command, unsigned cpu);

/* Gives a running helper the next command ahead: it begins when all of the present one is done. */
void helper_call_ahead(struct helper *helper, enum channel_command command);

/* Withdraws the command given ahead, if any. False if the helper has begun it. */
bool helper_withdraw(struct helper *helper);

/* After the end of a command: continues with the one that was given ahead. False if the helper will not run it; the
 * command then does not count. */
bool helper_go_on(struct helper *helper);

static inline bool helper_is_busy(const struct helper *helper)
{
    return helper->state == HELPER_RUNNING || helper->state == HELPER_OPENING;
}

/* Kills a busy helper without waiting; helper_look() and helper_await() report its end. A command that finishes first
 * ends normally. */
void helper_kill(struct helper *helper);

/* Checks the helper. Returns true with an error if it has died or its kernel cannot be opened. If its command is
 * finished or its kernel is open, it becomes ready. */
bool helper_look(struct helper *helper, char error[HDSS_ERROR_MAX]);

/* Waits up to `most_ns` until the command is finished, the kernel open, or the helper dead; returns like helper_look().
 * */
bool helper_await(struct helper *helper, uint64_t most_ns, char error[HDSS_ERROR_MAX]);

/* True if the command is finished, even if helper_look() has not noticed it yet. */
static inline bool helper_is_over(const struct helper *helper)
{
    return channel_is_over(helper->channel, helper->current);
}

/* Waits at most some milliseconds for a command that is expected to be short. For longer waits the worker must sleep
 * where messages can wake it. */
void helper_await_moment(const struct helper *helper);

/* Makes the helper wake the worker after `done` finished iterations; UINT64_MAX: at the end of the command. */
void helper_wake_at(struct helper *helper, uint64_t done);

/* Announces that the worker will sleep on the descriptor. False if there is news already. */
bool helper_rest(struct helper *helper);

uint64_t helper_processor_ns(const struct helper *helper);

static inline uint64_t helper_now(const struct helper *helper)
{
    return helper->start.world->now();
}

static inline int helper_descriptor(const struct helper *helper)
{
    return helper->watch;
}

void helper_tell_end(int status, char error[HDSS_ERROR_MAX]);
