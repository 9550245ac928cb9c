/* The executor: see inline.h. */
#include "worker/exec/inline.h"

#include "common/clock/clock.h"
#include "common/machine/probe.h"
#include "common/util/digest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Between two looks at the messages. */
#define TURN_NS 2000000.0
/* Digested-only results are made in a buffer that stays in the cache. */
#define SCRATCH_BYTES (256u << 10)
/* So much is digested in less than a microsecond: the clock need not be read again after it. */
#define DIGEST_SOON_BYTES 4096
/* What is computed leaves after this time of computing, be the buffer full or not. */
#define SLICE_NS 1000000000u
/* An iteration as long as this needs no warming up. */
#define PROBE_LONG_NS 50000000u
/* Sleeps shorter than this are put off: the timer is not that precise. */
#define WAIT_MIN_NS 200000.0
/* A chunk that takes less is short: timing it, which takes some 70 ns, would cost a third of it or more. */
#define SHORT_NS 200.0
/* Between two short chunks no more time may pass than so, else timing them hardly matters. */
#define SHORT_GAP_NS 400.0
/* So many short ones in a row, timed one by one, and the next ones are believed to be short, too. */
#define SHORT_CALM 32
/* Chunks in a run, least and most: the readings of the clock are some 1 ns of each then. They change at random, so that
 * a loop whose costs come back after so many iterations does not have the same one timed each time. */
#define RUN_LEAST 48
#define RUN_MOST  80
/* Of the time of a short iteration, what the latest one weighs. */
#define SHORT_WEIGHT 0.125

static int allocate(struct exec *exec)
{
    if (exec->variable)
        return 0; /* what is needed, when it is known */
    uint64_t limit = exec->config.collect ? SLICE_MAX : SCRATCH_BYTES;
    exec->capacity = exec->record_bytes < limit ? limit / exec->record_bytes : 1;
    size_t bytes = EXEC_HEADROOM + exec->capacity * exec->record_bytes;
    for (unsigned i = 0; i < (exec->config.collect ? EXEC_BUFFERS : 1); i++) {
        exec->buffers[i].bytes = aligned_alloc(64, (bytes + 63) / 64 * 64);
        if (exec->buffers[i].bytes == NULL)
            return -1;
    }
    return 0;
}

/* The least of a few readings, as what disturbs one makes it longer. */
static double time_clock(void)
{
    double least = 1e9;
    for (int i = 0; i < 16; i++) {
        uint64_t began = clock_ns(CLOCK_MONOTONIC);
        double time = (double)(clock_ns(CLOCK_MONOTONIC) - began);
        least = time < least ? time : least;
    }
    return least;
}

int exec_init(struct exec *exec, const struct exec_config *config)
{
    *exec = (struct exec){.config = *config, .variable = config->loop->streams > 0, .random = 1};
    exec->record_bytes = exec->variable ? 0 : hdss_record_size(config->loop);
    output_init(&exec->output, config->loop->streams, config->collect);
    if (exec->variable || config->collect || config->spread || config->slowdown > 1)
        exec->config.short_runs = false;
    if (exec->config.short_runs)
        exec->clock_ns = time_clock();
    if (allocate(exec) < 0) {
        exec_fini(exec);
        snprintf(exec->error, sizeof exec->error, "%s: no memory for a record of %llu bytes", config->kernel->name,
                 (unsigned long long)exec->record_bytes);
        return -1;
    }
    if (config->kernel->open(config->values, config->loop, &exec->config.worker, &exec->instance, exec->error) < 0) {
        exec_fini(exec);
        return -1;
    }
    exec->open = true;
    if (config->kernel->step == NULL || config->kernel->step(exec->instance, 0, exec->error) == 0)
        return 0;
    exec_fini(exec);
    return -1;
}

void exec_fini(struct exec *exec)
{
    if (exec->open && exec->config.kernel->close != NULL)
        exec->config.kernel->close(exec->instance);
    exec->open = false;
    careful_fini(&exec->careful);
    for (unsigned i = 0; i < EXEC_BUFFERS; i++) {
        free(exec->buffers[i].bytes);
        exec->buffers[i].bytes = NULL;
    }
    output_fini(&exec->output);
}

/* --- short chunks --- */

