/* SPDX-License-Identifier: MIT */
/* Chunks that depend on one another: whatever the chunks, the points, the workers and the order in which boundary data
 * come, the result is that of the serial loop; nothing is computed before what it needs is there; boundary data are
 * told at the points, and parts of results leave whole and are not touched before they are through. The same where
 * helpers run the kernel, whichever of them die, and whenever; a row that kills them is given up, and named. Here a
 * helper is a copy of the test. */
#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/util/digest.h"
#include "common/util/random.h"
#include "hdss/kernel.h"
#include "proto/record.h"
#include "tests/lib/suite.h"
#include "tests/unit/exec/probing.h"
#include "worker/exec/helper.h"
#include "worker/exec/pipeline.h"
#include "worker/exec/serve.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- a kernel whose element (i, s) needs (i - distance, up to s + reach) and (i, s - 1) --- */

enum { SYNC_MAX = 300, ROWS_MAX = 120, DISTANCE_MAX = 3 };

static struct hdss_loop loop;
static uint64_t fail_at; /* row at which the kernel fails */
static uint32_t expected[ROWS_MAX][SYNC_MAX];

/* Shared with helpers. */
static struct shared {
    _Atomic int deaths[ROWS_MAX]; /* so often the row kills its helper */
    _Atomic uint64_t hold_at;     /* the row that waits until it is UINT64_MAX */
    _Atomic uint64_t helpers;
} * shared;

/* What a helper has of the chunk: it is lost with the process. */
static struct {
    bool is_one;
    uint64_t first, at;
} helper;

static uint32_t combine(uint32_t above, uint32_t left, uint64_t row, uint64_t s)
{
    return (above * 2654435761u ^ left * 40503u) + (uint32_t)(row * 977 + s);
}

/* The farthest element of the row above that is needed. */
static uint64_t farthest(uint64_t s)
{
    return s + loop.reach < loop.sync ? s + loop.reach : loop.sync - 1;
}

static void compute_serially(uint64_t rows)
{
    for (uint64_t i = 0; i < rows; i++)
        for (uint64_t s = 0; s < loop.sync; s++)
            expected[i][s] = combine(i >= loop.distance ? expected[i - loop.distance][farthest(s)] : 0,
                                     s > 0 ? expected[i][s - 1] : 0, i, s);
}

/* In a helper. */
static void be_deadly(uint64_t row)
{
    int left = atomic_load(&shared->deaths[row]);
    while (atomic_load(&shared->hold_at) == row)
        sched_yield();
    while (left > 0 && !atomic_compare_exchange_weak(&shared->deaths[row], &left, left - 1))
        ;
    if (left > 0)
        kill(getpid(), SIGKILL);
}

/* Boundary data are, of each element, that of the last `distance` rows of the chunk. */
static int run_block(void *instance, const struct hdss_block *block, char error[HDSS_ERROR_MAX])
{
    (void)instance;
    const uint32_t(*before)[DISTANCE_MAX] = block->before;
    uint32_t(*after)[DISTANCE_MAX] = block->after, *records = block->records;
    if (fail_at >= block->first && fail_at < block->first + block->count) {
        snprintf(error, HDSS_ERROR_MAX, "cannot do %llu", (unsigned long long)fail_at);
        return -1;
    }
    if (helper.is_one && block->from > 0 && (helper.first != block->first || helper.at != block->from)) {
        snprintf(error, HDSS_ERROR_MAX, "goes on in the middle of a chunk");
        return -1;
    }
    for (uint64_t i = 0; i < block->count; i++)
        for (uint64_t s = hdss_block_begin(block, i); s < hdss_block_end(block, i); s++) {
            uint32_t above = 0;
            if (helper.is_one && s == loop.sync / 2)
                be_deadly(block->first + i);
            if (i >= loop.distance)
                above = records[(i - loop.distance) * loop.sync + farthest(s)];
            else if (before != NULL)
                above = before[farthest(s)][i];
            uint32_t value = combine(above, s > 0 ? records[i * loop.sync + s - 1] : 0, block->first + i, s);
            records[i * loop.sync + s] = value;
            if (i + loop.distance >= block->count)
                after[s][i + loop.distance - block->count] = value;
        }
    helper.first = block->first;
    helper.at = block->to;
    return 0;
}

