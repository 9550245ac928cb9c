/* SPDX-License-Identifier: MIT */
/* The threads of a worker in its helper, so that a crash does not kill the worker.
 *
 * Worker and helper share the ring (ring.h). The worker begins slots, cuts them and reports what is done, as if the
 * threads were its own. The helper's threads draw from the slots, so the helper needs no command for each chunk.
 *
 * If the helper dies, or hangs and is killed, no iteration is blamed, because several were running. Results of finished
 * iterations are kept. The threads of the next helper compute the iterations that were drawn and had not begun
 * (ring_mend()). The executor of one thread repeats the parts with running iterations, in another helper. There only
 * one iteration runs at a time, so an iteration that crashes is blamed. Meanwhile the threads continue. */
#pragma once

#include "hdss/kernel.h"
#include "worker/exec/inline.h"
#include "worker/exec/ring.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct thread_pool;

struct team_share {
    _Atomic bool has_work;
    _Atomic bool is_stuck;
    char error[HDSS_ERROR_MAX];
};

/* Offsets in the shared memory, from the beginning of struct team_share, of three things: the ring, the spread per
 * thread and slot, and the records of the slots with their headroom. `bytes`: size of all of it. */
struct team_layout {
    size_t ring, spread, records, bytes;
};

struct team_layout team_layout_of(unsigned threads, size_t slot_room);

struct team_standing {
    uint64_t calls;
    uint64_t ns;
};

struct remote_team {
    struct exec exec;
    bool posted;
    unsigned deaths;
    uint64_t calls;
    /* epoll descriptor for two helpers: the helper of the threads, and the helper of the executor of one thread */
    int watch;
    struct team_standing *standing; /* [threads], owned; NULL: no time limit */
    uint64_t looked_ns, longest_ns;
};

/* Starts the helper and waits until it has opened the kernel for all threads. `technique` must have a closed form. On
 * failure pool->error is set and nothing is owned. */
int remote_team_init(struct thread_pool *pool, size_t slot_room);
void remote_team_fini(struct thread_pool *pool);

void remote_team_turn(struct thread_pool *pool);

bool remote_team_has_ended(struct thread_pool *pool);

bool remote_team_rest(struct thread_pool *pool);

uint64_t remote_team_processor_ns(const struct thread_pool *pool);

void remote_team_note_step(struct thread_pool *pool, uint64_t iteration);

/* For the helper: runs the threads until the worker stops the ring. Call thread_pool_join() first. */
void team_serve(struct thread_pool *pool);
void team_leave(struct thread_pool *pool);
