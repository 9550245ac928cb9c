/* SPDX-License-Identifier: MIT */
/* What the runtime of real ranks does beside exchanging messages, and simulated ones need not do: they ring no
 * doorbells, as who waits does so in MPI, and nobody has to find out who has died: see loss.c. */
#include "deploy/simulate/simgrid/rank.h"

/* All ranks share this one, to which nobody writes. */
static struct bell bell;

int doorbell_init(struct doorbell *doorbell, struct runtime *runtime, struct error *error)
{
    (void)runtime, (void)error;
    *doorbell = (struct doorbell){.bells = &bell, .socket = -1};
    return 0;
}

void doorbell_ring(struct doorbell *doorbell, unsigned rank)
{
    (void)doorbell, (void)rank;
}

void doorbell_abandon(struct doorbell *doorbell)
{
    (void)doorbell;
}

bool doorbell_reaches(const struct doorbell *doorbell, unsigned rank)
{
    (void)doorbell, (void)rank;
    return true;
}

void doorbell_cast_out(struct doorbell *doorbell, unsigned rank)
{
    (void)doorbell, (void)rank;
}

bool doorbell_mourn(struct doorbell *doorbell, unsigned rank)
{
    (void)doorbell, (void)rank;
    return true;
}

int watch_peers(struct watch *watch, const struct runtime *runtime)
{
    (void)runtime;
    *watch = (struct watch){.set = -1};
    return 0;
}

void watch_begin(struct watch *watch, unsigned rank)
{
    (void)watch, (void)rank;
}

void watch_look(struct watch *watch)
{
    (void)watch;
}

void watch_ask(struct watch *watch, uint64_t now_ns)
{
    (void)watch, (void)now_ns;
}

int pulse_init(struct pulse *pulse, const struct runtime *runtime)
{
    (void)runtime;
    *pulse = (struct pulse){.peers = NULL};
    return 0;
}

void pulse_begin(struct pulse *pulse, unsigned rank)
{
    (void)pulse, (void)rank;
}

void pulse_look(struct pulse *pulse, uint64_t now_ns)
{
    (void)pulse, (void)now_ns;
}

void pulse_cast_out(struct pulse *pulse, unsigned rank)
{
    (void)pulse, (void)rank;
}

bool pulse_take(struct pulse *pulse, unsigned *rank)
{
    (void)pulse, (void)rank;
    return false;
}
