/* SPDX-License-Identifier: MIT */
/* The waiting of a rank, with libevent: see wait.c. */
#pragma once

#include "common/machine/machine.h"
#include "common/mpi/doorbell.h"
#include "common/mpi/watch.h"
#include "common/os/signals.h"

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

/* Work that is done elsewhere, for which this rank waits. */
struct wait_work {
    struct event *event;    /* its descriptor is readable; owned; NULL: it has none */
    const bool *is_away;    /* a process that wants the core does it; borrowed */
    struct wait *wait;      /* NULL: it has not begun */
    struct wait_work *next; /* borrowed */
};

/* Signals that ask to drain. */
struct wait {
    struct event_base *base; /* owned where has_own_base is true */
    bool has_own_base;
    struct event *signals[DRAIN_SIGNALS];
    struct event *bell;
    struct event *timer;
    struct event *ends;      /* event at the end of a peer; NULL: none is watched */
    struct wait_work *works; /* borrowed */
    /* Sleeps until then, or until one of the descriptors is readable. */
    void (*sleep)(struct wait *wait, uint64_t now_ns, uint64_t until_ns);
    bool work_is_ready;     /* has ended the sleep */
    bool cores_are_free;    /* each rank of this node can have a core of its own */
    bool far_peers;         /* messages may come from where no doorbell reaches */
    bool shares_memory;     /* messages come by memory, and with each a bell */
    bool patient;           /* no other rank waits for this one while it waits */
    bool drain;             /* a signal asked for it; cleared by the loop */
    uint64_t idle_since_ns; /* NEVER while busy */
    uint64_t nap_ns;        /* next nap, while something is pending or peers are far */
    uint64_t looked_at_ns;  /* last time at libevent */
};

/* Has a signal that asks to drain remembered from now on until wait_init(); it ends nobody. The first one calls `tell`
 * from its handler; NULL: nobody is told. */
void wait_catch_early(void (*tell)(void));

/* A base to wait in. NULL when memory or files are out. */
struct event_base *wait_new_base(void);

/* `base`: of wait_new_base(), borrowed; NULL: one is made. -1 when memory is out. */
int wait_init(struct wait *wait, struct doorbell *doorbell, bool cores_are_free, struct event_base *base);
void wait_fini(struct wait *wait);

/* Has waiting end, and wait_look() notice, when a peer ends. -1 when memory is out. */
int wait_watch(struct wait *wait, struct watch *watch);

/* Has waiting end when the descriptor is readable (-1 stands for none), and begin with sleep while `is_away` (NULL:
 * never). -1 when memory is out. */
int wait_begin_work(struct wait *wait, struct wait_work *work, int descriptor, const bool *is_away);
/* Before the end of the wait; nothing where it has not begun. */
void wait_end_work(struct wait_work *work);

/* True, once, where the kernel's descriptor has ended the last sleep. */
static inline bool wait_take_work(struct wait *wait)
{
    bool ready = wait->work_is_ready;
    wait->work_is_ready = false;
    return ready;
}

/* Notes that something happened: the next wait begins with polling again. */
static inline void wait_reset(struct wait *wait)
{
    wait->idle_since_ns = NEVER;
}

/* Looks at signals and timers without waiting, about once in a millisecond. */
void wait_look(struct wait *wait, uint64_t now_ns);

/* Waits as there is nothing to do: polls on, or sleeps until a bell, a signal or `until_ns`. `poll` looks for a message
 * and handles it; it returns whether one came. It is called once more after this rank has said that it sleeps. Returns
 * whether the core was given away, so that some time may have passed. */
bool wait_idle(struct wait *wait, struct doorbell *doorbell, uint64_t now_ns, uint64_t until_ns, bool pending,
               bool (*poll)(void *context), void *context);

/* Gives the core to another rank, if one wants it. A function of its own, as sched.h of the system and that of the
 * techniques do not go together. */
void wait_yield(void);
