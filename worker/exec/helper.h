/* SPDX-License-Identifier: MIT */
/* The worker's end of a helper, a process that runs a user's kernel.
 *
 * The helper opens the kernel and takes commands through shared memory (channel.h). If the helper dies, the worker
 * learns how, and starts another helper for the next command. A helper ends with its worker. */
#pragma once

#include "hdss/kernel.h"
#include "worker/exec/channel.h"
#include "worker/exec/world.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct helper_start {
    /* Starts a process that calls serve(), with `file` as descriptor CHANNEL_FILE and `bell` as CHANNEL_BELL. Returns
     * -1 with an error. */
    pid_t (*begin)(void *context, int file, int bell, char error[HDSS_ERROR_MAX]);
    void *context;
    bool lets_go;
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
    int bell;
    int watch;   /* epoll descriptor: readable after the bell was rung, and after the process has ended */
    int process; /* pidfd; -1: there is no process */
    pid_t pid;
    int status;
    uint32_t current;
    bool has_next;
    bool killed;
    bool is_kept; /* the memory stays mapped, because MPI may read it until the process ends */
    bool has_refused;
    bool rests;
    uint64_t rings;
    bool has_cores;
    uint64_t wake_at;
    uint64_t cpu_ns;
};

int helper_init(struct helper *helper, const struct helper_start *start, size_t room, char error[HDSS_ERROR_MAX]);

void helper_fini(struct helper *helper);

int helper_begin(struct helper *helper, char error[HDSS_ERROR_MAX]);

static inline struct channel_work *helper_work(const struct helper *helper)
{
    return channel_work(helper->channel, helper->current);
}

static inline struct channel_work *helper_next_work(const struct helper *helper)
{
    return channel_work(helper->channel, helper->current + CHANNEL_STEP);
}

void helper_call(struct helper *helper, enum channel_command command);

/* Like helper_call(), but the helper begins the command on CPU `cpu` - 1; it may move later. `cpu` 0: on any CPU. */
void helper_call_on(struct helper *helper, enum channel_command command, unsigned cpu);

/* Gives a running helper the next command ahead. The helper begins this command after the running command is completely
 * done. */
void helper_call_ahead(struct helper *helper, enum channel_command command);

bool helper_withdraw(struct helper *helper);

/* Makes the command that was given ahead the running one. Call it after a command has ended. Returns false if the
 * helper will not run the command that was given ahead; this command then counts as never given. */
bool helper_go_on(struct helper *helper);

static inline bool helper_is_busy(const struct helper *helper)
{
    return helper->state == HELPER_RUNNING || helper->state == HELPER_OPENING;
}

/* Sends SIGKILL to a busy helper without waiting for its end. helper_look() and helper_await() report the end. If the
 * running command finishes before the signal arrives, the command counts as done. */
void helper_kill(struct helper *helper);

/* Looks for news of the helper without waiting. Returns true, with an error, if the helper has died or cannot open its
 * kernel. If the helper has finished its command or opened its kernel, its state becomes HELPER_READY. */
bool helper_look(struct helper *helper, char error[HDSS_ERROR_MAX]);

bool helper_await(struct helper *helper, uint64_t most_ns, char error[HDSS_ERROR_MAX]);

static inline bool helper_is_over(const struct helper *helper)
{
    return channel_is_over(helper->channel, helper->current);
}

/* Waits at most some milliseconds for a command that is expected to be short. Messages do not end this wait; use
 * helper_rest() for longer waits. */
void helper_await_moment(const struct helper *helper);

void helper_wake_at(struct helper *helper, uint64_t done);

/* Prepares the worker for sleeping until `watch` is readable. Returns false if there is news already; the worker must
 * then not sleep. */
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
