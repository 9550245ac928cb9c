/* SPDX-License-Identifier: MIT */
/* What the supermaster knows of a rank of a job at one moment. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define RANK_NONE UINT32_MAX

enum rank_state {
    RANK_NOT_TOLD,
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
    unsigned node;          /* RANK_NONE: unknown */
    const char *host;       /* name of the node, borrowed; NULL: unknown */
    unsigned master;        /* master of a worker; RANK_NONE: it has none */
    unsigned workers, busy; /* of a master: its workers, and how many of them computed at its last report */
    /* This and the members below are for workers; only `done` may also be known of a master. `has_counts`: `done` to
     * `wait_s` are known. */
    bool has_counts;
    uint64_t done, chunks;    /* iterations with stored results, and computed chunks */
    double compute_s, wait_s; /* time in the kernel and idle time, both for the computed chunks */
    double power;
    double load; /* processes per core, including the worker; 0: unknown */
    bool has_chunk;
    uint64_t first, count;
    uint64_t left;
    double since_s;
    const char *command; /* command of the running task, borrowed; NULL: none, or unknown */
};
