/* SPDX-License-Identifier: MIT */
/* The threads of a worker in its helper, so that none of them takes the worker along.
 *
 * Worker and helper share the ring (ring.h): the worker begins slots, cuts them and tells what is done, as if the
 * threads were its own, and the helper's threads draw from them. Nothing is handed over chunk by chunk.
 *
 * When the helper dies, or hangs and is killed, nobody is blamed: several iterations ran. What is known to be done
 * stays, what was drawn and had not begun is left to the next helper's threads (ring_mend()), and the parts that the
 * threads were at are computed again by the executor of one thread, in a process of its own, while the threads go on
 * with the rest. There an iteration that ends its process is alone, and is the one to blame. */
#pragma once

#include "hdss/kernel.h"
#include "worker/exec/inline.h"
#include "worker/exec/ring.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct thread_pool;

/* At the beginning of what a worker and its helper's threads share. */
struct team_share {
    _Atomic bool has_work; /* there is something for the worker to look at */
    _Atomic bool is_stuck; /* the time step cannot be entered, for which `error` says why */
    char error[HDSS_ERROR_MAX];
};

/* Where the rest lies, in bytes from the share on: the ring, what shows how iterations differ for each thread and slot,
 * and the records of each slot, with the room in front of them. */
struct team_layout {
    size_t ring, spread, records, bytes;
};

/* The layout for so many threads and bytes for the records of a slot, which are whole pages. */
struct team_layout team_layout_of(unsigned threads, size_t slot_room);

/* The iterations of a thread, as the worker sees them when it looks. */
struct team_standing {
    uint64_t calls; /* calls of the kernel that had begun at the latest look */
    uint64_t ns;    /* time for which the latest one has run */
};

/* The worker's end. */
struct remote_team {
    struct exec exec;               /* its helper opens the kernel, probes, and has the threads */
    bool posted;                    /* the threads have been told to begin */
    unsigned deaths;                /* of helpers in a row, without a call of the kernel by a thread */
    uint64_t calls;                 /* of all threads, at the latest death */
    int watch;                      /* epoll set of the helpers of the threads and of the executor of one thread */
    struct team_standing *standing; /* [threads], owned; NULL: iterations have no limit of time */
    uint64_t looked_ns, longest_ns; /* the latest look; no call that was seen took longer, 0: none was seen */
};

/* Begins the helper and waits until it has opened the kernel for all threads. `technique` has a closed form. -1 with
 * one line in pool->error, nothing owned. */
int remote_team_init(struct thread_pool *pool, size_t slot_room);
void remote_team_fini(struct thread_pool *pool);

/* Looks at what has become of the helper, and has it go on. What cannot be mended is in pool->problem. */
void remote_team_turn(struct thread_pool *pool);

/* True once no helper computes any more, of which all were killed. */
bool remote_team_has_ended(struct thread_pool *pool);

/* Says that the worker is going to sleep on `watch`. False where there is something to do. */
bool remote_team_rest(struct thread_pool *pool);

/* Processor time of all helpers. */
uint64_t remote_team_processor_ns(const struct thread_pool *pool);

/* Says which time step the slots that begin are of; the helper's threads enter it when they come to one. */
void remote_team_note_step(struct thread_pool *pool, uint64_t iteration);

/* --- the helper's end: thread_pool_join() makes ready --- */

/* Runs the threads until the worker has stopped the ring. */
void team_serve(struct thread_pool *pool);
void team_leave(struct thread_pool *pool);
