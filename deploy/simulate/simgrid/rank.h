/* SPDX-License-Identifier: MIT */
/* A rank of a simulated run: the runtime of real ranks (common/mpi: driver.h and net.c) drives its machine over
 * simulated MPI, with three differences: the clock is SimGrid's, an idle rank waits in MPI, and the work of daemons
 * takes the platform's service times. */
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
    struct machine machine;
    struct mailbox *mailbox;
    double owed_ns;      /* work that has not been simulated yet, on a core of speed 1 */
    uint64_t owed_at_ns; /* time at which the owed work began */
    bool computed;       /* has computed and not checked messages since */
    uint64_t ends_ns;    /* failure of the rank; NEVER */
    uint64_t look_ns;    /* when the rank must stop waiting because a step is about to end; NEVER */
    bool has_failed;     /* at ends_ns */
    bool is_gone;        /* inactive: has failed, or lost the supermaster */
    unsigned notices;    /* number of failures it was notified of, in order of time */
};

/* Status of a failed rank, as in struct virtual_result. */
#define SIMULATED_FAILED (-2)

/* Drives the machine to its end and returns its status; after MPI_Init. */
int simulated_drive(struct simulated_run *run, unsigned rank, const struct machine *machine,
                    const struct effects *effects);

/* Like simulated_drive(), for the machine of a server that also computes, together with that of a worker. */
int simulated_drive_beside(struct simulated_run *run, unsigned rank, const struct machine *server,
                           const struct effects *effects);

/* See common/mpi/ops.h. */
extern const struct runtime_ops simulated_ops;

/* SimGrid's clock, in ns. */
uint64_t simulated_now(void);
/* Delay for cutting or assigning a chunk, on a core of speed 1. */
void simulated_delay(struct runtime *runtime, uint64_t ns);

struct simulated_rank *simulated_self(void);

/* Speed of this rank's core, in flops per ns. */
double simulated_speed(void);

/* Duration from now on of work that takes `ns` on a core of speed 1. */
double simulated_core_ns(const struct simulated_rank *self, double ns);

/* Keeps the core busy for this time, or until the rank fails. */
void simulated_execute(struct simulated_rank *self, double core_ns);
/* Keeps the core busy with work of `ns` on a core of speed 1, after the owed work. */
void simulated_work(struct simulated_rank *self, double ns);
/* Storing simulated results only takes time. */
int simulated_store(void *context, const struct part *part, const void *data, uint64_t bytes, struct error *error);

/* Records time for messages, on a core of speed 1. */
void simulated_note_busy(struct simulated_rank *self, double ns);
/* Discards the owed work: it was done in parallel. */
void simulated_clear(struct simulated_rank *self);

/* True if failures are configured. */
static inline bool simulated_may_fail(const struct simulated_run *run)
{
    return run->perturbations->ends_ns != NULL;
}

void simulated_come(struct simulated_rank *self);
/* True if a message sent now arrives before the rank fails. */
bool simulated_reaches(const struct simulated_rank *self, unsigned to);
/* Checks whether the rank has failed, or the supermaster has left without it. */
void simulated_note_end(struct simulated_rank *self);
/* Next time at which the rank must stop waiting: its failure, a notice, or the end of a computation; NEVER. */
uint64_t simulated_next_look(const struct simulated_rank *self);
/* End of the rank. If failures are configured it stays for messages until all others are finished. */
void simulated_leave(struct simulated_rank *self);

/* Reports one failure to the table of peers; called again for the next. */
void simulated_look_at_peers(struct runtime *runtime, uint64_t now_ns);

struct mailbox *mailbox_new(struct simulated_run *run, unsigned rank);
void mailbox_free(struct mailbox *mailbox);
/* Ends the waiting of a rank. */
void mailbox_wake(unsigned rank);

/* See struct runtime_ops. */
void mailbox_start_receive(struct net *net, unsigned receive);
bool mailbox_announce(struct net *net, unsigned to, size_t bytes);
bool mailbox_find(struct net *net, struct carrier_status *status);
bool mailbox_idle(struct wait *wait, struct runtime *runtime, uint64_t now_ns, uint64_t until_ns, bool pending,
                  bool (*poll)(void *context), void *context);
