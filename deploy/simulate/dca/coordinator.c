/* SPDX-License-Identifier: MIT */
/* --dca two-sided, simulated: rank 0 keeps the counters. Rank 0 serves requests after each of its chunks. Within a
 * chunk it serves requests after every --break-after iterations or, without that option, about every BREAK_NS. The time
 * of serving is added to the time of the chunk. While rank 0 has no chunk, it serves a request at once.
 *
 * A request that arrives while rank 0 serves is put at the end of the queue. Rank 0 checks for requests at certain
 * times, but a check that would find nothing needs no event. Therefore the time of the next check is computed when a
 * request arrives. */
#include "common/config/rank_options.h"
#include "common/dca/machine.h"
#include "common/metrics/report.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "deploy/simulate/dca/run.h"
#include "deploy/simulate/virtual/breaks.h"

#include <stdlib.h>

/* For this time, the asking rank and rank 0 are each busy with a request and its answer, apart from receiving and
 * sending them. It is half of the difference between the 458 ns that an asking rank waits and the 310 ns of a bare
 * round trip (tests/bench/RESULTS.md, benchmark dca). */
#define EXCHANGE_NS  74
#define ASKING_BYTES 24
#define ANSWER_BYTES 8

struct coordinator {
    unsigned *asked;
    unsigned first, count;
    bool looks;
    bool computes;
    uint64_t done;
    double resumed_ns;
    uint64_t look_done;
    double served_ns;
};

static double coordinator_message_ns(const struct dca_run *run, unsigned w, double from_ns, double bytes)
{
    const struct platform_service *service = &run->simulation->platform.service;
    return dca_on_core_ns(run, w, from_ns, service->message_ns + service->byte_ns * bytes);
}

static int coordinator_open(struct dca_run *run, struct error *error)
{
    struct coordinator *own = calloc(1, sizeof *own);
    run->coordinator = own;
    if (own != NULL)
        own->asked = calloc(run->simulation->workers, sizeof *own->asked);
    if (own == NULL || own->asked == NULL)
        return error_set(error, "out of memory for the requests of %u workers", run->simulation->workers);
    for (unsigned w = 1; w < run->simulation->workers; w++)
        run->workers[w].way_ns = dca_link(run, w)->latency_ns;
    return 0;
}

static void coordinator_close(struct dca_run *run)
{
    struct coordinator *own = run->coordinator;
    if (own != NULL)
        free(own->asked);
    free(own);
}

static uint64_t coordinator_stride(const struct dca_run *run)
{
    const struct range *chunk = &run->workers[0].machine.chunk;
    double iteration_ns =
        dca_compute_ns(run, 0, run->coordinator->resumed_ns, 0, chunk->first, chunk->count) / (double)chunk->count;
    return break_stride(iteration_ns, run->simulation->dca_options.break_after);
}

static double coordinator_done_ns(const struct dca_run *run, uint64_t done)
{
    const struct coordinator *own = run->coordinator;
    const struct drawing_worker *worker = &run->workers[0];
    return own->resumed_ns + dca_compute_ns(run, 0, own->resumed_ns, worker->call_ns,
                                            worker->machine.chunk.first + own->done, done - own->done);
}

static uint64_t coordinator_find_break(const struct dca_run *run, double at_ns)
{
    const struct coordinator *own = run->coordinator;
    const uint64_t step = coordinator_stride(run), all = run->workers[0].machine.chunk.count;
    uint64_t below = 0, n = 1, most = (all - own->done + step - 1) / step;
    while (n < most && coordinator_done_ns(run, own->done + n * step) < at_ns) {
        below = n;
        n = n < most / 2 ? 2 * n : most;
    }
    while (n - below > 1) {
        uint64_t middle = below + (n - below) / 2;
        if (coordinator_done_ns(run, middle < most ? own->done + middle * step : all) < at_ns)
            below = middle;
        else
            n = middle;
    }
    return n < most ? own->done + n * step : all;
}

static void coordinator_plan_look(struct dca_run *run, double at_ns)
{
    struct coordinator *own = run->coordinator;
    double look_ns = at_ns > own->served_ns ? at_ns : own->served_ns;
    own->look_done = own->done;
    if (own->computes && at_ns > own->served_ns) {
        own->look_done = coordinator_find_break(run, at_ns);
        if (own->look_done == run->workers[0].machine.chunk.count)
            return;
        look_ns = coordinator_done_ns(run, own->look_done);
    }
    own->looks = true;
    dca_schedule(run, look_ns, 0, DRAWING_LOOKS);
}

