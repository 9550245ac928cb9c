/* SPDX-License-Identifier: MIT */
/* The threads of a worker in its helper, so that a crash of theirs does not kill the worker.
 *
 * Worker and helper share the ring (ring.h). The worker begins slots, cuts them and reports what is done, as if the
 * threads were its own; the helper's threads draw from the slots. Chunks are not passed one by one.
 *
 * If the helper dies, or hangs and is killed, no iteration is blamed, because several were running. Finished iterations
 * stay. What was drawn but not begun is left to the threads of the next helper (ring_mend()). The parts at which the
 * threads were are computed by the executor of one thread, in a process of its own, while the threads continue. A
 * crashing iteration is alone there, and is blamed. */
#pragma once

#include "hdss/kernel.h"
#include "worker/exec/inline.h"
#include "worker/exec/ring.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct thread_pool;

/* Begins the memory that the worker shares with the helper's threads. */
struct team_share {
    _Atomic bool has_work;
    _Atomic bool is_stuck; /* the time step cannot be entered, for the reason in `error` */
    char error[HDSS_ERROR_MAX];
};

/* Offsets from the share: of the ring, of the spread per thread and slot, and of each slot's records with their
 * headroom. */
struct team_layout {
    size_t ring, spread, records, bytes;
};

/* Returns the layout for `threads` threads and `slot_room` bytes of records per slot, in whole pages. */
struct team_layout team_layout_of(unsigned threads, size_t slot_room);

struct team_standing {
    uint64_t calls;
    uint64_t ns;
};

struct remote_team {
    struct exec exec; /* its helper opens the kernel, probes, and runs the threads */
    bool posted;
    unsigned deaths; /* number of successive helpers that died without calling the kernel */
    uint64_t calls;
    int watch; /* epoll descriptor for both helpers: that of the threads and that of the executor of one thread */
    struct team_standing *standing; /* [threads], owned; NULL: no time limit */
    uint64_t looked_ns, longest_ns; /* time of the last look; longest call seen (0: none) */
};

/* Starts the helper and waits until it has opened the kernel for all threads. `technique` must have a closed form. On
 * failure pool->error is set and nothing is owned. */
int remote_team_init(struct thread_pool *pool, size_t slot_room);
void remote_team_fini(struct thread_pool *pool);

/* Checks the helper and continues it. If an error cannot be repaired, it is in pool->problem. */
void remote_team_turn(struct thread_pool *pool);

/* After all helpers were killed: returns true if none of them runs any more. */
bool remote_team_has_ended(struct thread_pool *pool);

/* Announces that the worker will sleep on `watch`. False if there is work. */
bool remote_team_rest(struct thread_pool *pool);

uint64_t remote_team_processor_ns(const struct thread_pool *pool);

/* Sets the time step for the slots that begin next. The threads enter it when they reach such a slot. */
void remote_team_note_step(struct thread_pool *pool, uint64_t iteration);

/* For the helper: runs the threads until the worker stops the ring. Needs thread_pool_join(). */
void team_serve(struct thread_pool *pool);
void team_leave(struct thread_pool *pool);
