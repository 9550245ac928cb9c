/* SPDX-License-Identifier: MIT */
/* How a rank waits, with libevent: see wait.c. */
#pragma once

#include "common/machine/machine.h"
#include "common/mpi/doorbell.h"
#include "common/mpi/watch.h"
#include "common/os/signals.h"

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

struct wait_work {
    struct event *event; /* owned; NULL if the executor has no descriptor */
    const bool *is_away; /* true while the helper process computes and needs the core */
    struct wait *wait;
    struct wait_work *next;
};

struct wait {
    struct event_base *base;
    bool has_own_base;
    struct event *signals[DRAIN_SIGNALS];
    struct event *bell;
    struct event *timer;
    struct event *ends;
    struct wait_work *works;
    void (*sleep)(struct wait *wait, uint64_t now_ns, uint64_t until_ns);
    bool work_is_ready;
    bool cores_are_free;
    bool far_peers;
    bool shares_memory; /* all messages come through shared memory, and each sender rings this rank's doorbell */
    bool patient;       /* no other rank waits for this rank, so it may nap longer */
    bool drain;
    uint64_t idle_since_ns;
    uint64_t nap_ns;
    uint64_t looked_at_ns;
};

/* From now on, remembers drain signals that come before wait_init(). The first of them calls `tell` (may be NULL) in
 * the signal handler. */
void wait_catch_early(void (*tell)(void));

struct event_base *wait_new_base(void);

/* `base`: the result of wait_new_base(), borrowed. If `base` is NULL, `wait` makes a base of its own. */
int wait_init(struct wait *wait, struct doorbell *doorbell, bool cores_are_free, struct event_base *base);
void wait_fini(struct wait *wait);

int wait_watch(struct wait *wait, struct watch *watch);

/* From now on the rank wakes when `descriptor` is readable (-1: there is none). While `*is_away` is true, the rank does
 * not poll. */
int wait_begin_work(struct wait *wait, struct wait_work *work, int descriptor, const bool *is_away);
void wait_end_work(struct wait_work *work);

static inline bool wait_take_work(struct wait *wait)
{
    bool ready = wait->work_is_ready;
    wait->work_is_ready = false;
    return ready;
}

static inline void wait_reset(struct wait *wait)
{
    wait->idle_since_ns = NEVER;
}

/* Handles signals, timers and other events that are due, without waiting. Does nothing if the last call was less than a
 * millisecond ago. */
void wait_look(struct wait *wait, uint64_t now_ns);

/* Waits while there is nothing to do. Polls, or sleeps until the doorbell rings, a signal comes, or the time is
 * `until_ns`. `poll` checks for a message, handles it, and returns true if there was one. It is also called after the
 * doorbell flag is set, before the rank sleeps. If this returns true, the rank has slept or yielded its core, and the
 * caller must read the clock. */
bool wait_idle(struct wait *wait, struct doorbell *doorbell, uint64_t now_ns, uint64_t until_ns, bool pending,
               bool (*poll)(void *context), void *context);

/* Calls sched_yield(). It is a function of its own because one file cannot include both the system's <sched.h> and
 * common/sched/sched.h. */
void wait_yield(void);