static void begin_run(struct exec *exec, uint64_t now_ns)
{
    exec->random = exec->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407); /* Knuth, MMIX */
    exec->run_left = RUN_LEAST + (unsigned)(exec->random >> 33) % (RUN_MOST - RUN_LEAST + 1);
    exec->run_done = 0;
    exec->run_began_ns = now_ns;
}

/* Chunks are timed by themselves again. */
static void doubt(struct exec *exec)
{
    exec->short_count = 0;
    exec->calm = 0;
}

/* Takes the time of a chunk of `count` iterations if it is short. A reading of the clock is in `elapsed_ns`. */
static bool learn_short(struct exec *exec, uint64_t count, uint64_t elapsed_ns)
{
    double time = (double)elapsed_ns - exec->clock_ns;
    if (time >= SHORT_NS)
        return false;
    time = time > 0 ? time / (double)count : 0;
    exec->short_ns = exec->calm == 0 ? time : exec->short_ns + SHORT_WEIGHT * (time - exec->short_ns);
    return true;
}

/* Looks at a whole chunk that was timed by itself: whether it was short, and came soon after the one before. */
static void look_for_short(struct exec *exec, uint64_t began_ns, uint64_t ended_ns)
{
    bool is_soon = (double)(began_ns - exec->ended_ns) <= SHORT_GAP_NS + exec->clock_ns;
    if (!is_soon || !learn_short(exec, exec->count, ended_ns - began_ns)) {
        doubt(exec);
        return;
    }
    if (++exec->calm < SHORT_CALM)
        return;
    uint64_t fit = exec->short_ns > 1 ? (uint64_t)(SHORT_NS / exec->short_ns) : (uint64_t)SHORT_NS;
    exec->short_count = fit < exec->capacity ? fit : exec->capacity;
    begin_run(exec, ended_ns);
}

/* Ends the run; returns the time of its iterations. */
static uint64_t end_run(struct exec *exec, uint64_t now_ns)
{
    uint64_t passed = now_ns - exec->run_began_ns, time = (uint64_t)(exec->short_ns * (double)exec->run_done);
    exec->run_left = 0;
    exec->run_done = 0;
    if (passed <= (uint64_t)(RUN_MOST * (SHORT_NS + SHORT_GAP_NS)))
        return time < passed ? time : passed;
    doubt(exec); /* one was long, or the core was taken away, which counts for a chunk that is timed, too */
    return passed;
}

static int run_whole(struct exec *exec, uint64_t first, uint64_t count, void *records)
{
    exec->run_done += count;
    return exec->config.kernel->run(exec->instance, first, count, records, exec->error);
}

/* The last of a run. */
static int run_timed(struct exec *exec, uint64_t first, uint64_t count, void *records, uint64_t *compute_ns)
{
    uint64_t began = clock_ns(CLOCK_MONOTONIC);
    if (run_whole(exec, first, count, records) < 0)
        return -1;
    uint64_t ended = clock_ns(CLOCK_MONOTONIC);
    if (learn_short(exec, count, ended - began)) {
        *compute_ns += end_run(exec, ended);
    } else {
        exec->run_done -= count;
        *compute_ns += end_run(exec, began) + (ended - began);
        doubt(exec);
    }
    exec->ended_ns = ended;
    begin_run(exec, ended);
    return 0;
}

int exec_short_timed(struct exec *exec, uint64_t first, uint64_t count, uint64_t *digest, uint64_t *compute_ns)
{
    unsigned char *records = exec->buffers[0].bytes + EXEC_HEADROOM;
    if (exec->run_left == 0)
        begin_run(exec, clock_ns(CLOCK_MONOTONIC));
    int result = --exec->run_left > 0 ? run_whole(exec, first, count, records)
                                      : run_timed(exec, first, count, records, compute_ns);
    if (result == 0)
        *digest += digest_records(first, count, records, exec->record_bytes);
    return result;
}

uint64_t exec_pause(struct exec *exec)
{
    exec->run_left = 0;
    if (exec->run_done == 0)
        return 0;
    exec->ended_ns = clock_ns(CLOCK_MONOTONIC);
    return end_run(exec, exec->ended_ns);
}

/* --- being slower than the core can --- */

