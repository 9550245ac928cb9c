/* SPDX-License-Identifier: MIT */
/* Threads of a worker in its helper, so that a crash of theirs does not kill the worker.
 *
 * Worker and helper share the ring (ring.h): the worker begins slots, cuts them and reports what is done, as if the
 * threads were its own; the helper's threads draw from them. Chunks are not passed one by one.
 *
 * If the helper dies, or hangs and is killed, no iteration is blamed, because several ran. What is done stays; what was
 * drawn but not begun is left to the threads of the next helper (ring_mend()); the parts at which the threads were are
 * computed by the executor of one thread, in a process of its own, while the threads continue. There a crashing
 * iteration is alone, and is blamed. */
#pragma once

#include "hdss/kernel.h"
#include "worker/exec/inline.h"
#include "worker/exec/ring.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct thread_pool;

/* At the beginning of the memory shared by the worker and its helper's threads. */
struct team_share {
    _Atomic bool has_work; /* the worker has something to look at */
    _Atomic bool is_stuck; /* the time step cannot be entered; `error` has the reason */
    char error[HDSS_ERROR_MAX];
};

/* Offsets from the share: of the ring, of the statistics per thread and slot, and of the records of each slot, with the
 * headroom before them. */
struct team_layout {
    size_t ring, spread, records, bytes;
};

/* The layout for a number of threads and bytes per slot, in whole pages. */
struct team_layout team_layout_of(unsigned threads, size_t slot_room);

/* Progress of a thread, as last seen by the worker. */
struct team_standing {
    uint64_t calls; /* begun calls of the kernel */
    uint64_t ns;    /* running time of the last one */
};

struct remote_team {
    struct exec exec;               /* its helper opens the kernel, probes, and contains the threads */
    bool posted;                    /* the threads were told to begin */
    unsigned deaths;                /* successive helpers without a call of the kernel */
    uint64_t calls;                 /* of all threads, at the last death */
    int watch;                      /* epoll set of both helpers: of the threads and of the executor of one thread */
    struct team_standing *standing; /* [threads], owned; NULL: no time limit */
    uint64_t looked_ns, longest_ns; /* time of the last look; longest call seen, 0: none */
};

/* Starts the helper and waits until it has opened the kernel for all threads. `technique` must have a closed form. On
 * failure pool->error is set and nothing is owned. */
int remote_team_init(struct thread_pool *pool, size_t slot_room);
void remote_team_fini(struct thread_pool *pool);

/* Checks the helper and lets it continue. Errors that cannot be repaired are in pool->problem. */
void remote_team_turn(struct thread_pool *pool);

/* True once no helper runs, after all were killed. */
bool remote_team_has_ended(struct thread_pool *pool);

/* Announces that the worker will sleep on `watch`. False if there is something to do. */
bool remote_team_rest(struct thread_pool *pool);

/* Processor time of all helpers. */
uint64_t remote_team_processor_ns(const struct thread_pool *pool);

/* Sets the time step of the slots that begin next; the threads enter it when they reach one. */
void remote_team_note_step(struct thread_pool *pool, uint64_t iteration);

/* Runs the threads until the worker stops the ring. thread_pool_join() must have been called. */
void team_serve(struct thread_pool *pool);
void team_leave(struct thread_pool *pool);
