/* SPDX-License-Identifier: MIT */
/* A helper, as its worker sees it: a process that runs a user's kernel, so that the worker never does.
 *
 * It is begun once, opens the kernel, and takes one command after another by way of shared memory (channel.h). When it
 * dies the worker learns how, and begins another one for the next command. It ends with its worker. */
#pragma once

#include "hdss/kernel.h"
#include "worker/exec/channel.h"
#include "worker/exec/world.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The way in which a helper is begun. */
struct helper_start {
    /* Begins the process, which has the two descriptors as CHANNEL_FILE and CHANNEL_BELL and calls serve(). -1 with one
     * line. */
    pid_t (*begin)(void *context, int file, int bell, char error[HDSS_ERROR_MAX]);
    void *context;
    bool lets_go; /* one that takes long to leave is not waited for, as the worker has other things to do */
    const struct helper_world *world; /* NULL: the real one */
};

enum helper_state {
    HELPER_NONE,    /* there is no process */
    HELPER_OPENING, /* it opens the kernel */
    HELPER_READY,   /* it waits for a command */
    HELPER_RUNNING, /* it runs one */
};

struct helper {
    struct helper_start start;
    enum helper_state state;
    struct channel *channel; /* mapped */
    size_t channel_bytes;
    int file;         /* of the shared memory */
    int bell;         /* eventfd that the helper wakes the worker with */
    int watch;        /* epoll set of the bell and the process: readable when there is news */
    int process;      /* descriptor that its world has for it; -1: there is no process, or no descriptor */
    pid_t pid;        /* 0: there is none */
    int status;       /* how the latest one ended, as waitpid() gives it */
    uint32_t current; /* number of the command that it runs, or ran last */
    bool has_next;    /* the one behind that was given ahead */
    bool killed;      /* by the worker: it is about to end */
    bool is_kept;     /* the shared memory stays mapped: MPI may read it until the process ends */
    bool has_refused; /* the kernel has said why it cannot be opened */
    bool rests;       /* the worker waits for the bell */
    uint64_t rings;   /* of the bell, which were not read yet: the helper has rung, or is about to */
    bool has_cores;   /* worker and helper may run side by side */
    uint64_t wake_at; /* iterations of the command with which the helper wakes the worker before its end */
    uint64_t cpu_ns;  /* processor time of helpers that have ended */
};

/* Makes the shared memory, with `room` bytes for records behind the channel, and begins no process yet. -1 with one
 * line, nothing owned. */
int helper_init(struct helper *helper, const struct helper_start *start, size_t room, char error[HDSS_ERROR_MAX]);

/* Ends the process, and gives everything back. A kernel that does not close in time is killed. */
void helper_fini(struct helper *helper);

/* Begins a process where there is none; it opens the kernel meanwhile. -1 with one line. */
int helper_begin(struct helper *helper, char error[HDSS_ERROR_MAX]);

/* The command that it runs, or ran last; and the one behind that, which may be filled in before it is given. */
static inline struct channel_work *helper_work(const struct helper *helper)
{
    return channel_work(helper->channel, helper->current);
}

static inline struct channel_work *helper_next_work(const struct helper *helper)
{
    return channel_work(helper->channel, helper->current + CHANNEL_STEP);
}

/* Gives a ready helper the next command, which stands in the channel. */
void helper_call(struct helper *helper, enum channel_command command);

/* The same, and has the helper begin on a CPU, `cpu` - 1, which it may leave; 0: on any. */
void helper_call_on(struct helper *helper, enum channel_command command, unsigned cpu);

/* Gives a helper that runs a command the next one ahead: it begins with that as soon as all of the first is done. */
void helper_call_ahead(struct helper *helper, enum channel_command command);

/* Takes back what was given ahead, if it was. False where the helper is at it, or through. */
bool helper_withdraw(struct helper *helper);

/* Goes on, behind the answer to a command of which all is done, to the one that was given ahead. False where the helper
 * will not run it: then it is as if it had not been given. */
bool helper_go_on(struct helper *helper);

/* True where it runs a command, or opens the kernel. */
static inline bool helper_is_busy(const struct helper *helper)
{
    return helper->state == HELPER_RUNNING || helper->state == HELPER_OPENING;
}

/* Kills a helper that is busy, without waiting for its end, which helper_look() and helper_await() tell. A
 * command that is over before the signal gets there ends as any other. */
void helper_kill(struct helper *helper);

/* Looks what has become of the helper: true where it has died, with one line in `error`. A command that is over makes
 * it ready, and so does the kernel when it is open; one that cannot be opened has died. */
bool helper_look(struct helper *helper, char error[HDSS_ERROR_MAX]);

/* Waits until the command is over, the kernel open or the helper dead, as helper_look() tells; `most_ns` at most. */
bool helper_await(struct helper *helper, uint64_t most_ns, char error[HDSS_ERROR_MAX]);

/* True where the command that it runs is over, whether that has been looked at or not. */
static inline bool helper_is_over(const struct helper *helper)
{
    return channel_is_over(helper->channel, helper->current);
}

/* Waits a moment for a command that is expected to be short: until it is over, or the worker is woken before, but for
 * some milliseconds at most. Whoever may sleep for longer does so where messages wake it. */
void helper_await_moment(const struct helper *helper);

/* Has the worker woken when so many iterations of the command are done; UINT64_MAX: when it is over. */
void helper_wake_at(struct helper *helper, uint64_t done);

/* Says that the worker is going to sleep on the descriptor. False where there is news already. */
bool helper_rest(struct helper *helper);

/* Processor time of this helper and those before it. */
uint64_t helper_processor_ns(const struct helper *helper);

/* The time in the helper's world, in ns of the clock that events carry. */
static inline uint64_t helper_now(const struct helper *helper)
{
    return helper->start.world->now();
}

/* Becomes readable with news of the helper. */
static inline int helper_descriptor(const struct helper *helper)
{
    return helper->watch;
}

/* The line about a process that ended with this status, as waitpid() gives it. */
void helper_tell_end(int status, char error[HDSS_ERROR_MAX]);