/* The clock of the real work: a sleeping kernel is timed by the wall, a computing one by the core, which others may
 * share. */
static clockid_t work_clock(const struct exec *exec)
{
    bool waits = exec->config.loop->waits || exec->config.kernel->descriptor != NULL;
    return waits ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
}

static void sleep_for(double ns)
{
    const uint64_t until = clock_ns(CLOCK_MONOTONIC) + (uint64_t)ns;
    const struct timespec at = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
        ;
}

/* Pays what is owed, by real waiting; a short rest is carried over unless the chunk is at its end. */
static void pay_waiting(struct exec *exec, bool at_end)
{
    if (exec->waiting_ns < (at_end ? WAIT_MIN_NS / 4 : WAIT_MIN_NS))
        return;
    uint64_t before = clock_ns(CLOCK_MONOTONIC);
    sleep_for(exec->waiting_ns);
    exec->waiting_ns -= (double)(clock_ns(CLOCK_MONOTONIC) - before); /* the oversleep counts for the next time */
}

/* Has the kernel put what so many iterations yield. HDSS_WAIT where it has not got so far. */
static int run_variable(struct exec *exec, uint64_t first, uint64_t count)
{
    struct output *output = &exec->output;
    if (!exec->waiting)
        output_begin(output, first + count);
    int result = exec->config.kernel->run_variable(exec->instance, first, count, &output->calls, exec->error);
    exec->waiting = result == HDSS_WAIT && output->problem[0] == '\0';
    if (output->problem[0] == '\0' && result == 0)
        result = output_end(output);
    if (output->problem[0] != '\0') {
        snprintf(exec->error, sizeof exec->error, "%s", output->problem);
        result = -1;
    }
    if (result < 0)
        output_revert(output);
    return result;
}

static int call_kernel(struct exec *exec, uint64_t first, uint64_t count, void *records)
{
    return exec->variable ? run_variable(exec, first, count)
                          : exec->config.kernel->run(exec->instance, first, count, records, exec->error);
}

/* Runs the kernel; its time, waiting included, is added to compute_ns and to the running piece. The waiting of a slow
 * worker comes in lumps: to a piece it counts evenly. */
static int run_kernel(struct exec *exec, uint64_t first, uint64_t count, void *records, bool at_end)
{
    bool slow = exec->config.slowdown > 1;
    uint64_t began = exec->waiting ? exec->wait_began_ns : clock_ns(CLOCK_MONOTONIC);
    uint64_t before = exec->waiting || !slow ? began : clock_ns(work_clock(exec));
    int result = call_kernel(exec, first, count, records);
    double worked = 0;
    if (result == HDSS_WAIT) {
        exec->wait_began_ns = began;
        return result;
    }
    if (slow) {
        worked = (double)(clock_ns(work_clock(exec)) - before);
        exec->waiting_ns += worked * (exec->config.slowdown - 1);
        pay_waiting(exec, at_end);
    }
    uint64_t ended = clock_ns(CLOCK_MONOTONIC), elapsed = ended - began;
    if (exec->done == 0)
        exec->began_ns = began;
    exec->compute_ns += elapsed;
    if (exec->config.short_runs && count == exec->count)
        look_for_short(exec, began, ended);
    exec->ended_ns = ended;
    exec->piece_ns += slow ? worked * exec->config.slowdown : (double)elapsed;
    return result;
}

/* --- probing --- */

static void run_probe(struct exec *exec, const struct probe *probe, uint64_t k)
{
    uint64_t iteration = probe_iteration(probe, k);
    if (exec->variable)
        output_clear(&exec->output, iteration);
    call_kernel(exec, iteration, 1, exec->variable ? NULL : exec->buffers[0].bytes + EXEC_HEADROOM);
}

/* Runs the next `count` probe iterations; returns the time that this worker needs for them. */
static uint64_t time_probes(struct exec *exec, struct probe *probe, uint64_t count)
{
    const clockid_t clock = work_clock(exec);
    bool each = probe_times_each(probe);
    uint64_t began = clock_ns(clock), last = began;
    for (uint64_t k = probe->done; k < probe->done + count; k++) {
        run_probe(exec, probe, k);
        if (!each)
            continue;
        uint64_t now = clock_ns(clock);
        probe_add_single(probe, k, (double)(now - last) * exec->config.slowdown);
        last = now;
    }
    return (uint64_t)((double)((each ? last : clock_ns(clock)) - began) * exec->config.slowdown);
}

