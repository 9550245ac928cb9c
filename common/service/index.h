/* SPDX-License-Identifier: MIT */
/* An index over the W workers of a service. It finds three kinds of workers in O(log W) steps: the worker that is asked
 * next to return work, the worker that is served next, and the worker with the chunk that is overdue longest. See
 * index.c. */
#pragma once

#include "common/service/rope.h"

#include <stdbool.h>
#include <stdint.h>

/* Bounds for a group of workers. A worker is *askable* if it may be asked to return work. */
struct holding {
    unsigned askable;
    bool verifies;
    /* Bounds over the askable workers whose time for an iteration is known; -1 if the group has no such worker.
     * `own_end_ns`: the latest time at which one of them will probably have finished its work. `own_least_ns`: each of
     * them still needs a certain minimum of time; the largest of these minima. */
    double own_end_ns;
    double own_least_ns;
    /* Bounds over the askable workers whose time for an iteration is unknown; -1 if the group has no such worker.
     * `iterations`: the most iterations that one of them holds. `began_ns`: the latest time at which one of them began
     * its work. */
    double iterations;
    double began_ns;
    /* The earliest time at which a worker was last heard. Each member covers the workers that its comment names; NEVER
     * if the group has no such worker. */
    uint64_t answer_ns;    /* workers that owe an answer to a RECALL */
    uint64_t unrevoked_ns; /* workers that owe an answer to a RECALL, and no STEAL was tried on them */
    uint64_t heard_ns;     /* workers that hold chunks, are not askable, and owe no answer to a RECALL */
    uint64_t asked_ns;     /* workers that hold chunks and owe an answer to a RECALL */
    /* earliest end of a lease, over the chunks of workers that are not askable; NEVER if there is no such chunk */
    uint64_t lease_ns;
    double slowest_probe_s;
};

struct work_done {
    uint64_t compute_ns, iterations;
};

struct service_index {
    bool is_on;
    unsigned leaves;      /* a power of two, not less than the number of workers; 0: there is no tree */
    struct holding *tree; /* [2 * leaves] the root is node 1, the children of node i are 2 i and 2 i + 1; owned */
    /* [leaves] what each worker has computed so far; owned. The members `iterations` and `compute_ns` below are the
     * sums over all workers. */
    struct work_done *work;
    unsigned *stale; /* [stale_count] workers whose leaf must be updated; allocated for [leaves]; owned */
    unsigned stale_count;
    unsigned steps_of_plenty;
    uint64_t iterations;
    __extension__ unsigned __int128 compute_ns;
    /* the queue of waiting workers while the index is on; while it is off, the queue is the ring of struct service_line
     */
    struct rope line;
};