static int open_kernel(const union hdss_value *values, const struct hdss_loop *described,
                       const struct hdss_worker *worker, void **instance, char error[HDSS_ERROR_MAX])
{
    (void)values, (void)described, (void)worker, (void)instance, (void)error;
    return 0;
}

static const struct hdss_kernel fake = {
    .abi = HDSS_KERNEL_ABI, .name = "fake", .open = open_kernel, .run_block = run_block};

static void describe(uint64_t rows, uint64_t sync, uint64_t distance, uint64_t reach)
{
    loop = (struct hdss_loop){.iterations = rows,
                              .type = HDSS_UINT32,
                              .record_length = sync,
                              .dims = 2,
                              .shape = {rows, sync},
                              .sync = sync,
                              .distance = distance,
                              .reach = reach,
                              .boundary_bytes = DISTANCE_MAX * sizeof(uint32_t)};
    fail_at = UINT64_MAX;
    compute_serially(rows);
}

/* --- workers --- */

enum { WORKERS_MAX = 4, CHUNKS_MAX = ROWS_MAX };

struct chunk {
    uint64_t first, count;
    unsigned worker;
    const unsigned char *ready; /* its boundary data, as far as they were told */
    uint64_t told, sent;
    bool over;
};

static struct {
    struct pipeline pipeline[WORKERS_MAX];
    struct chunk chunk[CHUNKS_MAX];
    unsigned workers, chunks;
    unsigned next[WORKERS_MAX]; /* the chunk that it begins next */
    bool runs[WORKERS_MAX];
    const void *on_way[WORKERS_MAX][8];
    unsigned on_way_count[WORKERS_MAX];
    uint64_t digest, received[ROWS_MAX], ready_events, failures;
    struct random random;
} run;

static unsigned draw(unsigned most)
{
    return (unsigned)random_between(&run.random, 0, most);
}

static const struct helper_start *helper_starts; /* [WORKERS_MAX]; NULL: the kernel runs in the test itself */

enum { RETRIES = 2 };

static uint64_t limit_ns; /* of a row; 0: none */

static void open_workers(unsigned workers, uint64_t points, bool collect)
{
    run.workers = workers;
    for (unsigned w = 0; w < workers; w++) {
        const struct pipeline_config config = {
            .exec = {.kernel = &fake,
                     .loop = &loop,
                     .collect = collect,
                     .slowdown = 1,
                     .probe_count = loop.iterations,
                     .probe_least = 1,
                     .retries = RETRIES,
                     .limit_ns = limit_ns,
                     .helper = helper_starts != NULL ? &helper_starts[w] : NULL},
            .points = points,
            .end = loop.iterations,
        };
        ck_assert_int_eq(pipeline_init(&run.pipeline[w], &config), 0);
    }
}

static pid_t begin_helper(void *pipeline, int file, int bell, char error[HDSS_ERROR_MAX])
{
    pid_t child = fork();
    (void)error;
    if (child != 0)
        return child;
    helper.is_one = true;
    atomic_fetch_add(&shared->helpers, 1);
    serve(((struct pipeline *)pipeline)->exec.remote.helper.channel, file, bell,
          &(struct exec_config){.kernel = &fake, .loop = &loop, .probe_count = loop.iterations, .probe_least = 1},
          NULL);
    _exit(0);
}

/* From now on helpers run the kernel. */
static void use_helpers(void)
{
    static struct helper_start starts[WORKERS_MAX];
    for (unsigned w = 0; w < WORKERS_MAX; w++)
        starts[w] = (struct helper_start){begin_helper, &run.pipeline[w]};
    helper_starts = starts;
    if (shared == NULL)
        shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(shared, MAP_FAILED);
    memset(shared, 0, sizeof *shared);
    shared->hold_at = UINT64_MAX;
}

static void close_workers(void)
{
    for (unsigned w = 0; w < run.workers; w++)
        executor_fini(&run.pipeline[w].executor);
}

/* Chunks of up to `most` rows in ascending order, each for a worker of its own choice. */
static void cut(uint64_t most)
{
    run.chunks = 0;
    for (uint64_t first = 0; first < loop.iterations;) {
        uint64_t left = loop.iterations - first, count = loop.distance + draw((unsigned)(most - loop.distance));
        count = left < count + loop.distance ? left : count;
        run.chunk[run.chunks++] = (struct chunk){.first = first, .count = count, .worker = draw(run.workers - 1)};
        first += count;
    }
}

static unsigned next_of(unsigned w, unsigned from)
{
    while (from < run.chunks && run.chunk[from].worker != w)
        from++;
    return from;
}