/* Time of one short probe iteration by itself: what is left without the reading of the clock. */
static double time_single(struct exec *exec, const struct probe *probe, uint64_t k)
{
    uint64_t began = clock_ns(CLOCK_MONOTONIC), empty = clock_ns(CLOCK_MONOTONIC);
    run_probe(exec, probe, k);
    double time = (double)(clock_ns(CLOCK_MONOTONIC) - empty) - (double)(empty - began);
    return time > 0 ? time * exec->config.slowdown : 0;
}

/* Short ones by the quicker clock, and the lesser of two times, in case the core was taken away or the cache was cold.
 */
static void time_singles(struct exec *exec, struct probe *probe)
{
    uint64_t singles = probe_wants_singles(probe);
    for (uint64_t k = 0; k < singles; k++) {
        double time = time_single(exec, probe, k);
        double again = time < PROBE_SHORT_NS * exec->config.slowdown ? time_single(exec, probe, k) : time;
        probe_add_single(probe, k, again < time ? again : time);
    }
}

void exec_probe(struct exec *exec, struct speed *speed)
{
    struct probe probe;
    probe_init(&probe, exec->config.probe_first, exec->config.probe_count, exec->config.probe_least);
    /* The first one warms up caches, pages and the core's clock, unless it is so long that this does not matter. */
    uint64_t elapsed = time_probes(exec, &probe, 1);
    if (elapsed >= PROBE_LONG_NS)
        probe_add(&probe, 1, elapsed);
    for (uint64_t count; (count = probe_next(&probe)) > 0;)
        probe_add(&probe, count, time_probes(exec, &probe, count));
    time_singles(exec, &probe);
    probe_finish(&probe, speed);
}

/* --- chunks --- */

static void begin_piece(struct exec *exec)
{
    exec->piece_first = exec->done;
    exec->piece_end = exec->done + spread_piece(exec->count, exec->count - exec->done, exec->iteration_ns);
    exec->piece_ns = 0;
}

static void begin_spread(struct exec *exec)
{
    exec->spread = (struct spread){0};
    begin_piece(exec);
}

/* Where a piece may end: one that turned out too short goes on, a short rest at the end tells more of the clock than of
 * the kernel and is left out. */
static void look_at_piece(struct exec *exec)
{
    if (exec->done < exec->piece_end)
        return;
    bool is_long = exec->piece_ns >= SPREAD_PIECE_NS / 2, last = exec->done == exec->count;
    if (is_long || (last && exec->spread.pieces == 0))
        spread_add(&exec->spread, exec->done - exec->piece_first, exec->piece_ns);
    if (last)
        return;
    if (is_long)
        begin_piece(exec);
    else
        exec->piece_end += spread_piece(exec->count, exec->count - exec->done, exec->iteration_ns);
}

void exec_run(struct exec *exec, uint64_t first, uint64_t count, uint64_t mark)
{
    exec->running = true;
    exec->first = first;
    exec->count = count;
    exec->mark = mark;
    exec->done = exec->sliced = exec->doubtful = 0;
    exec->failed = exec->final = exec->careful.wanted = false;
    exec->sliced_at_ns = 0;
    exec->digest = 0;
    exec->waiting = false;
    exec->compute_ns = exec->config.short_runs ? exec_pause(exec) : 0;
    if (exec->variable)
        output_clear(&exec->output, first);
    if (exec->config.spread)
        begin_spread(exec);
}

void exec_take_care(struct exec *exec)
{
    if (exec->config.kernel->descriptor != NULL)
        return;
    exec->careful.wanted = true;
    exec->began_ns = clock_ns(CLOCK_MONOTONIC);
}

