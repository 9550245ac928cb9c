/* SPDX-License-Identifier: MIT */
/* State and figures of a rank of a job at one moment, as known by the supermaster. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Unknown rank or node. */
#define RANK_NONE UINT32_MAX

enum rank_state {
    RANK_NOT_TOLD, /* a worker whose master does not report it */
    RANK_SERVES,   /* a master */
    RANK_COMPUTES,
    RANK_WAITS, /* has nothing to compute */
    RANK_ASIDE, /* the same because its node is excluded */
    RANK_ORPHAN,
    RANK_LOST,
    RANK_LEFT,
};

struct rank_figures {
    unsigned rank;
    bool is_master;
    enum rank_state state;
    unsigned node;    /* of a worker; RANK_NONE: unknown */
    const char *host; /* of the node; NULL: unknown; borrowed */
    unsigned master;  /* of a worker; RANK_NONE: none */
    /* masters only */
    unsigned workers, busy; /* assigned workers, and those computing at the last report */
    /* workers only */
    bool has_counts;          /* the following are known, `done` for masters as well */
    uint64_t done, chunks;    /* iterations with stored results; computed chunks */
    double compute_s, wait_s; /* in the kernel, and idle, for computed chunks */
    double power;             /* virtual power; 0: unknown */
    double load;              /* processes per core including itself; 0: unknown */
    bool has_chunk;           /* the running chunk is known */
    uint64_t first, count;
    uint64_t left;       /* iterations without results */
    double since_s;      /* time since its start */
    const char *command; /* of a task; NULL: none, or unknown; borrowed */
};
