/* SPDX-License-Identifier: MIT */
/* --dca rma, simulated: the counters are in a window of rank 0. An access takes a message's way there and back, but on
 * the node of rank 0, where it is an atomic operation in memory; the window does one after the other, each in
 * ATOMIC_NS; no core is busy with it.
 *
 * A delayed assignment passes under a ticket lock: a ticket is drawn, whoever has it reads whose turn it is until it is
 * his own, accesses the counter, lets the delay pass and says so. Each of these is an access of its own. Who waits is
 * taken to disturb nobody. */
#include "deploy/simulate/flat_run.h"

#include <math.h>

/* MPI_Fetch_and_op on an allocated window, within a node of an AMD EPYC (tests/bench/RESULTS.md: 79 to 99). */
#define ATOMIC_NS    93
#define ACCESS_BYTES 16 /* what is added, what was there */

int flat_window_open(struct flat_run *run, struct error *error)
{
    const unsigned *node_of = run->simulation->placement.node_of;
    (void)error;
    for (unsigned w = 0; w < run->simulation->workers; w++)
        run->hands[w].way_ns = node_of[w] == node_of[0] ? 0 : flat_latency_ns(run, w);
    return 0;
}

void flat_window_ask(struct flat_run *run, unsigned w, double at_ns)
{
    flat_push(run, at_ns + run->hands[w].way_ns, w, FLAT_ARRIVES);
}

/* When the next access is through that is at the window at `at_ns`. */
static double through_ns(struct flat_run *run, double at_ns)
{
    run->messages++;
    run->bytes += ACCESS_BYTES;
    run->free_ns = (at_ns > run->free_ns ? at_ns : run->free_ns) + ATOMIC_NS;
    return run->free_ns;
}

/* The ticket is drawn at `at_ns`. When the worker is through with all of it. */
static double take_turn_ns(struct flat_run *run, unsigned w, double at_ns)
{
    const double way_ns = run->hands[w].way_ns, round_ns = 2 * way_ns + ATOMIC_NS;
    double read_ns = at_ns + round_ns;
    if (read_ns < run->locked_ns)
        read_ns += ceil((run->locked_ns - read_ns) / round_ns) * round_ns;
    run->messages += 3;
    run->bytes += 3 * ACCESS_BYTES;
    run->locked_ns = read_ns + round_ns + way_ns + flat_on_core(run, w, run->assignment_ns) + way_ns + ATOMIC_NS;
    return run->locked_ns + way_ns;
}

void flat_window_arrive(struct flat_run *run, unsigned w, double at_ns)
{
    double through = through_ns(run, at_ns);
    double back_ns = flat_is_late(run, w) ? take_turn_ns(run, w, through) : through + run->hands[w].way_ns;
    flat_answered(run, w, flat_access(run, w), back_ns);
}

const struct flat_transport flat_by_window = {
    .topology = REPORT_DCA_RMA,
    .open = flat_window_open,
    .begin = flat_begin_access,
    .ask = flat_window_ask,
    .arrive = flat_window_arrive,
    .drawn = flat_compute,
};
