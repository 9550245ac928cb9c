/* SPDX-License-Identifier: MIT */
/* Start, end and clock of a simulated rank: see rank.h. */
#include "common/carrier/words.h"
#include "deploy/simulate/simgrid/rank.h"
#include "common/machine/topology.h"
#include "common/mpi/peers.h"
#include "deploy/simulate/simgrid/module.h"
#include "deploy/simulate/virtual/cluster.h"
#include "proto/message.h"
#include "supermaster/supermaster.h"

#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <smpi/smpi.h>
#include <stdio.h>

struct simulated_rank *simulated_self(void)
{
    return smpi_process_get_user_data();
}

uint64_t simulated_now(void)
{
    return (uint64_t)(simgrid_get_clock() * 1e9 + 0.5);
}

double simulated_speed(void)
{
    return sg_host_get_speed(sg_host_self()) * 1e-9;
}

double simulated_core_ns(const struct simulated_rank *self, double ns)
{
    double core_ns = ns * self->run->flops_per_ns / simulated_speed();
    return perturbed_ns(self->run->perturbations, self->rank, (double)simulated_now(), core_ns);
}

static double passed_ns(const struct simulated_rank *self)
{
    const struct perturbations *perturbations = self->run->perturbations;
    double core_ns = unperturbed_ns(perturbations, self->rank, (double)self->owed_at_ns, (double)simulated_now());
    return core_ns * simulated_speed() / self->run->flops_per_ns;
}

void simulated_execute(struct simulated_rank *self, double core_ns)
{
    double left_ns = self->ends_ns == NEVER ? core_ns : (double)self->ends_ns - (double)simulated_now();
    left_ns = left_ns < core_ns ? left_ns : core_ns;
    if (left_ns > 0)
        smpi_execute_flops(left_ns * simulated_speed());
    simulated_note_end(self);
}

void simulated_work(struct simulated_rank *self, double ns)
{
    double already_ns = passed_ns(self);
    if (self->owed_ns > already_ns)
        ns += self->owed_ns - already_ns;
    self->owed_ns = 0;
    simulated_execute(self, simulated_core_ns(self, ns));
}

void simulated_note_busy(struct simulated_rank *self, double ns)
{
    struct simulated_run *run = self->run;
    if (self->rank <= run->topology->masters && run->supermaster->cut.first_ns != NEVER)
        run->busy_ns[self->rank] += simulated_core_ns(self, ns);
}

void simulated_clear(struct simulated_rank *self)
{
    self->owed_ns = 0;
}

void simulated_give_up(struct simulated_run *run, unsigned rank, const char *text)
{
    if (!run->is_broken)
        fprintf(stderr, "hdss simulate: rank %u: %s\n", rank, text);
    run->is_broken = true;
    MPI_Abort(MPI_COMM_WORLD, EXIT_STATUS_FAILED);
}

void simulated_delay(struct runtime *runtime, uint64_t ns)
{
    struct simulated_rank *self = simulated_self();
    (void)runtime;
    simulated_note_busy(self, (double)ns);
    simulated_work(self, (double)ns);
}

int simulated_store(void *context, const struct part *part, const void *data, uint64_t bytes, struct error *error)
{
    struct simulated_rank *self = simulated_self();
    double ns = self->run->config->byte_ns * (double)bytes;
    (void)context, (void)part, (void)data, (void)error;
    simulated_note_busy(self, ns);
    simulated_work(self, ns);
    return 0;
}

/* Steps the machine of a rank. The rank is busy with the event before it sends the first message. It is busy with each
 * message before that message departs. If work remains after the last message, its time is added to that of the next
 * event. Otherwise a waiting rank would have to be woken for this work. */
static void simulated_step(void *self, const struct event *event, struct actions *actions)
{
    struct simulated_rank *rank = self;
    struct event now = *event;
    simulated_work(rank, 0);
    if (rank->is_gone) {
        actions_add(actions, &(struct action){.type = ACTION_EXIT, .exit = {.status = EXIT_STATUS_FAILED}});
        return;
    }
    now.now_ns = simulated_now();
    rank->owed_ns = (double)rank->run->config->service_ns;
    rank->owed_at_ns = now.now_ns;
    simulated_note_busy(rank, rank->owed_ns);
    rank->run->events++;
    rank->machine.step(rank->machine.self, &now, actions);
}

static uint64_t simulated_deadline(const void *self)
{
    const struct simulated_rank *rank = self;
    return rank->is_gone ? 0 : rank->machine.deadline(rank->machine.self);
}

static const char *simulated_state(const void *self)
{
    const struct simulated_rank *rank = self;
    return rank->machine.state(rank->machine.self);
}

int simulated_drive(struct simulated_run *run, unsigned rank, const struct machine *machine,
                    const struct effects *effects)
{
    struct simulated_rank self = {
        .run = run,
        .rank = rank,
        .machine = *machine,
        .mailbox = mailbox_new(run, rank),
        .look_ns = NEVER,
    };
    struct runtime runtime = {
        .ops = &simulated_ops,
        .rank = rank,
        .ranks = run->topology->ranks,
        .role = run->hellos[rank].role,
        .world = carrier_word_of_comm(MPI_COMM_WORLD),
        .hellos = run->hellos,
        .topology = *run->topology,
        .grouped = true,
        /* if ranks may fail, messages may be in transit at the end, and these must not be cancelled */
        .degraded = simulated_may_fail(run),
    };
    if (self.mailbox == NULL)
        simulated_give_up(run, rank, "out of memory");
    smpi_process_set_user_data(&self);
    simulated_come(&self);
    const struct machine timed = {&self, simulated_step, simulated_deadline, simulated_state};
    int status = runtime_drive(&runtime, &timed, effects, NULL);
    mailbox_free(self.mailbox);
    peers_fini(&runtime.peers);
    simulated_leave(&self);
    return self.has_failed ? SIMULATED_FAILED : status;
}
