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
    unsigned node;    /* number of the node; RANK_NONE: unknown */
    const char *host; /* name of the node, borrowed; NULL: unknown */
    unsigned master;  /* master of a worker; RANK_NONE: no master */
    /* for a master: number of its workers, and how many of them were computing at its last report */
    unsigned workers, busy;
    /* This member and those below are for workers; for a master only `done` may be known. `has_counts` is true if
     * the members `done` to `wait_s` are known. */
    bool has_counts;
    uint64_t done, chunks;    /* number of iterations whose results are stored, and number of computed chunks */
    double compute_s, wait_s; /* for the computed chunks: time in the kernel, and idle time of the worker */
    double power;
    double load; /* number of processes per core, including the worker; 0: unknown */
    bool has_chunk;
    uint64_t first, count;
    uint64_t left;
    double since_s;
    const char *command; /* command of the running task; borrowed; NULL: there is none, or it is unknown */
};
