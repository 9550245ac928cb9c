/* SPDX-License-Identifier: MIT */
/* An index over the workers of a service. In O(log W) steps it finds the worker that is to be asked, served or given up
 * next. See index.c. */
#pragma once

#include "common/service/rope.h"

#include <stdbool.h>
#include <stdint.h>

/* Bounds for a group of workers. A worker is *askable* if it may be asked to return work. */
struct holding {
    unsigned askable;
    bool verifies;
    /* Askable workers whose time for an iteration is known: latest end of the work of one, and largest lower bound of
     * that work; -1 if there is no such worker. */
    double own_end_ns;
    double own_least_ns;
    /* Askable workers whose time is unknown: most iterations, and latest beginning; -1 if there is no such worker. */
    double iterations;
    double began_ns;
    /* When a worker was last heard, the earliest of the group; NEVER if there is no such worker. */
    uint64_t answer_ns;    /* of workers that owe an answer to a RECALL */
    uint64_t unrevoked_ns; /* of those among them from which STEAL was not tried */
    uint64_t heard_ns;     /* of workers that hold chunks and are not askable */
    uint64_t asked_ns;     /* of those among them that were asked and are late */
    uint64_t lease_ns;     /* earliest end of a lease of a worker that is not askable; NEVER: there is none */
    double slowest_probe_s;
};

struct work_done {
    uint64_t compute_ns, iterations;
};

struct service_index {
    bool is_on;
    unsigned leaves;        /* a power of two; 0: there is no tree */
    struct holding *tree;   /* [2 * leaves] the root is 1, the children of i are 2 i and 2 i + 1; owned */
    struct work_done *work; /* [leaves] what each worker has computed in all chunks; `iterations` and `compute_ns` are
                               the sums; owned */
    unsigned *stale;        /* [leaves], of which stale_count are used: workers that have changed; owned */
    unsigned stale_count;
    unsigned steps_of_plenty;
    uint64_t iterations;
    __extension__ unsigned __int128 compute_ns;
    struct rope line; /* the workers that wait; replaces the ring while the index is on */
};
