/* SPDX-License-Identifier: MIT */
/* The loop of a worker without a supermaster. The worker draws a chunk, computes it in turns, and stores its results.
 * Between turns it handles requests of other ranks, signals and the progress line.
 *
 * Computing a chunk can take far less time than reading the clock, so the clock is read only after a long chunk or many
 * short ones. */
#include "worker/dca/work.h"

#include "common/carrier/carrier.h"
#include "common/config/dca_options.h"
#include "common/config/rank_options.h"
#include "common/dca/machine.h"
#include "common/dca/share.h"
#include "common/job/job_setup.h"
#include "common/job/root.h"
#include "common/job/status.h"
#include "common/job/terminal.h"
#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/metrics/progress.h"
#include "common/mpi/doorbell.h"
#include "common/mpi/rank.h"
#include "common/mpi/runtime.h"
#include "common/mpi/wait.h"
#include "common/os/clock.h"
#include "common/os/load.h"
#include "common/results/results.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "hdss/kernel.h"
#include "proto/message.h"
#include "worker/dca/dca.h"
#include "worker/exec/inline.h"

#define LOOK_COMPUTE_NS 200000u
#define LOOK_CHUNKS     512u
/* Time of computing between two checks for requests of other ranks, if --break-after is not given. It is about two
 * round trips between nodes, and a hundred times as long as a check takes. */
#define BREAK_NS 50000.0

#define WANTED_LOOK_NS 5000000u

static bool dca_work_has_far_peers(const struct dca *dca)
{
    for (unsigned i = 0; i < dca->ranks; i++)
        if (!doorbell_reaches(&dca->runtime->doorbell, i) && (dca->rank == 0 || i == 0))
            return true;
    return false;
}

int dca_prepare_waiting(struct dca *dca)
{
    if (wait_init(&dca->wait, &dca->runtime->doorbell, dca->runtime->cores_are_free, NULL) < 0)
        return -1;
    dca->wait.far_peers = dca_work_has_far_peers(dca);
    wait_reset(&dca->wait);
    return wait_begin_work(&dca->wait, &dca->work, dca->exec_open ? executor_descriptor(&dca->exec.executor) : -1,
                           NULL);
}

void dca_finish_waiting(struct dca *dca)
{
    wait_end_work(&dca->work);
    if (dca->wait.base != NULL)
        wait_fini(&dca->wait);
}

static void stop(struct dca *dca)
{
    if (dca->stopping)
        return;
    dca->stopping = true;
    share_stop(&dca->share);
}

static void dca_fail(struct dca *dca)
{
    dca->failed = true;
}

static void dca_work_show_progress(struct dca *dca, uint64_t now_ns)
{
    dca->next_tick_ns = now_ns + terminal_look_ms(&dca->root.terminal) * UINT64_C(1000000);
    const struct progress progress = {
        .name = dca->root.setup.kernel->name,
        .done = dca->share.transport->drawn(&dca->share),
        .total = dca->root.setup.count,
        .elapsed_s = (double)(now_ns - dca->start_ns) / 1e9,
        .busy = dca->ranks,
        .workers = dca->ranks,
        .draining = dca->stopping,
    };
    root_show_progress(&dca->root, &progress);
}

static void look_at_clock(struct dca *dca)
{
    uint64_t now_ns = runtime_now();
    dca_pause(dca);
    dca->looked_compute_ns = dca->looked_chunks = 0;
    if (dca->meter.folder != NULL && load_meter_look(&dca->meter, now_ns))
        dca_machine_set_load(&dca->share.machine, dca->meter.load);
    wait_look(&dca->wait, now_ns);
    if (dca->wait.drain) {
        if (dca->rank == 0 && !dca->stopping)
            status_tell_draining();
        stop(dca);
    }
    /* Rank 0 serves the other ranks here even if must_serve() is false; otherwise another rank could wait for rank 0
     * forever. */
    if (dca->rank == 0 && dca->share.transport->serve != NULL)
        dca->share.transport->serve(&dca->share);
    if (dca->share.transport->look != NULL)
        dca->share.transport->look(&dca->share, now_ns);
    if (dca->rank == 0 && dca->root.terminal.mode != TERMINAL_NONE && now_ns >= dca->next_tick_ns)
        dca_work_show_progress(dca, now_ns);
}

static void host_idle(struct share *share, bool (*poll)(void *context), void *context)
{
    struct dca *dca = share->context;
    dca_pause(dca);
    load_meter_pause(&dca->meter);
    wait_idle(&dca->wait, &dca->runtime->doorbell, runtime_now(), NEVER, false, poll, context);
}

static void host_happened(struct share *share)
{
    wait_reset(&((struct dca *)share->context)->wait);
}

static void host_pause(struct share *share)
{
    dca_pause(share->context);
}

