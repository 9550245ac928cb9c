/* SPDX-License-Identifier: MIT */
/* What the runtime of real ranks does beside exchanging messages, and simulated ones need not do: they ring no
 * doorbells, as who waits does so in MPI, and nobody has to find out who has died: see loss.c. */
#include "common/mpi/detect.h"
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

void doorbell_fence(struct doorbell *doorbell, unsigned rank)
{
    (void)doorbell, (void)rank;
}

bool doorbell_claim_report(struct doorbell *doorbell, unsigned rank)
{
    (void)doorbell, (void)rank;
    return true;
}

void detect_end(struct runtime *runtime, unsigned rank)
{
    peers_move(&runtime->peers, rank, PEER_DIES);
}

/* Whose end a rank learns of is said by the configuration: see loss.c. */
int detect_begin(struct runtime *runtime)
{
    if (peers_init(&runtime->peers, runtime->ranks) < 0)
        return -1;
    for (unsigned i = 0; i < runtime->ranks; i++)
        if (i != runtime->rank)
            detect_watch(runtime, i);
    return 0;
}

void detect_watch(struct runtime *runtime, unsigned rank)
{
    peers_move(&runtime->peers, rank, PEER_WATCH);
}
