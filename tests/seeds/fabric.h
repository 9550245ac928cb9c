/* SPDX-License-Identifier: MIT */
/* Several ranks over MPI in one process, under virtual time. Real is all of common/mpi that moves messages, tells of
 * lost ranks, waits and leaves: link, net, peers, detectors, doorbells, the tree at start and end. Played is what is
 * below: MPI (fabric_mpi.c), and the machine (fabric.c): clock, processes, sleep, sockets.
 *
 * Each rank is a coroutine. Whatever it asks MPI or the machine for is a step: time passes, another rank may go on, and
 * a fault may come. A run is made from its configuration and one number alone. */
#pragma once

#include "common/mpi/runtime.h"
#include "common/util/random.h"
#include "proto/message.h"

#include <stdbool.h>
#include <stdint.h>

#define FABRIC_RANKS 8

#define FABRIC_MS UINT64_C(1000000)
#define FABRIC_S  UINT64_C(1000000000)

struct fabric_config {
    unsigned ranks;
    struct hello hellos[FABRIC_RANKS]; /* roles, and the node of each, by its first rank */
    uint64_t far_min_ns, far_max_ns;   /* the way of a message between nodes; on a node it takes no time */
    uint64_t step_ns;                  /* time that a step takes */
    uint64_t ahead_ns;                 /* how far a rank may be ahead of the others */
    unsigned held_percent;             /* sends between nodes that wait in their sender for the connection */
    uint64_t held_max_ns;
    unsigned sends; /* see runtime_ops */
    bool has_ulfm;  /* MPI tells of failed ranks */
    bool is_blind;  /* a pid means another process to each rank */
    bool cores_are_free, launcher_is_stopped;
    bool trace;
    uint64_t limit_ns; /* all ranks have ended by then, or the run is wrong */
};

enum fabric_fault_kind {
    FABRIC_KILL,    /* the process */
    FABRIC_STOP,    /* SIGSTOP; SIGCONT after for_ns */
    FABRIC_SUSPEND, /* the machine, with all ranks of the node and their clocks, for for_ns */
    FABRIC_LOSE,    /* the machine, and what has left it and not arrived */
    FABRIC_HALT,    /* the launcher: it kills nobody any more, and ends no MPI_Finalize() */
};

struct fabric_fault {
    enum fabric_fault_kind kind;
    unsigned rank;
    uint64_t step; /* of the rank, from 1; 0: it comes at at_ns */
    uint64_t at_ns, for_ns;
};

/* The life of a rank so far. */
struct fabric_fate {
    bool is_over, was_killed;
    int status;
    uint64_t ended_ns;
    uint64_t stood_ns; /* all the time in which it was stopped or suspended */
};

/* Sets up a run. */
void fabric_begin(const struct fabric_config *config, uint64_t seed);
void fabric_add_fault(const struct fabric_fault *fault);

/* Has each rank run `life`, which calls fabric_runtime() and returns the status to exit with, until all have ended.
 * Returns NULL, or the first thing that was wrong. */
const char *fabric_run(int (*life)(unsigned rank));

/* In a rank: its runtime, with the ranks grouped; owned by runtime_leave(). */
struct runtime *fabric_runtime(void);

/* In a rank: it has begun. Where one ends before all have, `hdss run` ends the others. */
void fabric_note_begun(void);

/* In a rank: computes for so long, in which the thread beats that a rank on several nodes has. */
void fabric_compute(uint64_t ns);

/* Notes what is wrong, once. */
void fabric_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
void fabric_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The rank that runs, and the time of the world there. */
unsigned fabric_rank(void);
uint64_t fabric_now(void);

const struct fabric_fate *fabric_fate(unsigned rank);
bool fabric_is_near(unsigned a, unsigned b);
bool fabric_sees(unsigned a, unsigned b); /* its process, on its node */
enum role fabric_role(unsigned rank);
struct random *fabric_random(void);

/* What happened in all runs. */
struct fabric_tally {
    uint64_t messages, beats, data, kills, stands, switches, steps, aborts;
    uint64_t marked;  /* messages that arrived in the step in which a rank was found to have failed */
    uint64_t renewed; /* receives that failed with their sender */
};
extern struct fabric_tally fabric_tally;