static void host_sent(struct share *share, unsigned rank)
{
    doorbell_ring(&((struct dca *)share->context)->runtime->doorbell, rank);
}

static void host_delay(struct share *share, uint64_t ns)
{
    runtime_delay(((struct dca *)share->context)->runtime, ns);
}

static void host_nap(struct share *share, uint64_t ns)
{
    runtime_nap(((struct dca *)share->context)->runtime, ns);
}

static void host_look(struct share *share)
{
    look_at_clock(share->context);
}

void dca_begin_sharing(struct dca *dca, const struct transport *transport)
{
    static const struct share_host host = {.idle = host_idle,
                                           .happened = host_happened,
                                           .pause = host_pause,
                                           .sent = host_sent,
                                           .delay = host_delay,
                                           .nap = host_nap,
                                           .look = host_look,
                                           .yield = wait_yield};
    dca->share = (struct share){
        .transport = transport,
        .host = &host,
        .context = dca,
        .world = dca->runtime->world,
        .rank = dca->rank,
        .ranks = dca->ranks,
        .nodes = dca->topology->nodes,
        .node_technique = &dca->options.worker.node_technique,
        .recall = transport->wanted != NULL && dca->root.setup.job.spec.recall == RUN_RECALL_ON,
        .error = &dca->root.error,
    };
}

int dca_open_transport(struct dca *dca)
{
    if (dca->share.transport == &transport_node)
        dca->share.node = runtime_node(dca->runtime);
    return share_open(&dca->share);
}

static bool must_serve(const struct dca *dca)
{
    return dca->rank == 0 && dca->ranks > 1 && dca->share.transport->serve != NULL &&
           (dca->share.transport == &transport_two_sided || dca->wait.far_peers);
}

static uint64_t next_break(const struct dca *dca, uint64_t done)
{
    if (!dca->serves)
        return 0;
    if (dca->options.worker.break_after > 0)
        return done + dca->options.worker.break_after;
    double in_time = dca->exec.iteration_ns > 0 ? BREAK_NS / dca->exec.iteration_ns : 1;
    return done + (in_time < 1 ? 1 : in_time < 1e9 ? (uint64_t)in_time : 1000000000u);
}

static struct range dca_work_cut(void *context)
{
    struct dca *dca = context;
    struct range cut = executor_cut(&dca->exec.executor, RECALL_ALL);
    cut.first -= cut.count > 0 ? dca->root.setup.first : 0;
    return cut;
}

static bool dca_work_can_give(const struct dca *dca)
{
    return dca->exec.chunk.count - dca->exec.chunk.done > 1;
}

static void dca_work_store(struct dca *dca, const struct chunk_event *chunk)
{
    struct root *root = &dca->root;
    uint64_t first = dca->exec.chunk.first + dca->exec.chunk.sliced - chunk->count;
    if (chunk->data != NULL) {
        if (!dca->failed &&
            results_write(&root->sink, first, chunk->count, chunk->data, chunk->bytes, &root->error) < 0)
            dca_fail(dca);
        executor_sent(&dca->exec.executor, chunk->data);
    }
    if (dca->failed)
        return;
    dca->figures.digest += chunk->digest;
    dca->figures.iterations += chunk->count;
}

static void finish_chunk(struct dca *dca, const struct chunk_event *chunk)
{
    dca->figures.chunks++;
    dca->figures.compute_ns += chunk->compute_ns;
    dca_machine_measure(&dca->share.machine, dca->exec.chunk.count, chunk->compute_ns, dca->waited_ns,
                        chunk->deviation_ns, chunk->samples);
    if (dca->exec.config.collect)
        dca->figures.finish_ns = runtime_now() - dca->start_ns;
}

static bool dca_work_handle(struct dca *dca, const struct event *event)
{
    switch (event->type) {
    case EVENT_MARK: executor_set_mark(&dca->exec.executor, next_break(dca, event->chunk.done)); return false;
    case EVENT_SLICE: dca_work_store(dca, &event->chunk); return dca->failed;
    case EVENT_ITERATIONS_FAILED:
        error_set(&dca->root.error, "%s: %s", dca->root.setup.kernel->name, event->text);
        dca_fail(dca);
        return true;
    default: break;
    }
    dca_work_store(dca, &event->chunk);
    finish_chunk(dca, &event->chunk);
    return true;
}

static void look_around(struct dca *dca, uint64_t compute_ns)
{
    dca->looked_compute_ns += compute_ns;
    if (dca->looked_compute_ns >= LOOK_COMPUTE_NS || ++dca->looked_chunks >= LOOK_CHUNKS)
        look_at_clock(dca);
    if (dca->serves)
        dca->share.transport->serve(&dca->share);
}