static struct chunk *chunk_at(uint64_t first)
{
    for (unsigned c = 0; c < run.chunks; c++)
        if (run.chunk[c].first == first)
            return &run.chunk[c];
    return NULL;
}

static struct chunk *running_of(unsigned w)
{
    return &run.chunk[run.next[w]];
}

/* Takes what an event tells, and compares it with the serial loop. */
static void take_results(const struct chunk *chunk, uint64_t sliced, const struct event *event)
{
    const uint32_t *records = event->chunk.data;
    run.digest += event->chunk.digest;
    for (uint64_t i = 0; i < event->chunk.count; i++) {
        uint64_t row = chunk->first + sliced + i;
        run.received[row]++;
        if (records != NULL)
            ck_assert_msg(memcmp(records + i * loop.sync, expected[row], loop.sync * sizeof *records) == 0, "row %llu",
                          (unsigned long long)row);
    }
}

static uint64_t sliced_of[WORKERS_MAX];

static void begin_next(unsigned w)
{
    if (run.runs[w] || run.next[w] >= run.chunks)
        return;
    struct chunk *chunk = running_of(w), *before = chunk == run.chunk ? NULL : chunk - 1;
    if (before != NULL && before->worker == w) {
        ck_assert(before->over); /* a worker computes its chunks in their order */
        executor_reuse(&run.pipeline[w].executor, chunk->first);
    }
    executor_begin(&run.pipeline[w].executor, chunk->first, chunk->count, 0, false);
    run.runs[w] = true;
    sliced_of[w] = 0;
}

static void take_event(unsigned w, const struct event *event)
{
    struct chunk *chunk = running_of(w);
    switch (event->type) {
    case EVENT_BOUNDARY_READY:
        ck_assert_uint_eq(event->ready.boundary_at, chunk->first + chunk->count);
        ck_assert_uint_gt(event->ready.bytes, chunk->told);
        ck_assert(chunk->ready == NULL || chunk->ready == event->ready.data);
        chunk->ready = event->ready.data;
        chunk->told = event->ready.bytes;
        run.ready_events++;
        return;
    case EVENT_SLICE:
    case EVENT_FINISHED:
        take_results(chunk, sliced_of[w], event);
        sliced_of[w] += event->chunk.count;
        if (event->chunk.data != NULL)
            run.on_way[w][run.on_way_count[w]++] = event->chunk.data;
        if (event->type == EVENT_SLICE)
            return;
        ck_assert_uint_eq(sliced_of[w], chunk->count);
        ck_assert(chunk->first + chunk->count == loop.iterations || chunk->told == loop.sync * loop.boundary_bytes);
        chunk->over = true;
        run.runs[w] = false;
        run.next[w] = next_of(w, run.next[w] + 1);
        return;
    case EVENT_ITERATIONS_FAILED: /* it is tried again */
        ck_assert(helper_starts != NULL && event->chunk.died && !event->chunk.final);
        ck_assert_uint_ge(event->chunk.first, chunk->first);
        ck_assert_uint_le(event->chunk.first + event->chunk.count, chunk->first + chunk->count);
        ck_assert_str_eq(event->text, "killed the child process: signal 9 (Killed)");
        run.failures++;
        return;
    default: ck_abort_msg("event %d: %s", event->type, event->text);
    }
}

/* Brings some of the boundary data that were told to where they are needed, now and then as a data message. */
static void bring_some(struct chunk *chunk)
{
    struct chunk *next = chunk_at(chunk->first + chunk->count);
    if (next == NULL || next->worker == chunk->worker || chunk->told == chunk->sent)
        return;
    struct pipeline *pipeline = &run.pipeline[next->worker];
    uint64_t bytes = 1 + (uint64_t)draw((unsigned)(chunk->told - chunk->sent) - 1), offset = chunk->sent;
    if (draw(1) > 0) {
        executor_take_boundary(&pipeline->executor, next->first, offset, chunk->ready + offset, bytes);
    } else {
        void *room = executor_await_boundary(&pipeline->executor, next->first, offset, bytes);
        ck_assert_ptr_nonnull(room);
        memcpy(room, chunk->ready + offset, bytes);
        executor_boundary_came(&pipeline->executor, next->first, offset, bytes);
    }
    chunk->sent += bytes;
    if (chunk->sent == loop.sync * loop.boundary_bytes && chunk->over)
        executor_release(&run.pipeline[chunk->worker].executor, next->first);
}

