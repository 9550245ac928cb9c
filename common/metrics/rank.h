/* SPDX-License-Identifier: MIT */
/* A rank of a job at one moment, as the supermaster knows it: what it is at, and what it has done. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Stands for a rank or a node that is not known. */
#define RANK_NONE UINT32_MAX

enum rank_state {
    RANK_NOT_TOLD, /* of a worker: its master knows, and does not tell */
    RANK_SERVES,   /* a master */
    RANK_COMPUTES,
    RANK_WAITS, /* has nothing to compute */
    RANK_ASIDE, /* likewise, as its node is put aside */
    RANK_ORPHAN,
    RANK_LOST,
    RANK_LEFT,
};

struct rank_figures {
    unsigned rank;
    bool is_master;
    enum rank_state state;
    unsigned node;    /* of a worker: number of its node; RANK_NONE: not known */
    const char *host; /* host name of the node; NULL: not known; borrowed */
    unsigned master;  /* of a worker: rank of its master; RANK_NONE: it has none */
    /* of a master */
    unsigned workers, busy; /* workers that it was given; those that compute, as it has told last */
    /* of a worker */
    bool has_counts;          /* what follows is known; of a master `done` is */
    uint64_t done, chunks;    /* iterations whose results are stored; chunks that are computed */
    double compute_s, wait_s; /* inside the kernel, and without anything to compute, as far as chunks are computed */
    double power;             /* virtual power; 0: not known */
    double load;              /* processes that compete for its core, itself included; 0: not known */
    bool has_chunk;           /* what it computes is known */
    uint64_t first, count;    /* the chunk */
    uint64_t left;            /* iterations of it of which there are no results */
    double since_s;           /* how long it has computed the chunk */
};
