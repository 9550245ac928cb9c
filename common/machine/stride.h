/* SPDX-License-Identifier: MIT */
/* Stride scheduling: decides which of several jobs computes next on a rank. Pure: times are parameters.
 *
 * Each job has a pass, its used time divided by its weight. The job with the least pass is next. A job that had nothing
 * to compute does not save up unused time: when it continues, its pass is raised to the floor of its priority. While a
 * job has a chunk on this rank, no job of lower priority computes.
 *
 * A job keeps the core until it has nothing to compute, or until two things are true: the job has had the core for
 * `keeps_ns`, and another job with a chunk has a lower pass. So jobs do not alternate more often than every `keeps_ns`,
 * even if their computations are short.
 *
 * stride_begin() begins a round, in which each job may have one turn. stride_next() returns the next job that may
 * compute, or NULL if the round is over. The caller then says what the job did: stride_charge() if it has computed,
 * stride_hold() if its helper computes (no other job may compute then), stride_pass() if it had nothing to compute. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define STRIDE_PASS_SCALE 1024u

struct stride_share {
    struct stride_share *next;
    uint64_t pass;  /* used time / weight, in units of 1/STRIDE_PASS_SCALE ns */
    uint64_t floor; /* pass at which a job of this priority continues after it had nothing to compute */
    uint64_t used_ns;
    /* time since which another process has computed for the job; 0: no other process computes for it */
    uint64_t held_since_ns;
    unsigned weight;
    int priority;
    unsigned round;
    bool has_chunk;
    bool was_idle;
    bool ends;
};

#define STRIDE_NEVER UINT64_MAX

struct stride {
    struct stride_share *first;
    unsigned round;
    struct stride_share *owner;
    uint64_t since_ns;
    uint64_t keeps_ns;
};

void stride_own(struct stride *stride, struct stride_share *share, uint64_t now_ns);

void stride_disown(struct stride *stride);

/* Returns the time at which the job that has the core should leave it to another job; 0: at once; STRIDE_NEVER:
 * unknown, or never. */
uint64_t stride_due_ns(const struct stride *stride);

void stride_admit(struct stride *stride, struct stride_share *share);

void stride_leave(struct stride *stride, struct stride_share *share);

void stride_want(struct stride *stride, struct stride_share *share);

void stride_begin(struct stride *stride);

struct stride_share *stride_next(struct stride *stride);

void stride_charge(struct stride *stride, struct stride_share *share, uint64_t ns);

/* Notes that other processes have computed for the job since `since_ns`. No other job has a turn until stride_charge().
 */
void stride_hold(struct stride_share *share, uint64_t since_ns);

void stride_end(struct stride_share *share);

void stride_pass(struct stride_share *share);

void stride_check(const struct stride *stride);
