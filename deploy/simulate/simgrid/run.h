/* SPDX-License-Identifier: MIT */
/* Input and output of the ranks of a run on SimGrid's simulated MPI (SMPI).
 *
 * All ranks are in one process and share the structures of this file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The senders of those control messages that a rank has not taken yet. from[n % capacity] is the sender of message n,
 * and is written by this sender. */
struct inbox {
    uint32_t *from;
    size_t capacity;
    uint64_t sent;
    uint64_t taken; /* all messages with a lower number were taken, and perhaps some with higher numbers */
};

struct standing {
    const void *host;
    bool has_left;
};

struct simulated_run {
    const struct virtual_config *config;
    const struct topology *topology;
    struct hello *hellos;
    const double *speeds;
    const struct costs *costs;
    const struct perturbations *perturbations;
    /* bytes that serve as the results of every part; read only; NULL: there are no results */
    const unsigned char *results;
    unsigned char *boundary;
    double flops_per_ns;
    const char *folder;
    /* The first rank calls this after SimGrid has read its files. From then on the files may be removed. */
    void (*begun)(void *context);
    void *context;
    struct inbox *inboxes;
    struct standing *standings;
    struct supermaster *supermaster;
    bool supermaster_is_there;
    bool is_over;
    int status;
    uint64_t events;
    double *busy_ns;
    uint64_t end_ns;
    bool is_broken;
};

typedef void simulated_rank_function(struct simulated_run *run, unsigned rank);
#define SIMULATED_RANK_NAME "simulated_rank"

/* File name of the module that SMPI starts for each rank. The function simulated_set_run() of this module stores the
 * run for the ranks. */
#define SIMULATED_LAUNCHER "hdss-simulated-rank.so"
typedef void simulated_set_run_function(struct simulated_run *run);
#define SIMULATED_SET_RUN_NAME "simulated_set_run"
