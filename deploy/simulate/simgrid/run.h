/* SPDX-License-Identifier: MIT */
/* A run on SimGrid's simulated MPI (SMPI): what its ranks are given, and what comes of it.
 *
 * All ranks are in one process, with no globals of their own: this is shared, and not written to by any of them but
 * where it says so. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The senders of the control messages that a rank has not taken, in the order of sending: that of the n-th of all is at
 * from[n % capacity]. Senders write to it. */
struct inbox {
    uint32_t *from; /* [capacity] owned */
    size_t capacity;
    uint64_t sent;
    uint64_t taken; /* all messages up to this one are taken, and maybe some behind */
};

/* A rank's word of itself. */
struct standing {
    const void *host; /* SimGrid's host of the rank */
    bool has_left;    /* the rank has left in order */
};

struct simulated_run {
    /* --- given to the ranks; borrowed --- */
    const struct virtual_config *config; /* see struct simgrid_config */
    const struct topology *topology;
    struct hello *hellos; /* [ranks] */
    const double *speeds; /* [workers] as if they were measured; NULL: they are measured */
    const struct costs *costs;
    const struct perturbations *perturbations;
    const unsigned char *results; /* imagined results of one part, which nobody writes to; NULL: none */
    unsigned char *boundary;      /* data of one boundary, which all send and receive, and nobody looks at */
    double flops_per_ns;          /* speed 1 of a core */
    const char *folder;           /* with the modules */
    void (*begun)(void *context); /* called by the first rank: SimGrid has read its files */
    void *context;
    /* --- the ranks among themselves --- */
    struct inbox *inboxes;      /* [ranks] */
    struct standing *standings; /* [ranks] */
    /* --- the result: by the supermaster --- */
    struct supermaster *supermaster; /* machine, to be there behind the run */
    bool supermaster_is_there;       /* the machine is made, and to be released */
    bool is_over;                    /* the supermaster has left in order */
    int status;
    /* --- the result: by the rank that it is about --- */
    uint64_t events;
    double *busy_ns; /* [1 + masters] busy time of the supermaster and the masters, from the first assignment on */
    uint64_t end_ns; /* when the last rank has left */
    bool is_broken;  /* a line was said */
};

/* The entry of a daemon's module: runs the rank, and returns when it has left. */
typedef void simulated_rank_function(struct simulated_run *run, unsigned rank);
#define SIMULATED_RANK_NAME "simulated_rank"

/* The module that SMPI loads and starts once for each rank, and where it is told the run before that. */
#define SIMULATED_LAUNCHER "hdss-simulated-rank.so"
typedef void simulated_set_run_function(struct simulated_run *run);
#define SIMULATED_SET_RUN_NAME "simulated_set_run"
