/* SPDX-License-Identifier: MIT */
/* An index over the W workers of a service. It finds three kinds of workers in O(log W) steps: the worker that is asked
 * next to return work, the worker that is served next, and the worker with the chunk that is overdue longest. See
 * index.c. */
#pragma once

#include "common/service/rope.h"

#include <stdbool.h>
#include <stdint.h>

/* Bounds for a group of workers. A worker is *askable* if the service may send it a RECALL. */
struct holding {
    unsigned askable;
    bool verifies;
    /* Bounds over the askable workers whose time for an iteration is known; -1 if the group has no such worker.
     * `own_end_ns`: the latest of the times at which these workers will probably have finished their work.
     * `own_least_ns`: for each of these workers there is a lower bound of the time that it still needs; this is the
     * largest of these bounds. */
    double own_end_ns;
    double own_least_ns;
    /* Bounds over the askable workers whose time for an iteration is unknown; -1 if the group has no such worker.
     * `iterations`: the largest number of iterations that one of these workers holds. `began_ns`: the latest time at
     * which one of these workers began its work. */
    double iterations;
    double began_ns;
    /* The next four members are minima of the times at which workers were last heard. Each covers the workers that its
     * comment names; NEVER if the group has no such worker. */
    uint64_t answer_ns;    /* workers that owe an answer to a RECALL */
    uint64_t unrevoked_ns; /* workers that owe an answer to a RECALL and on which no STEAL was tried */
    uint64_t heard_ns;     /* workers that hold chunks, are not askable, and owe no answer to a RECALL */
    uint64_t asked_ns;     /* workers that hold chunks and owe an answer to a RECALL */
    /* earliest time at which a lease ends, among the chunks of workers that are not askable; NEVER if there is no such
     * chunk */
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
    /* [leaves] what each worker has computed so far; owned. `iterations` and `compute_ns` below are the sums of these
     * numbers over all workers. */
    struct work_done *work;
    unsigned *stale; /* [stale_count] the workers whose leaves must be updated; has room for `leaves` entries; owned */
    unsigned stale_count;
    unsigned steps_of_plenty;
    uint64_t iterations;
    __extension__ unsigned __int128 compute_ns;
    /* the queue of waiting workers while there is an index; otherwise the queue is the ring of struct service_line */
    struct rope line;
};
