/* SPDX-License-Identifier: MIT */
/* An index over the workers of a service: it finds the next worker to ask, to serve or to give up, in O(log W) steps.
 * See index.c. */
#pragma once

#include "common/service/rope.h"

#include <stdbool.h>
#include <stdint.h>

/* Bounds for a group of workers. A worker is *askable* if it may be asked to return work. */
struct holding {
    unsigned askable;
    bool verifies;
    /* Over the askable workers whose time for an iteration is known: when the last of them will have finished its work,
     * and the largest lower bound of the time that a worker needs; -1 if there is no such worker. */
    double own_end_ns;
    double own_least_ns;
    /* Over the askable workers whose time for an iteration is unknown: the most iterations that a worker holds, and the
     * latest time at which a worker began; -1 if there is no such worker. */
    double iterations;
    double began_ns;
    /* The earliest time at which one of the following workers was last heard; NEVER if the group has no such worker. */
    uint64_t answer_ns;    /* workers that owe an answer to a RECALL */
    uint64_t unrevoked_ns; /* workers that owe an answer and from which no STEAL was tried */
    uint64_t heard_ns;     /* workers that hold chunks and are not askable */
    uint64_t asked_ns;     /* workers that hold chunks and whose answer to a RECALL is late */
    uint64_t lease_ns;     /* when the first lease of a worker that is not askable ends; NEVER: there is no lease */
    double slowest_probe_s;
};

struct work_done {
    uint64_t compute_ns, iterations;
};

struct service_index {
    bool is_on;
    unsigned leaves;      /* a power of two; 0: there is no tree */
    struct holding *tree; /* [2 * leaves] the root is 1, the children of i are 2 i and 2 i + 1; owned */
    /* [leaves] what each worker has computed so far; `iterations` and `compute_ns` below are the sums; owned. */
    struct work_done *work;
    unsigned *stale; /* [stale_count] workers whose leaf must be updated; room for [leaves]; owned */
    unsigned stale_count;
    unsigned steps_of_plenty;
    uint64_t iterations;
    __extension__ unsigned __int128 compute_ns;
    struct rope line; /* the waiting workers; while the index is on, it replaces the ring of struct service_line */
};
