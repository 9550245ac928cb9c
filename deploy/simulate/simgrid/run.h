/* SPDX-License-Identifier: MIT */
/* A run on SimGrid's simulated MPI (SMPI): input and output of its ranks.
 *
 * All ranks are in one process without globals of their own: this structure is shared, and read-only for them unless
 * stated otherwise. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Senders of control messages not yet taken, written by them: message n is from from[n % capacity]. */
struct inbox {
    uint32_t *from; /* [capacity] owned */
    size_t capacity;
    uint64_t sent;
    uint64_t taken; /* all messages before this one are taken, and perhaps later ones */
};

/* Written by each rank about itself. */
struct standing {
    const void *host; /* SimGrid host */
    bool has_left;    /* in order */
};

struct simulated_run {
    const struct virtual_config *config; /* see struct simgrid_config */
    const struct topology *topology;
    struct hello *hellos; /* [ranks] */
    const double *speeds; /* [workers] replacing measurements; NULL: measured */
    const struct costs *costs;
    const struct perturbations *perturbations;
    const unsigned char *results; /* results of one part, never written to; NULL: none */
    unsigned char *boundary;      /* data of one boundary, shared by all, content unused */
    double flops_per_ns;          /* of a core of speed 1 */
    const char *folder;
    void (*begun)(void *context); /* called by the first rank after SimGrid has read its files */
    void *context;
    struct inbox *inboxes;           /* [ranks] */
    struct standing *standings;      /* [ranks] */
    struct supermaster *supermaster; /* must outlive the run */
    bool supermaster_is_there;       /* the machine exists and must be freed */
    bool is_over;                    /* the supermaster has left in order */
    int status;
    uint64_t events;
    double *busy_ns; /* [1 + masters] busy time of supermaster and masters, from the first assignment on */
    uint64_t end_ns; /* end of the last rank */
    bool is_broken;  /* an error was printed */
};

/* Entry of a daemon's module: runs the rank until it leaves. */
typedef void simulated_rank_function(struct simulated_run *run, unsigned rank);
#define SIMULATED_RANK_NAME "simulated_rank"

/* Module that SMPI loads for each rank, and its function that receives the run. */
#define SIMULATED_LAUNCHER "hdss-simulated-rank.so"
typedef void simulated_set_run_function(struct simulated_run *run);
#define SIMULATED_SET_RUN_NAME "simulated_set_run"
