/* SPDX-License-Identifier: MIT */
/* Times what is too short for the clock: chunks computed in runs (see inline.h), and probe iterations. */
#include "worker/exec/steps.h"

#include "common/machine/probe.h"
#include "common/os/clock.h"
#include "common/util/digest.h"
#include "common/util/returned.h"
#include "hdss/kernel.h"

#include <assert.h>

/* If an iteration takes longer, the probe needs no warm-up. */
#define PROBE_LONG_NS 50000000u
/* A chunk is short if it takes less time than this. Reading the clock for such a chunk takes some 70 ns, at least a
 * third of the chunk's time. */
#define SHORT_NS     200.0
#define SHORT_GAP_NS 400.0
#define SHORT_CALM   32
/* The least and the largest number of chunks in a run. With so many chunks the clock costs about 1 ns per chunk. The
 * number is random, so that different chunks are timed even if costs are periodic in the loop. */
#define RUN_LEAST    48
#define RUN_MOST     80
#define SHORT_WEIGHT 0.125

double exec_time_clock(void)
{
    double least = 1e9;
    for (int i = 0; i < 16; i++) {
        uint64_t began = clock_ns(CLOCK_MONOTONIC);
        double time = (double)(clock_ns(CLOCK_MONOTONIC) - began);
        least = time < least ? time : least;
    }
    return least;
}

static void begin_run(struct exec *exec, uint64_t now_ns)
{
    exec->shorts.random =
        /* the generator of Knuth's MMIX */
        exec->shorts.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    exec->shorts.run_left = RUN_LEAST + (unsigned)(exec->shorts.random >> 33) % (RUN_MOST - RUN_LEAST + 1);
    exec->shorts.run_done = 0;
    exec->shorts.run_began_ns = now_ns;
}

static void doubt_shorts(struct exec *exec)
{
    exec->shorts.count = 0;
    exec->shorts.stable = 0;
}

static bool learn_short(struct exec *exec, uint64_t count, uint64_t elapsed_ns)
{
    double time = (double)elapsed_ns - exec->shorts.clock_ns;
    if (time >= SHORT_NS)
        return false;
    time = time > 0 ? time / (double)count : 0;
    exec->shorts.iteration_ns =
        exec->shorts.stable == 0 ? time : exec->shorts.iteration_ns + SHORT_WEIGHT * (time - exec->shorts.iteration_ns);
    return true;
}

void exec_look_for_short(struct exec *exec, uint64_t began_ns, uint64_t ended_ns)
{
    bool is_soon = (double)(began_ns - exec->ended_ns) <= SHORT_GAP_NS + exec->shorts.clock_ns;
    if (!is_soon || !learn_short(exec, exec->chunk.count, ended_ns - began_ns)) {
        doubt_shorts(exec);
        return;
    }
    if (++exec->shorts.stable < SHORT_CALM)
        return;
    uint64_t fit =
        exec->shorts.iteration_ns > 1 ? (uint64_t)(SHORT_NS / exec->shorts.iteration_ns) : (uint64_t)SHORT_NS;
    exec->shorts.count = fit < exec->records.capacity ? fit : exec->records.capacity;
    begin_run(exec, ended_ns);
}

static uint64_t end_run(struct exec *exec, uint64_t now_ns)
{
    uint64_t passed = now_ns - exec->shorts.run_began_ns,
             time = (uint64_t)(exec->shorts.iteration_ns * (double)exec->shorts.run_done);
    exec->shorts.run_left = 0;
    exec->shorts.run_done = 0;
    if (passed <= (uint64_t)(RUN_MOST * (SHORT_NS + SHORT_GAP_NS)))
        return time < passed ? time : passed;
    /* The run took longer than short chunks can take: one of its chunks was long, or another process had the core. So
     * all of the time that has passed counts, as it would for chunks that are timed one by one. */
    doubt_shorts(exec);
    return passed;
}

int exec_short_timed(struct exec *exec, uint64_t first, uint64_t count, uint64_t *digest, uint64_t *compute_ns)
{
    struct exec_shorts *shorts = &exec->shorts;
    unsigned char *records = exec->records.buffers[0].bytes + EXEC_HEADROOM;
    assert(exec_is_short(exec, count) && !exec->chunk.running && "a short chunk fits the buffer, which is free");
    if (shorts->run_left == 0)
        begin_run(exec, clock_ns(CLOCK_MONOTONIC));
    bool is_last = --shorts->run_left == 0;
    uint64_t began = is_last ? clock_ns(CLOCK_MONOTONIC) : 0;
    shorts->run_done += count;
    if (returned(exec->config.kernel->run(exec->instance, first, count, records, exec->error), "run", exec->error) < 0)
        return -1;
    if (is_last) {
        uint64_t ended = clock_ns(CLOCK_MONOTONIC);
        if (learn_short(exec, count, ended - began)) {
            *compute_ns += end_run(exec, ended);
        } else {
            shorts->run_done -= count;
            *compute_ns += end_run(exec, began) + (ended - began);
            doubt_shorts(exec);
        }
        exec->ended_ns = ended;
        begin_run(exec, ended);
    }
    *digest += digest_records(first, count, records, exec->records.bytes);
    return 0;
}