static void bring_through(unsigned w)
{
    if (run.on_way_count[w] == 0)
        return;
    executor_sent(&run.pipeline[w].executor, run.on_way[w][0]);
    memmove(run.on_way[w], run.on_way[w] + 1, --run.on_way_count[w] * sizeof *run.on_way[w]);
}

static bool is_over(void)
{
    for (unsigned c = 0; c < run.chunks; c++)
        if (!run.chunk[c].over)
            return false;
    return true;
}

static void run_all(uint64_t seed)
{
    for (unsigned w = 0; w < run.workers; w++)
        run.next[w] = next_of(w, 0);
    for (unsigned turns = 0; !is_over(); turns++) {
        struct event event;
        unsigned w = draw(run.workers - 1), c = draw(run.chunks - 1);
        ck_assert_msg(turns < 10000000, "seed %llu stands still", (unsigned long long)seed);
        begin_next(w);
        enum turn turn = executor_advance(&run.pipeline[w].executor, &event);
        if (turn == TURN_EVENT)
            take_event(w, &event);
        else if (turn == TURN_BLOCKED && run.pipeline[w].exec.remote.posted)
            sched_yield();
        bring_some(&run.chunk[c]);
        if (draw(3) == 0 || run.on_way_count[w] == 8)
            bring_through(w);
    }
    for (uint64_t row = 0; row < loop.iterations; row++)
        ck_assert_uint_eq(run.received[row], 1);
}

/* With helpers one row of `deadly`, far enough apart, kills them, as often as it may; 0: none does. */
static void run_seed(uint64_t seed, unsigned deadly)
{
    memset(&run, 0, sizeof run);
    random_init(&run.random, seed);
    uint64_t distance = 1 + draw(DISTANCE_MAX - 1), sync = 1 + draw(SYNC_MAX - 1);
    uint64_t rows = distance + draw(ROWS_MAX - DISTANCE_MAX), reach = draw(3) < sync ? draw(3) % (sync + 1) : 0;
    describe(rows, sync, distance, reach);
    if (deadly > 0)
        use_helpers();
    for (uint64_t row = 0; row < rows && deadly > 0; row += 2 * distance) /* a piece has one of them */
        shared->deaths[row] = draw(deadly - 1) > 0 ? 0 : (int)draw(RETRIES);
    open_workers(1 + draw(WORKERS_MAX - 1), 1 + draw((unsigned)sync - 1), draw(1) > 0);
    cut(distance + draw(30));
    run_all(seed);
    uint64_t digest = 0;
    for (uint64_t row = 0; row < rows; row++)
        digest += digest_records(row, 1, expected[row], sync * sizeof expected[0][0]);
    ck_assert_msg(run.digest == digest, "seed %llu", (unsigned long long)seed);
    close_workers();
}

START_TEST(any_chunks_on_any_workers_equal_the_serial_loop)
{
    for (uint64_t seed = 1; seed <= 400; seed++)
        run_seed(seed, 0);
}
END_TEST

START_TEST(chunks_in_helpers_that_die_equal_the_serial_loop)
{
    uint64_t failures = 0, helpers = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        run_seed(seed, 6);
        failures += run.failures;
        helpers += shared->helpers;
    }
    ck_assert_uint_gt(failures, 20);
    ck_assert_uint_gt(helpers, 100);
}
END_TEST

/* --- one worker --- */

static void open_one(uint64_t points)
{
    memset(&run, 0, sizeof run);
    open_workers(1, points, false);
}

/* The events of a chunk up to its end; the boundary data are told in `told`. */
static unsigned count_ready(uint64_t told[SYNC_MAX])
{
    struct event event;
    unsigned ready_events = 0;
    for (enum turn turn; (turn = executor_advance(&run.pipeline[0].executor, &event)) != TURN_BLOCKED;) {
        if (turn != TURN_EVENT)
            continue;
        if (event.type == EVENT_FINISHED)
            return ready_events;
        if (event.type == EVENT_BOUNDARY_READY)
            told[ready_events++] = event.ready.bytes / loop.boundary_bytes;
    }
    ck_abort_msg("the chunk did not end");
    return 0;
}

/* As many messages as there are points, whatever the chunk: its last row is behind the first, and so the points of the
 * first row are no points of the last. */
