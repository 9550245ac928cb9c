/* SPDX-License-Identifier: MIT */
/* Failing ranks, and the detection of their failures.
 *
 * Actors are not killed, because SMPI ends the run if a message goes to a missing actor. Instead, a failed rank stops
 * computing, sending and receiving at once, and waits for the end of the run. Its messages that would arrive more than
 * `last_ns` after the failure are not sent. The ranks that watch the failed rank are notified as in virtual time: at
 * the time at which missing heartbeats would show the failure. */
#include "deploy/simulate/simgrid/rank.h"

#include "common/carrier/words.h"
#include "common/machine/topology.h"
#include "common/mpi/peers.h"
#include "deploy/simulate/virtual/cluster.h"

#include <simgrid/host.h>

void simulated_come(struct simulated_rank *self)
{
    struct simulated_run *run = self->run;
    self->ends_ns = simulated_may_fail(run) ? run->perturbations->ends_ns[self->rank] : NEVER;
    run->standings[self->rank].host = sg_host_self();
}

bool simulated_reaches(const struct simulated_rank *self, unsigned to)
{
    const struct standing *standings = self->run->standings;
    if (self->is_gone || self->ends_ns == NEVER)
        return !self->is_gone;
    double latency_s = sg_host_get_route_latency(standings[self->rank].host, standings[to].host);
    return (double)simulated_now() + latency_s * 1e9 <= (double)(self->ends_ns + self->run->config->last_ns);
}

void simulated_note_end(struct simulated_rank *self)
{
    const struct simulated_run *run = self->run;
    if (self->is_gone || !simulated_may_fail(run))
        return;
    self->has_failed = self->ends_ns <= simulated_now();
    self->is_gone = self->has_failed || run->standings[run->topology->supermaster].has_left;
}

static const struct notice *next_notice(const struct simulated_rank *self)
{
    const struct perturbations *perturbations = self->run->perturbations;
    if (!simulated_may_fail(self->run))
        return NULL;
    unsigned next = perturbations->first_notice[self->rank] + self->notices;
    return next < perturbations->first_notice[self->rank + 1] ? &perturbations->notices[next] : NULL;
}

uint64_t simulated_next_look(const struct simulated_rank *self)
{
    const struct notice *notice = next_notice(self);
    uint64_t next_ns = self->look_ns < self->ends_ns ? self->look_ns : self->ends_ns;
    return notice != NULL && notice->at_ns < next_ns ? notice->at_ns : next_ns;
}

/* Takes the notices of failed ranks that are due. For dead processes, common/mpi/detect.c does the same. If the
 * supermaster has failed, this rank ends. */
void simulated_look_at_peers(struct runtime *runtime, uint64_t now_ns)
{
    struct simulated_rank *self = simulated_self();
    const struct notice *notice;
    (void)now_ns;
    while (!self->is_gone && (notice = next_notice(self)) != NULL && notice->at_ns <= simulated_now()) {
        self->notices++;
        if (self->run->standings[notice->lost].has_left)
            continue;
        if (notice->lost == self->run->topology->supermaster)
            self->is_gone = true;
        else {
            peers_move(&runtime->peers, notice->lost, PEER_DIES);
            return;
        }
    }
}

/* Wakes all ranks after the supermaster has left. Otherwise ranks that wait for a message of the supermaster would wait
 * forever. */
static void wake_others(const struct simulated_run *run)
{
    for (unsigned rank = 0; rank < run->topology->ranks; rank++)
        if (!run->standings[rank].has_left)
            mailbox_wake(rank);
}

void simulated_leave(struct simulated_rank *self)
{
    struct simulated_run *run = self->run;
    run->end_ns = simulated_now();
    run->standings[self->rank].has_left = !self->is_gone;
    if (!simulated_may_fail(run))
        return;
    if (self->rank == run->topology->supermaster && !self->has_failed)
        wake_others(run);
    carrier->barrier(carrier_word_of_comm(MPI_COMM_WORLD));
}
