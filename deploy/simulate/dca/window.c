/* SPDX-License-Identifier: MIT */
/* --dca rma, simulated: the counters are in a window of rank 0. The window performs one access at a time. Each access
 * takes ATOMIC_NS, and no core is busy with it. An access also takes the latency of the link in both directions. On the
 * node of rank 0, an access is an atomic memory operation without latency.
 *
 * With --inject-delay for assignments, an assignment holds a ticket lock. The worker draws a ticket number, polls the
 * current number until it equals the ticket number, accesses the counter, waits for the delay, and increments the
 * current number. Each of these steps is a separate access. The model assumes that polling workers do not disturb
 * others. */
#include "deploy/simulate/dca/run.h"

#include <math.h>

/* MPI_Fetch_and_op on an allocated window within a node of AMD EPYC: 79 to 99 ns (tests/bench/RESULTS.md). */
#define ATOMIC_NS    93
#define ACCESS_BYTES 16

int dca_window_open(struct dca_run *run, struct error *error)
{
    const unsigned *node_of = run->simulation->placement.node_of;
    (void)error;
    for (unsigned w = 0; w < run->simulation->workers; w++)
        run->workers[w].way_ns = node_of[w] == node_of[0] ? 0 : dca_link(run, w)->latency_ns;
    return 0;
}

void dca_window_leave(struct dca_run *run, unsigned w, double at_ns)
{
    run->backend->ask(run, w, at_ns, ACCESS_BYTES);
}

static double window_through_ns(struct dca_run *run, double at_ns)
{
    run->messages++;
    run->bytes += ACCESS_BYTES;
    run->free_ns = (at_ns > run->free_ns ? at_ns : run->free_ns) + ATOMIC_NS;
    return run->free_ns;
}

static double window_turn_ns(struct dca_run *run, unsigned w, double at_ns)
{
    const double way_ns = run->workers[w].way_ns, round_ns = 2 * way_ns + ATOMIC_NS;
    double read_ns = at_ns + round_ns;
    if (read_ns < run->locked_ns)
        read_ns += ceil((run->locked_ns - read_ns) / round_ns) * round_ns;
    run->messages += 3;
    run->bytes += 3 * ACCESS_BYTES;
    double turn_ns = read_ns + round_ns + way_ns;
    run->locked_ns = turn_ns + dca_on_core_ns(run, w, turn_ns, run->assignment_ns) + way_ns + ATOMIC_NS;
    return run->locked_ns;
}

/* Returns the time at which a worker has read the records of all workers. The worker's own record is written at
 * `through_ns`. Reading does not delay other accesses. */
static double window_read_all_ns(struct dca_run *run, unsigned w, double through_ns)
{
    const struct platform_link *link = dca_link(run, w);
    const double bytes = dca_answer_bytes(run, w, 0);
    run->messages++;
    run->bytes += (uint64_t)(dca_asked_bytes(run, w, 0) + bytes) - ACCESS_BYTES;
    return through_ns + 2 * run->workers[w].way_ns + ATOMIC_NS +
           (link->bytes_per_ns > 0 ? bytes / link->bytes_per_ns : 0);
}

void dca_window_arrive(struct dca_run *run, unsigned w, double at_ns)
{
    double through = window_through_ns(run, at_ns);
    double over_ns = run->workers[w].access.type == DCA_ACTION_EXCHANGE ? window_read_all_ns(run, w, through)
                     : dca_is_late(run, w)                              ? window_turn_ns(run, w, through)
                                                                        : through;
    run->backend->reply(run, w, dca_access(run, w), over_ns, ACCESS_BYTES);
}

const struct dca_model dca_window = {
    .topology = REPORT_DCA_RMA,
    .open = dca_window_open,
    .leave = dca_window_leave,
    .arrive = dca_window_arrive,
};