START_TEST(boundary_data_are_told_once_for_each_point)
{
    const uint64_t points[] = {1, 3, 10, 100};
    uint64_t told[SYNC_MAX];
    for (unsigned i = 0; i < 4; i++) {
        describe(40, 100, 1, 1);
        open_one(points[i]);
        executor_begin(&run.pipeline[0].executor, 0, 1, 0, false);
        ck_assert_uint_eq(count_ready(told), points[i]);
        for (unsigned k = 0; k < points[i]; k++)
            ck_assert_uint_eq(told[k], k + 1 < points[i] ? (k + 1) * ((100 + points[i] - 1) / points[i]) : 100);
        executor_reuse(&run.pipeline[0].executor, 1);
        executor_begin(&run.pipeline[0].executor, 1, 20, 0, false);
        unsigned ready_events = count_ready(told);
        ck_assert_uint_le(ready_events, points[i] + 1);
        ck_assert_uint_ge(ready_events, points[i]);
        ck_assert_uint_eq(told[ready_events - 1], 100);
        close_workers();
    }
}
END_TEST

START_TEST(nothing_is_computed_before_its_data_are_there)
{
    struct event event;
    uint32_t zeros[100 * DISTANCE_MAX] = {0};
    describe(40, 100, 1, 2);
    open_one(10);
    struct pipeline *pipeline = &run.pipeline[0];
    executor_begin(&pipeline->executor, 10, 5, 0, false);
    ck_assert_int_eq(executor_advance(&pipeline->executor, &event), TURN_BLOCKED);
    executor_take_boundary(&pipeline->executor, 10, 0, zeros,
                           2 * loop.boundary_bytes); /* of two elements, as far as the reach */
    ck_assert_int_eq(executor_advance(&pipeline->executor, &event), TURN_BLOCKED);
    executor_take_boundary(&pipeline->executor, 10, 2 * loop.boundary_bytes, zeros, 3 * loop.boundary_bytes);
    ck_assert_int_eq(executor_advance(&pipeline->executor, &event), TURN_WORKED);
    ck_assert_uint_eq(pipeline->chunk.from, 3);
    ck_assert_int_eq(executor_advance(&pipeline->executor, &event), TURN_BLOCKED);
    /* What comes behind a message that is on its way waits for it. */
    ck_assert_ptr_nonnull(
        executor_await_boundary(&pipeline->executor, 10, 5 * loop.boundary_bytes, 10 * loop.boundary_bytes));
    executor_take_boundary(&pipeline->executor, 10, 15 * loop.boundary_bytes, zeros, 85 * loop.boundary_bytes);
    ck_assert_int_eq(executor_advance(&pipeline->executor, &event), TURN_BLOCKED);
    executor_boundary_came(&pipeline->executor, 10, 5 * loop.boundary_bytes, 10 * loop.boundary_bytes);
    ck_assert_int_ne(executor_advance(&pipeline->executor, &event), TURN_BLOCKED);
    close_workers();
}
END_TEST

START_TEST(a_mark_is_reached_by_the_work_that_is_done)
{
    struct event event;
    describe(100, 100, 1, 1);
    open_one(100);
    struct pipeline *pipeline = &run.pipeline[0];
    executor_begin(&pipeline->executor, 0, 50, 25, false);
    enum turn turn;
    do
        turn = executor_advance(&pipeline->executor, &event);
    while (turn == TURN_WORKED || (turn == TURN_EVENT && event.type != EVENT_MARK && event.type != EVENT_FINISHED));
    ck_assert(turn == TURN_EVENT && event.type == EVENT_MARK);
    ck_assert_uint_ge(event.chunk.done, 25);
    ck_assert_uint_le(event.chunk.done, 27);
    /* Half of the elements are done: the first row is at 74 of 100, the last one at 25. */
    ck_assert_uint_ge(pipeline->chunk.from, 74);
    ck_assert_uint_le(pipeline->chunk.from, 77);
    close_workers();
}
END_TEST

START_TEST(a_kernel_that_fails_is_a_problem_said_once)
{
    struct event event;
    describe(40, 100, 1, 1);
    fail_at = 3;
    open_one(10);
    executor_begin(&run.pipeline[0].executor, 0, 5, 0, false);
    ck_assert_int_eq(executor_advance(&run.pipeline[0].executor, &event), TURN_EVENT);
    ck_assert_int_eq(event.type, EVENT_FATAL);
    ck_assert_str_eq(event.text, "cannot do 3");
    ck_assert_int_eq(executor_advance(&run.pipeline[0].executor, &event), TURN_BLOCKED);
    close_workers();
}
END_TEST

