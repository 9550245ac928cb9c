/* SPDX-License-Identifier: MIT */
/* The loop of a flat worker: draw a chunk, compute it in turns, store its results; between two turns look after the
 * others' requests, signals and the progress line.
 *
 * Chunks can be far shorter than a reading of the clock, so the clock is read only when a chunk was long, or many short
 * ones have passed. */
#include "worker/dca/work.h"

#include "common/os/clock.h"
#include "worker/dca/flat.h"
#include "common/metrics/progress.h"

/* Computed since the last look at the clock, and chunks, after which to look again. */
#define LOOK_COMPUTE_NS 200000u
#define LOOK_CHUNKS     512u
/* Computing without a look at the others' requests, where --break-after does not say it: about two round trips between
 * nodes, and a hundred times what the look costs. */
#define BREAK_NS 50000.0
#define TICK_NS  200000000u

/* --- waiting --- */

static bool has_far_peers(const struct flat *flat)
{
    for (unsigned i = 0; i < flat->ranks; i++)
        if (!doorbell_reaches(&flat->runtime->doorbell, i) && (flat->rank == 0 || i == 0))
            return true;
    return false;
}

int flat_prepare_waiting(struct flat *flat)
{
    if (wait_init(&flat->wait, &flat->runtime->doorbell, flat->runtime->cores_are_free) < 0)
        return -1;
    flat->wait.far_peers = has_far_peers(flat);
    wait_reset(&flat->wait);
    return wait_for_work(&flat->wait, flat->exec_open ? executor_descriptor(&flat->exec.executor) : -1);
}

void flat_finish_waiting(struct flat *flat)
{
    if (flat->wait.base != NULL)
        wait_fini(&flat->wait);
}

static void stop(struct flat *flat)
{
    if (flat->stopping)
        return;
    flat->stopping = true;
    share_stop(&flat->share);
}

void flat_fail(struct flat *flat)
{
    flat->failed = true;
}

/* --- what the transports need --- */

static void host_idle(struct share *share, bool (*poll)(void *context), void *context)
{
    struct flat *flat = share->context;
    flat_pause(flat);
    load_meter_pause(&flat->meter);
    wait_idle(&flat->wait, &flat->runtime->doorbell, runtime_now(), NEVER, false, poll, context);
}

static void host_happened(struct share *share)
{
    wait_reset(&((struct flat *)share->context)->wait);
}

static void host_pause(struct share *share)
{
    flat_pause(share->context);
}

static void host_sent(struct share *share, unsigned rank)
{
    doorbell_ring(&((struct flat *)share->context)->runtime->doorbell, rank);
}

static void host_delay(struct share *share, uint64_t ns)
{
    runtime_delay(((struct flat *)share->context)->runtime, ns);
}

static void host_nap(struct share *share, uint64_t ns)
{
    runtime_nap(((struct flat *)share->context)->runtime, ns);
}

void flat_begin_sharing(struct flat *flat, const struct transport *transport)
{
    static const struct share_host host = {.idle = host_idle,
                                           .happened = host_happened,
                                           .pause = host_pause,
                                           .sent = host_sent,
                                           .delay = host_delay,
                                           .nap = host_nap,
                                           .yield = wait_yield};
    flat->share = (struct share){
        .transport = transport,
        .host = &host,
        .context = flat,
        .world = flat->runtime->world,
        .node = MPI_COMM_NULL,
        .rank = flat->rank,
        .ranks = flat->ranks,
        .nodes = flat->topology->nodes,
        .node_technique = &flat->options.worker.node_technique,
        .error = &flat->lead.error,
    };
}

int flat_open_transport(struct flat *flat)
{
    if (flat->share.transport == &transport_node)
        flat->share.node = runtime_node(flat->runtime);
    return share_open(&flat->share);
}

/* --- between two turns --- */

static void show_progress(struct flat *flat, uint64_t now_ns)
{
    flat->next_tick_ns = now_ns + TICK_NS;
    const struct progress progress = {
        .name = flat->lead.plan.kernel->name,
        .done = flat->share.transport->drawn(&flat->share),
        .total = flat->lead.plan.count,
        .elapsed_s = (double)(now_ns - flat->start_ns) / 1e9,
        .busy = flat->ranks,
        .workers = flat->ranks,
        .draining = flat->stopping,
    };
    lead_show_progress(&flat->lead, &progress);
}

