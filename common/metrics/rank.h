/* SPDX-License-Identifier: MIT */
/* State and figures of a rank of a job at one moment, as known by the supermaster. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define RANK_NONE UINT32_MAX

enum rank_state {
    RANK_NOT_TOLD, /* a worker whose master does not report it */
    RANK_SERVES,
    RANK_COMPUTES,
    RANK_WAITS,
    RANK_ASIDE, /* the worker gets no work because its node is excluded */
    RANK_ORPHAN,
    RANK_LOST,
    RANK_LEFT,
};

struct rank_figures {
    unsigned rank;
    bool is_master;
    enum rank_state state;
    unsigned node;          /* node of a worker; RANK_NONE: unknown */
    const char *host;       /* name of the node, borrowed; NULL: unknown */
    unsigned master;        /* master of a worker; RANK_NONE: it has none */
    unsigned workers, busy; /* of a master: its workers, and how many of them computed at its last report */
    /* The members from here on are for workers; only `done` may also be known of a master. `has_counts`: `done` to
     * `wait_s` are known. */
    bool has_counts;
    uint64_t done, chunks;    /* number of iterations with stored results, and of computed chunks */
    double compute_s, wait_s; /* time in the kernel, and idle time, of the computed chunks */
    double power;
    double load; /* processes per core including itself; 0: unknown */
    bool has_chunk;
    uint64_t first, count;
    uint64_t left;
    double since_s;
    const char *command; /* command of the running task, borrowed; NULL: there is none, or it is unknown */
};
