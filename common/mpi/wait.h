/* SPDX-License-Identifier: MIT */
/* Waiting of a rank, with libevent: see wait.c. */
#pragma once

#include "common/machine/machine.h"
#include "common/mpi/doorbell.h"
#include "common/mpi/watch.h"
#include "common/os/signals.h"

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

/* Work of another process that this rank waits for. */
struct wait_work {
    struct event *event; /* becomes active when the descriptor is readable; owned; NULL: there is no descriptor */
    const bool *is_away; /* true while the other process works and needs the core */
    struct wait *wait;   /* NULL: wait_begin_work() has not been called */
    struct wait_work *next;
};

struct wait {
    struct event_base *base;
    bool has_own_base;
    struct event *signals[DRAIN_SIGNALS];
    struct event *bell;
    struct event *timer;
    struct event *ends; /* becomes active when a watched peer ends; may be NULL */
    struct wait_work *works;
    /* Sleeps until a time, or until a descriptor is readable. */
    void (*sleep)(struct wait *wait, uint64_t now_ns, uint64_t until_ns);
    bool work_is_ready;  /* the descriptor of one of `works` ended the sleep */
    bool cores_are_free; /* each rank of this node can have a core of its own */
    bool far_peers;
    bool shares_memory; /* messages come through shared memory, and each sender rings the doorbell */
    bool patient;       /* no other rank waits for this one */
    bool drain;         /* a signal has asked to drain; the loop clears it */
    uint64_t idle_since_ns;
    uint64_t nap_ns;
    uint64_t looked_at_ns;
};

/* Remembers drain signals until wait_init(). The first one calls `tell` (or NULL) in its handler. */
void wait_catch_early(void (*tell)(void));

struct event_base *wait_new_base(void);

/* `base` is from wait_new_base() and borrowed; if it is NULL, the wait makes its own. */
int wait_init(struct wait *wait, struct doorbell *doorbell, bool cores_are_free, struct event_base *base);
void wait_fini(struct wait *wait);

/* From now on a wait also ends when a watched peer ends. */
int wait_watch(struct wait *wait, struct watch *watch);

/* From now on a wait also ends when the descriptor (-1: none) is readable. The rank does not poll while `*is_away`. */
int wait_begin_work(struct wait *wait, struct wait_work *work, int descriptor, const bool *is_away);
void wait_end_work(struct wait_work *work);

/* Returns true, once, if the descriptor of some work ended the last sleep. */
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

/* Checks signals and timers without waiting, about once per millisecond. */
void wait_look(struct wait *wait, uint64_t now_ns);

/* Waits while idle: polls, or sleeps until a ring, a signal or `until_ns`. `poll` checks for a message, handles it, and
 * returns whether there was one; it is called once more after the rank is marked as sleeping. Returns whether the core
 * was given away, so that time may have passed. */
bool wait_idle(struct wait *wait, struct doorbell *doorbell, uint64_t now_ns, uint64_t until_ns, bool pending,
               bool (*poll)(void *context), void *context);

/* A separate function, because the system's sched.h and that of the techniques cannot both be included. */
void wait_yield(void);