static void look_at_clock(struct flat *flat)
{
    uint64_t now_ns = runtime_now();
    flat_pause(flat);
    flat->looked_compute_ns = flat->looked_chunks = 0;
    if (flat->meter.folder != NULL && load_meter_look(&flat->meter, now_ns))
        dca_machine_set_load(&flat->share.machine, flat->meter.load);
    wait_look(&flat->wait, now_ns);
    if (flat->wait.drain)
        stop(flat);
    if (flat->rank == 0 && flat->share.transport->serve != NULL) /* whatever the transport: nobody waits for ever */
        flat->share.transport->serve(&flat->share);
    if (flat->share.transport->look != NULL)
        flat->share.transport->look(&flat->share, now_ns);
    if (flat->rank == 0 && flat->lead.terminal.mode != TERMINAL_NONE && now_ns >= flat->next_tick_ns)
        show_progress(flat, now_ns);
}

/* Whether others need this rank to look after them while it computes. */
static bool must_serve(const struct flat *flat)
{
    return flat->rank == 0 && flat->ranks > 1 && flat->share.transport->serve != NULL &&
           (flat->share.transport == &transport_two_sided || flat->wait.far_peers);
}

/* The next iteration of the running chunk after which to break off; 0: only where the executor does by itself. */
static uint64_t next_break(const struct flat *flat, uint64_t done)
{
    if (!flat->serves)
        return 0;
    if (flat->options.worker.break_after > 0)
        return done + flat->options.worker.break_after;
    double in_time = flat->exec.iteration_ns > 0 ? BREAK_NS / flat->exec.iteration_ns : 1;
    return done + (in_time < 1 ? 1 : in_time < 1e9 ? (uint64_t)in_time : 1000000000u);
}

/* --- computing --- */

/* Takes results that have gathered: the latest that the executor has handed over. */
static void store(struct flat *flat, const struct chunk_event *chunk)
{
    struct lead *lead = &flat->lead;
    uint64_t first = flat->exec.chunk.first + flat->exec.chunk.sliced - chunk->count;
    if (chunk->data != NULL) {
        if (!flat->failed &&
            results_write(&lead->sink, first, chunk->count, chunk->data, chunk->bytes, &lead->error) < 0)
            flat_fail(flat);
        executor_sent(&flat->exec.executor, chunk->data);
    }
    if (flat->failed)
        return;
    flat->figures.digest += chunk->digest;
    flat->figures.iterations += chunk->count;
}

static void finish_chunk(struct flat *flat, const struct chunk_event *chunk)
{
    flat->figures.chunks++;
    flat->figures.compute_ns += chunk->compute_ns;
    dca_machine_measure(&flat->share.machine, flat->exec.chunk.count, chunk->compute_ns, chunk->deviation_ns,
                        chunk->samples);
    if (flat->exec.config.collect) /* its results are stored */
        flat->figures.finish_ns = runtime_now() - flat->start_ns;
}

/* Whether the chunk is over. */
static bool handle(struct flat *flat, const struct event *event)
{
    switch (event->type) {
    case EVENT_MARK: executor_set_mark(&flat->exec.executor, next_break(flat, event->chunk.done)); return false;
    case EVENT_SLICE: store(flat, &event->chunk); return flat->failed;
    case EVENT_FAILURE:
        error_set(&flat->lead.error, "%s: %s", flat->lead.plan.kernel->name, event->text);
        flat_fail(flat);
        return true;
    default: break;
    }
    store(flat, &event->chunk);
    finish_chunk(flat, &event->chunk);
    return true;
}

static void look_around(struct flat *flat, uint64_t compute_ns)
{
    flat->looked_compute_ns += compute_ns;
    if (flat->looked_compute_ns >= LOOK_COMPUTE_NS || ++flat->looked_chunks >= LOOK_CHUNKS)
        look_at_clock(flat);
    if (flat->serves)
        flat->share.transport->serve(&flat->share);
}