void exec_mark(struct exec *exec, uint64_t mark)
{
    exec->mark = mark;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Iterations for which there is room. Of variable output that is what they took before: more than a slice of it does no
 * harm. */
static uint64_t room(const struct exec *exec)
{
    if (!exec->variable)
        return exec->config.collect ? exec->capacity - (exec->done - exec->sliced) : exec->capacity;
    size_t gathered = output_bytes(&exec->output);
    double fit = gathered < SLICE_MAX ? (double)(SLICE_MAX - gathered) / (exec->iteration_bytes + 1) : 1;
    return fit < 1 ? 1 : fit < 1e18 ? (uint64_t)fit : UINT64_MAX;
}

/* Iterations for this turn: no further than the mark, the buffer and TURN_NS allow. */
static uint64_t turn_size(const struct exec *exec)
{
    uint64_t size = least(exec->count - exec->done, room(exec));
    if (exec->config.kernel->descriptor != NULL) /* what others have done must not wait for one that waits */
        return 1;
    if (exec->mark > exec->done)
        size = least(size, exec->mark - exec->done);
    if (exec->done < exec->doubtful)
        return 1;
    double in_time = exec->iteration_ns > 0 ? TURN_NS / exec->iteration_ns : 1;
    return in_time < 1 ? 1 : in_time < (double)size ? (uint64_t)in_time : size;
}

static void learn(struct exec *exec, uint64_t iterations, uint64_t elapsed_ns)
{
    double time = (double)elapsed_ns / (double)iterations, before = exec->iteration_ns;
    time = time < 0.5 ? 0.5 : time;
    /* Slower is believed at once, faster by a factor at a time, so that one cheap iteration does not make a long turn.
     */
    exec->iteration_ns = before <= 0 || time > before ? time : time < before / 8 ? before / 8 : time;
}

static struct exec_buffer *buffer_in_use(struct exec *exec)
{
    return &exec->buffers[exec->filling];
}

/* The kernel failed at the next `count` iterations. */
static void note_failure(struct exec *exec, uint64_t count)
{
    exec->failed = count == 1;
    exec->final = exec->failed && exec->output.called_failed;
    exec->doubtful = exec->done + count;
}

/* Runs the next `size` iterations, piece by piece where the spread is wanted, until the kernel fails or waits. */
static void run_pieces(struct exec *exec, uint64_t size, unsigned char *records)
{
    for (uint64_t end = exec->done + size; exec->done < end;) {
        uint64_t count = exec->config.spread ? least(end, exec->piece_end) - exec->done : end - exec->done;
        int result = run_kernel(exec, exec->first + exec->done, count, records, exec->done + count == exec->count);
        if (result < 0)
            note_failure(exec, count);
        if (result != 0)
            return;
        exec->done += count;
        if (!exec->variable)
            records += count * exec->record_bytes;
        if (exec->config.spread)
            look_at_piece(exec);
    }
}

/* Where the next records go. */
static unsigned char *next_records(struct exec *exec)
{
    if (exec->variable)
        return NULL;
    uint64_t place = exec->config.collect ? exec->done - exec->sliced : 0;
    return buffer_in_use(exec)->bytes + EXEC_HEADROOM + place * exec->record_bytes;
}

/* Variable output of `count` iterations has been put since there were `before` bytes. Where nothing is collected it has
 * served its purpose with its digest. */
static void look_at_output(struct exec *exec, uint64_t count, size_t before)
{
    double known = exec->iteration_bytes;
    double bytes = count > 0 ? (double)(output_bytes(&exec->output) - before) / (double)count : known;
    exec->iteration_bytes = bytes > known ? bytes : known + (bytes - known) / 8;
    if (!exec->config.collect)
        exec->digest += output_take(&exec->output, output_count(&exec->output), exec->config.loop, NULL);
}

/* Computes one turn's iterations. */
static void compute(struct exec *exec)
{
    uint64_t before = exec->compute_ns, done = exec->done;
    size_t gathered = output_bytes(&exec->output);
    unsigned char *records = next_records(exec);
    run_pieces(exec, turn_size(exec), records);
    if (exec->done == done)
        return;
    if (exec->variable)
        look_at_output(exec, exec->done - done, gathered);
    else
        exec->digest += digest_records(exec->first + done, exec->done - done, records, exec->record_bytes);
    learn(exec, exec->done - done, exec->compute_ns - before);
}

/* Has a child process compute, and takes over what it has done since. */
static void compute_in_child(struct exec *exec)
{
    const struct careful_job job = {
        .kernel = exec->config.kernel,
        .instance = exec->instance,
        .first = exec->first + exec->done,
        .count = exec->variable ? 1 : least(exec->count - exec->done, room(exec)),
        .record_bytes = exec->record_bytes,
        .capacity = exec->capacity,
        .output = exec->variable ? &exec->output : NULL,
        .loop = exec->config.loop,
    };
    size_t gathered = output_bytes(&exec->output);
    unsigned char *records = next_records(exec);
    uint64_t count = careful_turn(&exec->careful, &job, records, &exec->failed, &exec->final, exec->error);
    if (exec->variable)
        look_at_output(exec, count, gathered);
    else
        exec->digest += digest_records(exec->first + exec->done, count, records, exec->record_bytes);
    exec->done += count;
    exec->ended_ns = clock_ns(CLOCK_MONOTONIC);
    exec->compute_ns = exec->ended_ns - exec->began_ns;
}

/* The next part that leaves: its iterations, and their bytes. */
static uint64_t next_part(const struct exec *exec, size_t *bytes)
{
    uint64_t gathered = exec->done - exec->sliced;
    *bytes = gathered * exec->record_bytes;
    return exec->variable && exec->config.collect ? output_fit(&exec->output, bytes) : gathered;
}

/* Makes room for a block of variable output. -1 when memory is out. */
static int reserve(struct exec *exec, struct exec_buffer *buffer, size_t bytes)
{
    if (!exec->variable || !exec->config.collect || bytes <= buffer->room)
        return 0;
    free(buffer->bytes);
    buffer->room = bytes < SLICE_MAX ? SLICE_MAX : bytes;
    buffer->bytes = aligned_alloc(64, (EXEC_HEADROOM + buffer->room + 63) / 64 * 64);
    if (buffer->bytes != NULL)
        return 0;
    buffer->room = 0;
    snprintf(exec->error, sizeof exec->error, "no memory for a block of %zu bytes", bytes);
    return -1;
}

/* Puts the next results that have gathered into the event, and goes on with the other buffer. */
static void hand_over(struct exec *exec, struct event *event, uint64_t count, size_t bytes)
{
    if (exec->config.collect && count > 0) {
        struct exec_buffer *buffer = buffer_in_use(exec);
        event->chunk.data = buffer->bytes + EXEC_HEADROOM;
        event->chunk.bytes = bytes;
        if (exec->variable)
            exec->digest += output_take(&exec->output, count, exec->config.loop, buffer->bytes + EXEC_HEADROOM);
        buffer->sent = true;
        exec->filling = (exec->filling + 1) % EXEC_BUFFERS;
    }
    event->chunk.count = count;
    event->chunk.digest = exec->digest;
    exec->sliced += count;
    exec->sliced_at_ns = exec->compute_ns;
    exec->digest = 0;
}

/* The next `count` iterations, which nobody will have from here. */
static void lose_part(struct exec *exec, struct event *event, uint64_t count)
{
    event->type = EVENT_FAILURE;
    event->text = exec->error;
    event->chunk.count = count;
    output_take(&exec->output, count, exec->config.loop, NULL);
    exec->sliced += count;
}

/* A buffer is full, or the last slice is long ago. */
static bool slice_is_due(const struct exec *exec, uint64_t count, size_t bytes)
{
    bool full = exec->variable ? bytes >= SLICE_MAX || count < exec->done - exec->sliced : count == exec->capacity;
    return (exec->config.collect && full) || exec->compute_ns - exec->sliced_at_ns >= SLICE_NS;
}

static void end_chunk(struct exec *exec, struct event *event)
{
    event->type = EVENT_FINISHED;
    event->chunk.began_ns = exec->began_ns;
    exec->running = false;
    event->chunk.deviation_ns = spread_deviation_ns(&exec->spread);
    event->chunk.samples = exec->spread.pieces < UINT32_MAX ? (uint32_t)exec->spread.pieces : UINT32_MAX;
}

/* The part leaves, and the last one of the chunk ends it. */
static void send_part(struct exec *exec, struct event *event, uint64_t count, size_t bytes)
{
    if (reserve(exec, buffer_in_use(exec), bytes) < 0) {
        lose_part(exec, event, count);
        return;
    }
    hand_over(exec, event, count, bytes);
    event->type = EVENT_SLICE;
    if (exec->sliced == exec->count)
        end_chunk(exec, event);
}

/* Parts go in order. */
static bool event_is_due(struct exec *exec, struct event *event)
{
    size_t bytes;
    uint64_t count = next_part(exec, &bytes);
    if (count > 0 && exec->count * exec->record_bytes <= DIGEST_SOON_BYTES)
        event->now_ns = exec->ended_ns;
    event->chunk.done = exec->done;
    event->chunk.compute_ns = exec->compute_ns;
    if (exec->sliced + count < exec->count && !slice_is_due(exec, count, bytes))
        return false;
    send_part(exec, event, count, bytes);
    return true;
}

static bool mark_is_due(struct exec *exec, struct event *event)
{
    if (!exec->running || exec->mark == 0 || exec->mark != exec->done)
        return false;
    exec->mark = 0;
    *event = (struct event){.type = EVENT_MARK, .chunk = {.done = exec->done, .compute_ns = exec->compute_ns}};
    return true;
}

/* An iteration has failed: what was done before it goes first. */
static void tell_failure(struct exec *exec, struct event *event)
{
    size_t bytes;
    *event = (struct event){.type = EVENT_SLICE, .chunk = {.done = exec->done, .compute_ns = exec->compute_ns}};
    if (exec->done > exec->sliced) {
        uint64_t count = next_part(exec, &bytes);
        send_part(exec, event, count, bytes);
        return;
    }
    event->type = EVENT_FAILURE;
    event->text = exec->error;
    event->chunk.count = 1;
    event->chunk.final = exec->final;
    exec->failed = exec->final = false;
    exec->sliced = ++exec->done;
    if (exec->variable)
        output_clear(&exec->output, exec->first + exec->done);
}

/* More of variable output has gathered than could leave at once. */
static bool lags(const struct exec *exec)
{
    return exec->variable && exec->config.collect && output_bytes(&exec->output) >= SLICE_MAX;
}

/* What was done before leaves all the same, when it is time; not where the one that waits has put something already. */
static enum turn wait_turn(struct exec *exec, struct event *event)
{
    size_t bytes;
    uint64_t ready = exec->done - exec->sliced;
    bool is_mixed = exec->config.collect && output_count(&exec->output) > ready;
    if (ready == 0 || is_mixed || clock_ns(CLOCK_MONOTONIC) - exec->wait_began_ns < SLICE_NS)
        return TURN_BLOCKED;
    uint64_t count = next_part(exec, &bytes);
    event->chunk.done = exec->done;
    event->chunk.compute_ns = exec->compute_ns;
    send_part(exec, event, count, bytes);
    if (exec->config.collect)
        output_begin(&exec->output, exec->first + exec->done + 1); /* the one that waits goes on */
    return TURN_EVENT;
}

static enum turn advance_once(struct exec *exec, struct event *event)
{
    if (mark_is_due(exec, event)) /* reached together with a slice, which went first */
        return TURN_EVENT;
    if (!exec->running || buffer_in_use(exec)->sent)
        return TURN_BLOCKED;
    if (!exec->failed && exec->done < exec->count && (exec->waiting || !lags(exec)))
        (exec->careful.wanted ? compute_in_child : compute)(exec);
    if (exec->failed) {
        tell_failure(exec, event);
        return TURN_EVENT;
    }
    if (exec->waiting)
        return wait_turn(exec, event);
    return event_is_due(exec, event) || mark_is_due(exec, event) ? TURN_EVENT : TURN_WORKED;
}

/* What a kernel waits for next is begun before anything else is looked at: it runs beside that. */
enum turn exec_advance(struct exec *exec, struct event *event)
{
    enum turn turn = advance_once(exec, event);
    if (turn != TURN_WORKED || exec->config.kernel->descriptor == NULL)
        return turn;
    enum turn next = advance_once(exec, event);
    return next == TURN_BLOCKED ? TURN_WORKED : next;
}

void exec_sent(struct exec *exec, const void *data)
{
    for (unsigned i = 0; i < EXEC_BUFFERS; i++)
        if (exec->buffers[i].bytes != NULL && exec->buffers[i].bytes + EXEC_HEADROOM == data)
            exec->buffers[i].sent = false;
}
