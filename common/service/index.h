/* SPDX-License-Identifier: MIT */
/* An index over the workers of a service: it finds in O(log W) steps the one that is to be asked, served or given up
 * next. See index.c. It is switched on by the first search, so that a run without searches does not pay for it. */
#pragma once

#include "common/service/rope.h"

#include <stdbool.h>
#include <stdint.h>

/* Bounds of what some workers hold: no worker among them goes beyond. */
struct holding {
    unsigned askable;    /* workers that may be asked for work */
    bool verifies;       /* some compute what others have computed */
    double own_end_ns;   /* askable, time of an iteration known: latest end of the work that each has, and the most */
    double own_least_ns; /* that is to be expected of each at least; -1: there is none */
    double iterations;   /* askable, time unknown: most iterations, and the latest beginning; -1: there is none */
    double began_ns;
    uint64_t answer_ns;     /* when the one whose answer is waited for was heard, the earliest; NEVER: there is none */
    uint64_t unrevoked_ns;  /* likewise, of those that may have asked ahead for something */
    uint64_t heard_ns;      /* not askable: when the one that is silent for longest was heard; NEVER: there is none */
    uint64_t asked_ns;      /* likewise, of those that were asked and are late */
    uint64_t lease_ns;      /* not askable: no lease ends earlier; NEVER: there is none */
    double slowest_probe_s; /* longest time of a probe iteration */
};

/* Time and iterations of all chunks of a worker. */
struct work_done {
    uint64_t compute_ns, iterations;
};

struct service_index {
    bool is_on;
    unsigned speaker;       /* the worker that sent the latest message: the step may change what it holds */
    unsigned leaves;        /* a power of two; 0: there is no tree */
    struct holding *tree;   /* [2 * leaves] the root at 1, below i those at 2 i and 2 i + 1; owned */
    struct work_done *work; /* [leaves] of each worker, what the sums have of it; owned */
    unsigned *stale;        /* [leaves], stale_count of them: workers that have changed; owned */
    unsigned stale_count;
    unsigned steps_of_plenty; /* steps since it is on in which chunks came from elsewhere */
    uint64_t iterations;      /* sums over all workers */
    __extension__ unsigned __int128 compute_ns;
    struct rope line; /* those who wait, in the place of the ring */
};