/* One that is known to be short; nobody waits for it to break off. */
static void run_short(struct flat *flat, const struct range *chunk)
{
    uint64_t compute_ns = 0;
    if (exec_short(&flat->exec, flat->lead.plan.first + chunk->first, chunk->count, &flat->figures.digest,
                   &compute_ns) < 0) {
        error_set(&flat->lead.error, "%s: %s", flat->lead.plan.kernel->name, flat->exec.error);
        flat_fail(flat);
        return;
    }
    flat->figures.iterations += chunk->count;
    flat->figures.chunks++;
    flat->figures.compute_ns += compute_ns;
    if (++flat->looked_chunks >= LOOK_CHUNKS)
        look_at_clock(flat);
    if (flat->serves)
        flat->share.transport->serve(&flat->share);
}

static bool poll_nothing(void *context)
{
    (void)context;
    return false;
}

/* The kernel waits. Who serves others looks up again soon; nobody else has anything to look for but signals. */
#define LOOK_UP_NS 1000000u

static void await_work(struct flat *flat)
{
    uint64_t now_ns = runtime_now();
    load_meter_pause(&flat->meter);
    wait_idle(&flat->wait, &flat->runtime->doorbell, now_ns, flat->serves ? now_ns + LOOK_UP_NS : NEVER, false,
              poll_nothing, NULL);
    look_at_clock(flat);
}

static void run_chunk(struct flat *flat, const struct range *chunk)
{
    struct exec *exec = &flat->exec;
    bool over = false;
    executor_begin(&exec->executor, flat->lead.plan.first + chunk->first, chunk->count, next_break(flat, 0), false);
    while (!over) {
        struct event event;
        uint64_t before_ns = exec->chunk.compute_ns;
        event.chunk.data = NULL;
        enum turn turn = executor_advance(&exec->executor, &event);
        if (turn == TURN_EVENT)
            over = handle(flat, &event);
        else if (turn == TURN_BLOCKED)
            await_work(flat);
        look_around(flat, exec->chunk.compute_ns - before_ns);
    }
}

/* Ends the last run of short chunks, so that the executor knows when they ended. */
static void note_end(struct flat *flat)
{
    flat_pause(flat);
    if (flat->figures.chunks > 0 && !flat->exec.config.collect)
        flat->figures.finish_ns = flat->exec.ended_ns - flat->start_ns;
}

/* As workers with a supermaster tell it in THREADS: not where iterations wait, or this worker is slowed down. */
static void note_sharing(struct flat *flat, uint64_t began_processor_ns)
{
    struct threads *sharing = &flat->figures.sharing;
    *sharing = (struct threads){.count = 1};
    if (plan_computes(&flat->lead.plan) && flat->options.worker.slowdown <= 1)
        runtime_note_sharing(flat->runtime, sharing);
    if (sharing->cores > 0)
        sharing->processor_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - began_processor_ns;
}

void flat_work(struct flat *flat)
{
    struct range chunk;
    runtime_wait_for_all(flat->runtime); /* asleep: some open their kernels longer than others */
    MPI_Barrier(flat->runtime->world);
    flat->serves = must_serve(flat);
    flat->start_ns = runtime_now();
    flat->figures.first_ns = flat->figures.finish_ns = NEVER;
    uint64_t processor_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    look_at_clock(flat);
    while (!flat->failed && share_draw(&flat->share, &chunk)) {
        if (flat->figures.first_ns == NEVER)
            flat->figures.first_ns = runtime_now() - flat->start_ns;
        if (flat->meter.folder != NULL)
            flat->figures.load_sum += flat->meter.load;
        if (exec_is_short(&flat->exec, chunk.count))
            run_short(flat, &chunk);
        else
            run_chunk(flat, &chunk);
    }
    note_end(flat);
    note_sharing(flat, processor_ns);
    if (flat->share.failed)
        flat_fail(flat);
    if (flat->failed)
        stop(flat);
    if (flat->share.transport->finish != NULL)
        flat->share.transport->finish(&flat->share);
    flat->figures.refills = flat->share.refills;
    flat->figures.messages = flat->share.messages;
    flat->figures.bytes = flat->share.bytes;
}