static void run_short(struct dca *dca, const struct range *chunk)
{
    uint64_t compute_ns = 0;
    if (exec_short(&dca->exec, dca->root.setup.first + chunk->first, chunk->count, &dca->figures.digest, &compute_ns) <
        0) {
        error_set(&dca->root.error, "%s: %s", dca->root.setup.kernel->name, dca->exec.error);
        dca_fail(dca);
        return;
    }
    dca->figures.iterations += chunk->count;
    dca->figures.chunks++;
    dca->figures.compute_ns += compute_ns;
    if (++dca->looked_chunks >= LOOK_CHUNKS)
        look_at_clock(dca);
    if (dca->serves)
        dca->share.transport->serve(&dca->share);
}

static bool poll_nothing(void *context)
{
    (void)context;
    return false;
}

#define LOOK_UP_NS 1000000u

static void await_work(struct dca *dca)
{
    uint64_t now_ns = runtime_now(), until_ns = NEVER;
    if (dca->share.recall && dca_work_can_give(dca))
        until_ns = now_ns + WANTED_LOOK_NS;
    if (dca->serves)
        until_ns = now_ns + LOOK_UP_NS;
    load_meter_pause(&dca->meter);
    wait_idle(&dca->wait, &dca->runtime->doorbell, now_ns, until_ns, false, poll_nothing, NULL);
    look_at_clock(dca);
}

static void dca_work_run_chunk(struct dca *dca, const struct range *chunk)
{
    struct exec *exec = &dca->exec;
    bool over = false;
    executor_begin(&exec->executor, dca->root.setup.first + chunk->first, chunk->count, next_break(dca, 0), false);
    while (!over) {
        struct event event;
        uint64_t before_ns = exec->chunk.compute_ns;
        event.chunk.data = NULL;
        enum turn turn = executor_advance(&exec->executor, &event);
        if (turn == TURN_EVENT)
            over = dca_work_handle(dca, &event);
        else if (turn == TURN_BLOCKED)
            await_work(dca);
        look_around(dca, exec->chunk.compute_ns - before_ns);
        if (!over && share_is_wanted(&dca->share) && dca_work_can_give(dca))
            share_give(&dca->share, dca_work_cut, dca);
    }
}

static void dca_work_note_end(struct dca *dca)
{
    dca_pause(dca);
    if (dca->figures.chunks > 0 && !dca->exec.config.collect)
        dca->figures.finish_ns = dca->exec.ended_ns - dca->start_ns;
}

/* Fills in the figures that a worker with a supermaster sends in a THREADS message. The figures stay unknown in three
 * cases: iterations wait, other processes run the iterations, or the worker is slowed down on purpose. */
static void dca_work_note_sharing(struct dca *dca, uint64_t began_processor_ns)
{
    struct threads *sharing = &dca->figures.sharing;
    *sharing = (struct threads){.count = 1};
    if (job_setup_computes(&dca->root.setup) && dca->options.worker.slowdown <= 1)
        runtime_note_sharing(dca->runtime, sharing);
    if (sharing->cores > 0)
        sharing->processor_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - began_processor_ns;
}

static bool dca_work_draw(struct dca *dca, struct range *chunk)
{
    if (!dca_learns(&dca->share.core))
        return share_draw(&dca->share, chunk);
    const uint64_t began_ns = runtime_now();
    const bool is_drawn = share_draw(&dca->share, chunk);
    dca->waited_ns = runtime_now() - began_ns;
    return is_drawn;
}

void dca_work(struct dca *dca)
{
    struct range chunk;
    dca->figures.first_ns = dca->figures.finish_ns = NEVER;
    /* The ranks sleep here until every rank has opened its kernel. Some ranks may need much longer for that than
     * others. */
    runtime_wait_for_all(dca->runtime);
    carrier->barrier(dca->runtime->world);
    if (dca->rank == 0)
        status_tell_begun();
    dca->serves = must_serve(dca);
    dca->start_ns = runtime_now();
    uint64_t processor_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    look_at_clock(dca);
    while (!dca->failed && dca_work_draw(dca, &chunk)) {
        if (dca->figures.first_ns == NEVER)
            dca->figures.first_ns = runtime_now() - dca->start_ns;
        if (dca->meter.folder != NULL)
            dca->figures.load_sum += dca->meter.load;
        if (exec_is_short(&dca->exec, chunk.count))
            run_short(dca, &chunk);
        else
            dca_work_run_chunk(dca, &chunk);
    }
    dca_work_note_end(dca);
    dca_work_note_sharing(dca, processor_ns);
    if (dca->share.failed)
        dca_fail(dca);
    if (dca->failed)
        stop(dca);
    if (dca->share.transport->finish != NULL)
        dca->share.transport->finish(&dca->share);
    dca->figures.refills = dca->share.refills;
    dca->figures.messages = dca->share.messages;
    dca->figures.bytes = dca->share.bytes;
    dca->figures.recalls = dca->share.recalls;
    dca->figures.recalled = dca->share.recalled;
}
