/* SPDX-License-Identifier: MIT */
/* Stride scheduling: which of several jobs computes next on one rank, a turn at a time. Pure: times come in, and
 * nothing is computed here.
 *
 * Each job has a pass, the time that it has used over its weight, and the one with the least pass is next. A job that
 * had nothing to compute when its chance came goes on from where the others are: time that a job did not use is not
 * saved up. While a job has a chunk on this rank none of lower priority computes.
 *
 * A job that computes has the core until it has nothing to compute, or until another one that has a chunk here has the
 * lesser pass and the time of the first is over, which is the same for all. So jobs do not take turns more often than
 * that, however short what they compute at once is, and none keeps the core for longer than its weight is worth.
 *
 *     stride_begin()                      a turn begins: every job may have its chance
 *     job = stride_next()                 the job that may compute; NULL: the turn is over
 *     stride_charge(), stride_hold() or   it has computed; others compute for it, and no other job may;
 *     stride_pass()                       it had nothing to compute, and the next one has its chance */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Units of a pass in a nanosecond. */
#define STRIDE_PASS_SCALE 1024u

/* The share of one job in the time of a rank. */
struct stride_share {
    struct stride_share *next; /* in the order in which they were admitted */
    uint64_t pass;             /* time used, over the weight */
    uint64_t floor;            /* where a job of this priority begins that had nothing to compute */
    uint64_t used_ns;
    uint64_t held_since_ns; /* another process has computed for it since then; 0: none does */
    unsigned weight;        /* at least 1 */
    int priority;
    unsigned round; /* the latest turn in which it had its chance */
    bool has_chunk;
    bool was_idle; /* had nothing to compute when it had its latest chance */
    bool ends;     /* computes nothing any more */
};

/* No moment. */
#define STRIDE_NEVER UINT64_MAX

/* The jobs that share a rank. */
struct stride {
    struct stride_share *first; /* borrowed */
    unsigned round;             /* number of the turn */
    struct stride_share *owner; /* the job that has the core; NULL: none has it */
    uint64_t since_ns;          /* has had it since then */
    uint64_t keeps_ns;          /* keeps it for so long, where none of a higher priority wants it */
};

/* The core is the job's, whose chance it is. */
void stride_own(struct stride *stride, struct stride_share *share, uint64_t now_ns);

/* The core is nobody's. */
void stride_disown(struct stride *stride);

/* The moment from which on the owner is to leave the core to another job, as far as it is known; 0: at once. */
uint64_t stride_due_ns(const struct stride *stride);

/* Has a job take part. Its weight and priority are set. */
void stride_admit(struct stride *stride, struct stride_share *share);

/* The job does not compute any more; one that has left may leave again. */
void stride_leave(struct stride *stride, struct stride_share *share);

/* The job has a chunk from now on; has_chunk is reset where it has none any more. */
void stride_want(struct stride *stride, struct stride_share *share);

void stride_begin(struct stride *stride);

/* The job that computes next of those that have not had their chance in this turn; NULL: none is left. */
struct stride_share *stride_next(struct stride *stride);

/* The job, whose chance it was, has used so much time. */
void stride_charge(struct stride *stride, struct stride_share *share, uint64_t ns);

/* Others compute for the job, and no other job has its chance before they stop. */
void stride_hold(struct stride_share *share, uint64_t since_ns);

/* The job computes nothing any more, be it told to: it has no chance, and keeps none of the others from theirs. */
void stride_end(struct stride_share *share);

/* The job had nothing to compute. */
void stride_pass(struct stride_share *share);

/* Stops the program where an invariant does not hold. */
void stride_check(const struct stride *stride);
