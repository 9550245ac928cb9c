/* SPDX-License-Identifier: MIT */
/* A rank of a simulated run. As in a real run, the runtime (common/mpi) drives the machine of the rank, but over
 * simulated MPI. There are three differences: the clock is SimGrid's, an idle rank waits in MPI, and daemons are busy
 * for the platform's service times. */
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
    /* work that is done, but for which no simulated time has passed yet; in ns on a core of speed 1 */
    double owed_ns;
    uint64_t owed_at_ns;
    bool computed;
    uint64_t ends_ns;
    uint64_t look_ns;
    bool has_failed;
    bool is_gone;
    unsigned notices;
};

#define SIMULATED_FAILED (-2)

int simulated_drive(struct simulated_run *run, unsigned rank, const struct machine *machine,
                    const struct effects *effects);

int simulated_drive_beside(struct simulated_run *run, unsigned rank, const struct machine *server,
                           const struct effects *effects);

extern const struct runtime_ops simulated_ops;

uint64_t simulated_now(void);
void simulated_delay(struct runtime *runtime, uint64_t ns);

struct simulated_rank *simulated_self(void);

double simulated_speed(void);

/* Returns how long this rank takes, from now on, for work of `ns` on a core of speed 1. */
double simulated_core_ns(const struct simulated_rank *self, double ns);

void simulated_execute(struct simulated_rank *self, double core_ns);
void simulated_work(struct simulated_rank *self, double ns);
int simulated_store(void *context, const struct part *part, const void *data, uint64_t bytes, struct error *error);

void simulated_note_busy(struct simulated_rank *self, double ns);
void simulated_clear(struct simulated_rank *self);

static inline bool simulated_may_fail(const struct simulated_run *run)
{
    return run->perturbations->ends_ns != NULL;
}

void simulated_come(struct simulated_rank *self);
bool simulated_reaches(const struct simulated_rank *self, unsigned to);
void simulated_note_end(struct simulated_rank *self);
/* Returns when the rank must stop waiting next: when it fails, gets a notice, or ends a step. Returns NEVER if there is
 * no such time. */
uint64_t simulated_next_look(const struct simulated_rank *self);
/* Ends the rank. If failures are configured, first waits until all other ranks end, so that their messages still have a
 * receiver. */
void simulated_leave(struct simulated_rank *self);

void simulated_look_at_peers(struct runtime *runtime, uint64_t now_ns);

struct mailbox *mailbox_new(struct simulated_run *run, unsigned rank);
void mailbox_free(struct mailbox *mailbox);
void mailbox_wake(unsigned rank);

void mailbox_start_receive(struct net *net, unsigned receive);
bool mailbox_announce(struct net *net, unsigned to, size_t bytes);
bool mailbox_find(struct net *net, struct carrier_status *status);
bool mailbox_idle(struct wait *wait, struct runtime *runtime, uint64_t now_ns, uint64_t until_ns, bool pending,
                  bool (*poll)(void *context), void *context);