/* The probe runs single rows, and leaves nothing behind. */
START_TEST(rows_are_probed)
{
    struct speed speed;
    uint64_t told[SYNC_MAX];
    describe(100, 300, 1, 1);
    open_one(3);
    executor_probe(&run.pipeline[0].executor, &speed);
    ck_assert_double_gt(speed.mean_ns, 0);
    executor_begin(&run.pipeline[0].executor, 0, 100, 0, false);
    count_ready(told);
    ck_assert_uint_eq(run.pipeline[0].halo_count, 0);
    close_workers();
}
END_TEST

/* --- one worker, with a helper --- */

static struct pipeline *open_with_helper(uint64_t rows, uint64_t distance, bool collect)
{
    limit_ns = 0;
    describe(rows, 100, distance, 1);
    memset(&run, 0, sizeof run);
    use_helpers();
    open_workers(1, 10, collect);
    return &run.pipeline[0];
}

/* Turns until there is an event, asleep where the executor is blocked. */
static struct event next_event(struct pipeline *pipeline)
{
    struct pollfd news = {.fd = executor_descriptor(&pipeline->executor), .events = POLLIN};
    struct event event = {0};
    for (enum turn turn; (turn = executor_advance(&pipeline->executor, &event)) != TURN_EVENT;)
        if (turn == TURN_BLOCKED && poll(&news, 1, limit_ns > 0 ? 20 : 20000) != 1)
            ck_assert_uint_gt(limit_ns, 0);
    return event;
}

static struct event next_but_boundaries(struct pipeline *pipeline)
{
    struct event event;
    do
        event = next_event(pipeline);
    while (event.type == EVENT_BOUNDARY_READY);
    return event;
}

/* The next event, by which the row has killed its helper and is tried again. */
static struct event next_death(struct pipeline *pipeline, uint64_t row)
{
    const struct event death = next_but_boundaries(pipeline);
    ck_assert(death.type == EVENT_ITERATIONS_FAILED && death.chunk.died && !death.chunk.final);
    ck_assert_uint_eq(death.chunk.first, row);
    ck_assert_uint_eq(death.chunk.count, 1);
    return death;
}

/* Nothing needs the last row: the chunk ends without it. */
START_TEST(the_last_row_is_given_up_by_itself)
{
    for (uint64_t distance = 1; distance <= 3; distance++) {
        struct pipeline *pipeline = open_with_helper(40, distance, true);
        shared->deaths[39] = 1000;
        executor_begin(&pipeline->executor, 0, 40, 0, false);
        for (unsigned tries = 0; tries < RETRIES; tries++)
            next_death(pipeline, 39);
        const struct event slice = next_but_boundaries(pipeline);
        ck_assert_int_eq(slice.type, EVENT_SLICE);
        ck_assert_uint_eq(slice.chunk.count, 39);
        ck_assert_int_eq(memcmp(slice.chunk.data, expected[0], 100 * sizeof expected[0][0]), 0);
        for (unsigned row = 0; row < 39; row++)
            ck_assert_int_eq(
                memcmp((const uint32_t *)slice.chunk.data + 100 * row, expected[row], 100 * sizeof expected[0][0]), 0);
        const struct event failure = next_but_boundaries(pipeline);
        ck_assert(failure.type == EVENT_ITERATIONS_FAILED && failure.chunk.died && failure.chunk.final);
        ck_assert_uint_eq(failure.chunk.first, 39);
        const struct event finished = next_but_boundaries(pipeline);
        ck_assert_int_eq(finished.type, EVENT_FINISHED);
        ck_assert_uint_eq(finished.chunk.count, 0);
        ck_assert_ptr_null(finished.chunk.data);
        ck_assert_int_eq(executor_advance(&pipeline->executor, &(struct event){0}), TURN_BLOCKED);
        executor_sent(&pipeline->executor, slice.chunk.data);
        close_workers();
    }
}
END_TEST