static double coordinator_assign_ns(const struct dca_run *run, unsigned w, double from_ns)
{
    return dca_is_late(run, w) ? dca_on_core_ns(run, 0, from_ns, run->assignment_ns) : 0;
}

static double coordinator_received_ns(struct dca_run *run, unsigned w, double there_ns)
{
    return there_ns + coordinator_message_ns(run, w, there_ns, dca_answer_bytes(run, w, ANSWER_BYTES)) +
           dca_on_core_ns(run, w, there_ns, EXCHANGE_NS);
}

static double coordinator_serve(struct dca_run *run, double at_ns)
{
    struct coordinator *own = run->coordinator;
    for (; own->count > 0; own->count--) {
        unsigned w = own->asked[own->first];
        const double asked = dca_asked_bytes(run, w, ASKING_BYTES), answer = dca_answer_bytes(run, w, ANSWER_BYTES);
        own->first = (own->first + 1) % run->simulation->workers;
        at_ns += coordinator_message_ns(run, 0, at_ns, asked) + dca_on_core_ns(run, 0, at_ns, EXCHANGE_NS) +
                 coordinator_assign_ns(run, w, at_ns) + coordinator_message_ns(run, 0, at_ns, answer);
        run->messages += 2;
        run->bytes += (uint64_t)(asked + answer);
        run->backend->reply(run, w, dca_access(run, w), at_ns, answer);
    }
    own->served_ns = at_ns;
    return at_ns;
}

static void coordinator_look(struct dca_run *run, double at_ns)
{
    struct coordinator *own = run->coordinator;
    bool begins_later = own->resumed_ns > at_ns;
    own->looks = false;
    own->done = own->look_done;
    double served_ns = coordinator_serve(run, at_ns);
    own->resumed_ns = begins_later ? own->resumed_ns + (served_ns - at_ns) : served_ns;
}

/* Returns when worker `w` begins its next draw. If serving has delayed the end of rank 0's chunk, schedules
 * DRAWING_FINISHES again and returns 0. */
static double coordinator_finish(struct dca_run *run, unsigned w, double at_ns)
{
    struct coordinator *own = run->coordinator;
    if (w != 0)
        return at_ns;
    double over_ns = coordinator_done_ns(run, run->workers[0].machine.chunk.count);
    if (over_ns > at_ns) {
        dca_schedule(run, over_ns, 0, DRAWING_FINISHES);
        return 0;
    }
    own->computes = false;
    return coordinator_serve(run, at_ns);
}

static void coordinator_leave(struct dca_run *run, unsigned w, double at_ns)
{
    const double bytes = dca_asked_bytes(run, w, ASKING_BYTES);
    if (w == 0)
        dca_answer(run, 0, dca_access(run, 0), at_ns + coordinator_assign_ns(run, 0, at_ns));
    else
        run->backend->ask(run, w, at_ns + coordinator_message_ns(run, w, at_ns, bytes), bytes);
}

static void coordinator_arrive(struct dca_run *run, unsigned w, double at_ns)
{
    struct coordinator *own = run->coordinator;
    own->asked[(own->first + own->count++) % run->simulation->workers] = w;
    if (!own->looks)
        coordinator_plan_look(run, at_ns);
}

static void coordinator_drawn(struct dca_run *run, unsigned w, double at_ns)
{
    struct coordinator *own = run->coordinator;
    if (w != 0)
        return;
    own->computes = run->workers[0].machine.state == DCA_COMPUTING;
    own->done = 0;
    own->resumed_ns = at_ns;
    if (own->looks && own->computes)
        own->look_done = run->look_ns > at_ns ? coordinator_find_break(run, run->look_ns) : 0;
    if (!own->computes)
        own->served_ns = at_ns;
}

const struct dca_model dca_coordinator = {
    .topology = REPORT_DCA_TWO_SIDED,
    .open = coordinator_open,
    .close = coordinator_close,
    .leave = coordinator_leave,
    .arrive = coordinator_arrive,
    .received_ns = coordinator_received_ns,
    .drawn = coordinator_drawn,
    .finish = coordinator_finish,
    .look = coordinator_look,
};
