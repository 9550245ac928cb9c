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
    RANK_ASIDE, /* waits because its node is excluded */
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
    /* of masters: assigned workers, and those computing at the last report */
    unsigned workers, busy;
    bool has_counts; /* of workers, like all below: `done` to `wait_s` are known; `done` may be known of masters too */
    uint64_t done, chunks;    /* iterations with stored results; computed chunks */
    double compute_s, wait_s; /* in the kernel, and idle, for computed chunks */
    double power;
    double load; /* processes per core including itself; 0: unknown */
    bool has_chunk;
    uint64_t first, count;
    uint64_t left;
    double since_s;
    const char *command; /* of a task; NULL: none, or unknown; borrowed */
};