uint64_t exec_pause(struct exec *exec)
{
    exec->shorts.run_left = 0;
    if (exec->shorts.run_done == 0)
        return 0;
    exec->ended_ns = clock_ns(CLOCK_MONOTONIC);
    return end_run(exec, exec->ended_ns);
}

struct prober {
    struct exec *exec;
    void (*run_one)(void *context, uint64_t iteration);
    void *context;
};

static uint64_t time_probes(const struct prober *prober, struct probe *probe, uint64_t count)
{
    const struct exec *exec = prober->exec;
    const clockid_t clock = exec_work_clock(exec);
    bool each = probe_times_each(probe);
    uint64_t began = clock_ns(clock), last = began;
    for (uint64_t k = probe->done; k < probe->done + count; k++) {
        prober->run_one(prober->context, probe_iteration(probe, k));
        if (!each)
            continue;
        uint64_t now = clock_ns(clock);
        probe_add_single(probe, k, (double)(now - last) * exec->config.slowdown);
        last = now;
    }
    return (uint64_t)((double)((each ? last : clock_ns(clock)) - began) * exec->config.slowdown);
}

static double time_single(const struct prober *prober, const struct probe *probe, uint64_t k)
{
    uint64_t began = clock_ns(CLOCK_MONOTONIC), empty = clock_ns(CLOCK_MONOTONIC);
    prober->run_one(prober->context, probe_iteration(probe, k));
    double time = (double)(clock_ns(CLOCK_MONOTONIC) - empty) - (double)(empty - began);
    return time > 0 ? time * prober->exec->config.slowdown : 0;
}

/* Times single iterations by the wall clock, which is faster to read than the processor clock. A short iteration is run
 * twice, and the lesser time counts: during the other run another process may have had the core, or the cache may have
 * been cold. */
static void time_singles(const struct prober *prober, struct probe *probe)
{
    const double short_ns = PROBE_SHORT_NS * prober->exec->config.slowdown;
    uint64_t singles = probe_wants_singles(probe);
    for (uint64_t k = 0; k < singles; k++) {
        double time = time_single(prober, probe, k), again = time < short_ns ? time_single(prober, probe, k) : time;
        probe_add_single(probe, k, again < time ? again : time);
    }
}

void exec_time_probe(struct exec *exec, void (*run_one)(void *context, uint64_t iteration), void *context,
                     struct speed *speed)
{
    const struct prober prober = {exec, run_one, context};
    struct probe probe;
    probe_init(&probe, exec->config.probe_first, exec->config.probe_count, exec->config.probe_least);
    if (exec->config.loop->waits)
        probe.enough_ns = PROBE_SLEEPING_NS;
    /* The first iteration warms up caches, pages and the core's clock. So its time counts only if it is very long. But
     * the first iteration of a kernel that sleeps always counts. If such a kernel has slept too long, it may sleep less
     * in its next iterations. The probe would otherwise find that these take no time. */
    uint64_t elapsed = time_probes(&prober, &probe, 1);
    if (elapsed >= PROBE_LONG_NS || exec->config.loop->waits)
        probe_add(&probe, 1, elapsed);
    for (uint64_t count; (count = probe_next(&probe)) > 0;)
        probe_add(&probe, count, time_probes(&prober, &probe, count));
    time_singles(&prober, &probe);
    probe_finish(&probe, speed);
}

static void run_inline_probe(void *context, uint64_t iteration)
{
    struct exec *exec = context;
    if (exec->records.variable)
        output_clear(&exec->records.output, iteration);
    exec_call_kernel(exec, iteration, 1,
                     exec->records.variable ? NULL : exec->records.buffers[0].bytes + EXEC_HEADROOM);
}

static bool probe_here(struct exec *exec, struct speed *speed)
{
    if (exec->config.unprobed)
        *speed = exec_unknown_speed();
    else if (exec->config.helper == NULL)
        exec_time_probe(exec, run_inline_probe, exec, speed);
    return exec->config.unprobed || exec->config.helper == NULL;
}

bool exec_probe(struct executor *executor, struct speed *speed)
{
    struct exec *exec = exec_of(executor);
    const bool is_over = probe_here(exec, speed);
    if (!is_over)
        exec_remote_begin_probe(exec);
    return is_over;
}

void exec_probe_now(struct exec *exec, struct speed *speed)
{
    if (!probe_here(exec, speed))
        exec_remote_probe(exec, speed);
}

enum turn exec_probe_turn(struct exec *exec, struct event *event)
{
    if (!exec_remote_probe_turn(exec))
        return TURN_BLOCKED;
    *event = (struct event){.type = EVENT_PROBED, .speed = &exec->remote.speed};
    return TURN_EVENT;
}