/* Its boundary data are on their way, to this chunk. */
START_TEST(a_chunk_that_is_given_up_ends_when_its_data_have_come)
{
    struct pipeline *pipeline = open_with_helper(40, 1, false);
    uint32_t zeros[100 * DISTANCE_MAX] = {0};
    struct event event;
    shared->deaths[39] = 1000;
    executor_begin(&pipeline->executor, 39, 1, 0, false);
    executor_take_boundary(&pipeline->executor, 39, 0, zeros, 60 * loop.boundary_bytes);
    do
        event = next_event(pipeline);
    while (!event.chunk.final);
    ck_assert_int_eq(executor_advance(&pipeline->executor, &event), TURN_BLOCKED);
    executor_take_boundary(&pipeline->executor, 39, 60 * loop.boundary_bytes, zeros, 40 * loop.boundary_bytes);
    ck_assert_int_eq(next_event(pipeline).type, EVENT_FINISHED);
    ck_assert_uint_eq(pipeline->halo_count, 0);
    close_workers();
}
END_TEST

START_TEST(a_row_that_others_need_ends_the_loop)
{
    struct pipeline *pipeline = open_with_helper(40, 1, false);
    shared->deaths[7] = 1000;
    executor_begin(&pipeline->executor, 0, 20, 0, false);
    for (unsigned tries = 0; tries < RETRIES; tries++)
        ck_assert(!next_but_boundaries(pipeline).chunk.final);
    ck_assert_uint_eq(next_but_boundaries(pipeline).chunk.count, 7);
    const struct event failure = next_but_boundaries(pipeline);
    ck_assert(failure.type == EVENT_ITERATIONS_FAILED && failure.chunk.final);
    ck_assert_uint_eq(failure.chunk.first, 7);
    const struct event fatal = next_but_boundaries(pipeline);
    ck_assert_int_eq(fatal.type, EVENT_FATAL);
    ck_assert_str_eq(fatal.text, "iteration 7 killed the child process: signal 9 (Killed): given up, and what depends "
                                 "on it cannot be computed");
    ck_assert_int_eq(executor_advance(&pipeline->executor, &(struct event){0}), TURN_BLOCKED);
    ck_assert_uint_eq(shared->helpers, 2 + RETRIES); /* the first is for all rows of the chunk, and blames none */
    close_workers();
}
END_TEST

START_TEST(a_kernel_that_fails_in_a_helper_is_a_problem_said_once)
{
    fail_at = UINT64_MAX;
    describe(40, 100, 1, 1);
    fail_at = 3;
    memset(&run, 0, sizeof run);
    use_helpers();
    open_workers(1, 10, false);
    executor_begin(&run.pipeline[0].executor, 0, 5, 0, false);
    const struct event event = next_event(&run.pipeline[0]);
    ck_assert_int_eq(event.type, EVENT_FATAL);
    ck_assert_str_eq(event.text, "cannot do 3");
    ck_assert_int_eq(executor_advance(&run.pipeline[0].executor, &(struct event){0}), TURN_BLOCKED);
    ck_assert_uint_eq(shared->helpers, 1);
    close_workers();
}
END_TEST

static struct pipeline *open_with_limit(uint64_t rows, uint64_t limit)
{
    struct pipeline *pipeline = open_with_helper(rows, 1, true);
    close_workers();
    limit_ns = limit;
    open_workers(1, 10, true);
    return pipeline;
}

static void assert_finishes(struct pipeline *pipeline, uint64_t rows)
{
    const struct event event = next_but_boundaries(pipeline);
    ck_assert_int_eq(event.type, EVENT_FINISHED);
    ck_assert_uint_eq(event.chunk.count, rows);
    for (unsigned row = 0; row < rows; row++)
        ck_assert_int_eq(
            memcmp((const uint32_t *)event.chunk.data + 100 * row, expected[row], 100 * sizeof expected[0][0]), 0);
    executor_sent(&pipeline->executor, event.chunk.data);
    close_workers();
}

/* The first time it hangs with others, none of which is blamed. */
START_TEST(a_row_that_hangs_counts_as_one_that_kills)
{
    struct pipeline *pipeline = open_with_limit(20, 200000000);
    const uint64_t before = shared->helpers;
    shared->hold_at = 7;
    executor_begin(&pipeline->executor, 0, 20, 0, false);
    for (unsigned tries = 0; tries < RETRIES; tries++) {
        const struct event death = next_death(pipeline, 7);
        ck_assert_str_eq(death.text, "ran for longer than 0.2 s (--iteration-timeout)");
    }
    shared->hold_at = UINT64_MAX;
    assert_finishes(pipeline, 20);
    ck_assert_uint_eq(shared->helpers, before + 1 + RETRIES);
}
END_TEST

