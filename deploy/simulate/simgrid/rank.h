/* SPDX-License-Identifier: MIT */
/* A rank of a simulated run: the runtime of real ranks (common/mpi: driver.h and net.c) drives its machine over
 * simulated MPI. What differs is here: the clock is SimGrid's, a rank that has nothing to do waits in MPI, and what the
 * daemons do beside computing takes the time that the platform says. */
#pragma once

#include "common/machine/machine.h"
#include "common/mpi/net.h"
#include "common/mpi/ops.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "common/mpi/wait.h"
#include "common/util/error.h"
#include "deploy/simulate/simgrid/run.h"
#include "deploy/simulate/virtual/perturb.h"

struct simulated_rank {
    struct simulated_run *run;
    unsigned rank;
    struct machine machine; /* the one that is driven */
    struct mailbox *mailbox;
    double owed_ns;      /* time that its work takes and has not taken yet, on a core of speed 1 */
    uint64_t owed_at_ns; /* time since which the work is owed */
    bool computed;       /* the rank has computed, and not looked at its messages since */
    uint64_t ends_ns;    /* when the rank fails; NEVER */
    uint64_t look_ns;    /* when the rank has to look up from waiting, as a step is about to end; NEVER */
    bool has_failed;     /* at ends_ns */
    bool is_gone;        /* does nothing any more: it has failed, or the supermaster is not there */
    unsigned notices;    /* failures of others that it has learned of, in the order of their times */
};

/* The status of a rank that has failed, as in struct virtual_result. */
#define SIMULATED_FAILED (-2)

/* Drives the machine to its end; returns its status. The rank has called MPI_Init. */
int simulated_drive(struct simulated_run *run, unsigned rank, const struct machine *machine,
                    const struct effects *effects);

/* The same for a server's machine, beside that of a worker where the rank does both. */
int simulated_drive_beside(struct simulated_run *run, unsigned rank, const struct machine *server,
                           const struct effects *effects);

/* The surroundings of a simulated rank: see common/mpi/ops.h. */
extern const struct runtime_ops simulated_ops;

/* SimGrid's clock, in ns. */
uint64_t simulated_now(void);
/* Cutting or assigning a chunk takes so long on a core of speed 1. */
void simulated_delay(struct runtime *runtime, uint64_t ns);

/* The rank that this is. */
struct simulated_rank *simulated_self(void);

/* The speed of this rank's core, in flops a nanosecond. */
double simulated_speed(void);

/* Time that the core of this rank takes from now on for what takes `ns` on a core of speed 1. */
double simulated_core_ns(const struct simulated_rank *self, double ns);

/* Lets the core of this rank be busy for so long, or until the rank fails. */
void simulated_execute(struct simulated_rank *self, double core_ns);
/* Lets it be busy for what takes so long on a core of speed 1, behind what is owed. */
void simulated_work(struct simulated_rank *self, double ns);
/* The effect of storing imagined results: it takes its time. */
int simulated_store(void *context, const struct part *part, const void *data, uint64_t bytes, struct error *error);

/* Notes that handling messages takes so long on a core of speed 1. */
void simulated_note_busy(struct simulated_rank *self, double ns);
/* Takes the owed time as passed: it was spent together with something else. */
void simulated_clear(struct simulated_rank *self);

/* --- loss.c --- */

/* True where somebody fails in this run. */
static inline bool simulated_may_fail(const struct simulated_run *run)
{
    return run->perturbations->ends_ns != NULL;
}

/* The rank begins. */
void simulated_come(struct simulated_rank *self);
/* True where a message that the rank sends now arrives, as it has not failed by then. */
bool simulated_reaches(const struct simulated_rank *self, unsigned to);
/* Notes that the rank has failed, or that the supermaster has left without it, when that is so. */
void simulated_note_end(struct simulated_rank *self);
/* The time at which the rank has to look up next, as it fails, or another has failed, or its computation is over;
 * NEVER. */
uint64_t simulated_next_look(const struct simulated_rank *self);
/* The rank has nothing more to do. Where somebody fails it stays until all others have nothing, either: messages may
 * still be sent to it. */
void simulated_leave(struct simulated_rank *self);

/* Reports a failure that the rank learns of to its table of peers; the next one when it is called again. */
void simulated_look_at_peers(struct runtime *runtime, uint64_t now_ns);

/* --- mailbox.c --- */

/* NULL when memory is out. */
struct mailbox *mailbox_new(struct simulated_run *run, unsigned rank);
void mailbox_free(struct mailbox *mailbox);
/* Has a rank that waits stop to do so. */
void mailbox_wake(unsigned rank);

/* See struct runtime_ops. */
void mailbox_start_receive(struct net *net, unsigned receive);
bool mailbox_announce(struct net *net, unsigned to, size_t bytes);
bool mailbox_find(struct net *net, struct carrier_status *status);
bool mailbox_idle(struct wait *wait, struct runtime *runtime, uint64_t now_ns, uint64_t until_ns, bool pending,
                  bool (*poll)(void *context), void *context);
