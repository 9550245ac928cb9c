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

/* How a helper is started. */
struct helper_start {
    /* Starts the process with the two descriptors as CHANNEL_FILE and CHANNEL_BELL; it calls serve(). -1 with an error.
     * */
    pid_t (*begin)(void *context, int file, int bell, char error[HDSS_ERROR_MAX]);
    void *context;
    bool lets_go;                     /* do not wait for a helper that leaves slowly */
    const struct helper_world *world; /* NULL: the real one */
};

enum helper_state {
    HELPER_NONE,    /* there is no process */
    HELPER_OPENING, /* it opens the kernel */
    HELPER_READY,   /* it waits for a command */
    HELPER_RUNNING, /* it runs a command */
};

struct helper {
    struct helper_start start;
    enum helper_state state;
    struct channel *channel; /* mapped */
    size_t channel_bytes;
    int file;         /* of the shared memory */
    int bell;         /* eventfd by which the helper wakes the worker */
    int watch;        /* epoll set of bell and process: readable if there is news */
    int process;      /* descriptor of the process; -1: no process, or no descriptor */
    pid_t pid;        /* 0: none */
    int status;       /* of the last helper, as of waitpid() */
    uint32_t current; /* number of the running or last command */
    bool has_next;    /* the next one is given ahead */
    bool killed;      /* by the worker; it will end */
    bool is_kept;     /* the mapping is kept, because MPI may read it until the process ends */
    bool has_refused; /* the kernel has reported why it cannot be opened */
    bool rests;       /* the worker waits for the bell */
    uint64_t rings;   /* signals of the bell that are not read yet */
    bool has_cores;   /* worker and helper can run in parallel */
    uint64_t wake_at; /* number of finished iterations at which the helper wakes the worker before the end */
    uint64_t cpu_ns;  /* processor time of ended helpers */
};

/* Creates the shared memory, with `room` bytes after the channel, but no process. On failure nothing is owned. */
int helper_init(struct helper *helper, const struct helper_start *start, size_t room, char error[HDSS_ERROR_MAX]);

/* Ends the process and frees everything. A kernel that does not close in time is killed. */
void helper_fini(struct helper *helper);

/* Starts a process if there is none; it begins to open the kernel. */
int helper_begin(struct helper *helper, char error[HDSS_ERROR_MAX]);

/* Data of the running or last command; and of the next one, which may be filled in before it is given. */
static inline struct channel_work *helper_work(const struct helper *helper)
{
    return channel_work(helper->channel, helper->current);
}

static inline struct channel_work *helper_next_work(const struct helper *helper)
{
    return channel_work(helper->channel, helper->current + CHANNEL_STEP);
}

/* Gives a ready helper the next command, which is in the channel. */
void helper_call(struct helper *helper, enum channel_command command);

/* The same; the helper begins on CPU `cpu` - 1, and may move later; 0: any. */
void helper_call_on(struct helper *helper, enum channel_command command, unsigned cpu);

/* Gives a running helper the next command ahead: it begins when all of the present one is done. */
void helper_call_ahead(struct helper *helper, enum channel_command command);

/* Withdraws the command given ahead, if any. False if the helper has begun it. */
bool helper_withdraw(struct helper *helper);

/* After the end of a command: continues with the one given ahead. False if the helper will not run it; then it does not
 * count as given. */
bool helper_go_on(struct helper *helper);

/* True while it runs a command or opens the kernel. */
static inline bool helper_is_busy(const struct helper *helper)
{
    return helper->state == HELPER_RUNNING || helper->state == HELPER_OPENING;
}

/* Kills a busy helper without waiting; helper_look() and helper_await() report its end. A command that finishes first
 * ends normally. */
void helper_kill(struct helper *helper);

/* Checks the helper: true, with an error, if it has died. A finished command or an opened kernel makes it ready; one
 * whose kernel cannot be opened has died. */
bool helper_look(struct helper *helper, char error[HDSS_ERROR_MAX]);

/* Waits up to `most_ns` until the command is finished, the kernel open, or the helper dead; returns like helper_look().
 * */
bool helper_await(struct helper *helper, uint64_t most_ns, char error[HDSS_ERROR_MAX]);

/* True if its command is finished, noticed or not. */
static inline bool helper_is_over(const struct helper *helper)
{
    return channel_is_over(helper->channel, helper->current);
}

/* Waits some milliseconds at most for a command that is expected to be short. Longer waits belong where messages wake
 * the worker. */
void helper_await_moment(const struct helper *helper);

/* Wakes the worker after so many finished iterations; UINT64_MAX: at the end. */
void helper_wake_at(struct helper *helper, uint64_t done);

/* Announces that the worker will sleep on the descriptor. False if there is news already. */
bool helper_rest(struct helper *helper);

/* Processor time of this and earlier helpers. */
uint64_t helper_processor_ns(const struct helper *helper);

/* Time in the helper's world, in ns. */
static inline uint64_t helper_now(const struct helper *helper)
{
    return helper->start.world->now();
}

/* Readable if there is news of the helper. */
static inline int helper_descriptor(const struct helper *helper)
{
    return helper->watch;
}

/* Describes the end of a process from its waitpid() status. */
void helper_tell_end(int status, char error[HDSS_ERROR_MAX]);