/* What the kernel had of the chunk is gone with the helper. */
START_TEST(a_helper_that_is_killed_between_steps_is_replaced)
{
    struct pipeline *pipeline = open_with_helper(40, 1, true);
    executor_begin(&pipeline->executor, 10, 20, 0, false);
    compute_serially(40);
    uint32_t seam[SYNC_MAX][DISTANCE_MAX];
    memset(seam, 0, sizeof seam);
    for (unsigned s = 0; s < 100; s++)
        seam[s][0] = expected[9][s];
    executor_take_boundary(&pipeline->executor, 10, 0, seam, 30 * loop.boundary_bytes);
    struct event event;
    while (pipeline->chunk.from < 29 || pipeline->exec.remote.posted)
        executor_advance(&pipeline->executor, &event);
    kill(pipeline->exec.remote.helper.pid, SIGKILL);
    struct pollfd news = {.fd = executor_descriptor(&pipeline->executor), .events = POLLIN};
    executor_advance(&pipeline->executor, &event);
    ck_assert_int_eq(poll(&news, 1, 20000), 1);
    executor_take_boundary(&pipeline->executor, 10, 30 * loop.boundary_bytes, &seam[30], 70 * loop.boundary_bytes);
    event = next_but_boundaries(pipeline);
    ck_assert_int_eq(event.type, EVENT_FINISHED);
    for (unsigned row = 0; row < 20; row++)
        ck_assert_int_eq(
            memcmp((const uint32_t *)event.chunk.data + 100 * row, expected[10 + row], 100 * sizeof expected[0][0]), 0);
    executor_sent(&pipeline->executor, event.chunk.data);
    close_workers();
}
END_TEST

START_TEST(a_probe_in_a_helper_leaves_out_what_kills)
{
    struct speed speed;
    struct pipeline *pipeline = open_with_helper(100, 1, false);
    shared->deaths[50] = 1000;
    probe_whole(&pipeline->executor, &speed);
    ck_assert_double_gt(speed.mean_ns, 0);
    close_workers();
}
END_TEST

/* Its worker looks at messages meanwhile, and ends it where nobody wants it any more. */
START_TEST(a_probe_in_a_helper_is_ended)
{
    struct speed speed;
    struct event event = {0};
    struct pipeline *pipeline = open_with_helper(100, 1, false);
    shared->hold_at = 50;
    ck_assert(!executor_probe(&pipeline->executor, &speed));
    while (pipeline->exec.remote.helper.channel->probing != 51) {
        ck_assert_int_eq(executor_advance(&pipeline->executor, &event), TURN_BLOCKED);
        ck_assert(pipeline->executor.is_away);
    }
    ck_assert_uint_eq(executor_end(&pipeline->executor).count, 0);
    await_probe(&pipeline->executor, &speed);
    ck_assert(!pipeline->executor.is_away);
    ck_assert_uint_eq(speed.levels, 1); /* nothing is known */
    close_workers();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pipeline");
    TCase *tcase = tcase_create("pipeline");
    tcase_add_test(tcase, any_chunks_on_any_workers_equal_the_serial_loop);
    tcase_add_test(tcase, boundary_data_are_told_once_for_each_point);
    tcase_add_test(tcase, nothing_is_computed_before_its_data_are_there);
    tcase_add_test(tcase, a_mark_is_reached_by_the_work_that_is_done);
    tcase_add_test(tcase, a_kernel_that_fails_is_a_problem_said_once);
    tcase_add_test(tcase, rows_are_probed);
    tcase_add_test(tcase, chunks_in_helpers_that_die_equal_the_serial_loop);
    tcase_add_test(tcase, the_last_row_is_given_up_by_itself);
    tcase_add_test(tcase, a_chunk_that_is_given_up_ends_when_its_data_have_come);
    tcase_add_test(tcase, a_row_that_others_need_ends_the_loop);
    tcase_add_test(tcase, a_kernel_that_fails_in_a_helper_is_a_problem_said_once);
    tcase_add_test(tcase, a_row_that_hangs_counts_as_one_that_kills);
    tcase_add_test(tcase, a_helper_that_is_killed_between_steps_is_replaced);
    tcase_add_test(tcase, a_probe_in_a_helper_leaves_out_what_kills);
    tcase_add_test(tcase, a_probe_in_a_helper_is_ended);
    tcase_set_timeout(tcase, 120);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
