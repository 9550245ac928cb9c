/* SPDX-License-Identifier: MIT */
/* The same loop by each executor: chunks of any length leave whole, in order and with the same digests, marks are told
 * where they are set, and data that are given up stay as they are. Besides, the checks of all executors notice planted
 * defects. */
#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/sched/sched.h"
#include "common/util/digest.h"
#include "common/util/error.h"
#include "common/util/random.h"
#include "hdss/kernel.h"
#include "proto/message.h"
#include "proto/record.h"
#include "tests/lib/suite.h"
#include "tests/unit/exec/probing.h"
#include "worker/exec/helper.h"
#include "worker/exec/inline.h"
#include "worker/exec/pipeline.h"
#include "worker/exec/ring.h"
#include "worker/exec/serve.h"
#include "worker/exec/thread_pool.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ITERATIONS = 400, WORDS = 50, LONGEST = 40 };

enum kind { INLINE, REMOTE, TEAM, PIPELINE, REMOTE_PIPELINE, KINDS };

/* --- a kernel whose iterations do not depend on one another, though they may be computed as if they did --- */

static uint64_t word_of(uint64_t iteration, uint64_t i)
{
    return iteration * UINT64_C(0x9e3779b97f4a7c15) + i;
}

static int open_instance(const union hdss_value *values, const struct hdss_loop *loop, const struct hdss_worker *worker,
                         void **instance, char error[HDSS_ERROR_MAX])
{
    (void)values, (void)loop, (void)worker, (void)error;
    *instance = NULL;
    return 0;
}

static int run(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX])
{
    uint64_t(*rows)[WORDS] = records;
    (void)instance, (void)error;
    for (uint64_t k = 0; k < count; k++)
        for (uint64_t i = 0; i < WORDS; i++)
            rows[k][i] = word_of(first + k, i);
    return 0;
}

static int run_block(void *instance, const struct hdss_block *block, char error[HDSS_ERROR_MAX])
{
    uint64_t(*rows)[WORDS] = block->records;
    (void)instance, (void)error;
    for (uint64_t k = 0; k < block->count; k++)
        for (uint64_t i = hdss_block_begin(block, k); i < hdss_block_end(block, k); i++)
            rows[k][i] = word_of(block->first + k, i);
    return 0;
}

static const struct hdss_kernel kernel = {
    .abi = HDSS_KERNEL_ABI, .name = "rows", .open = open_instance, .run = run, .run_block = run_block};

/* --- the executors --- */

static struct {
    enum kind kind;
    struct hdss_loop loop;
    struct sched_spec technique;
    union {
        struct exec exec;
        struct thread_pool pool;
        struct pipeline pipeline;
    };
    struct executor *executor;
    pthread_t thread;
} tested;

static uint64_t iterations = ITERATIONS;

static bool is_remote(enum kind kind)
{
    return kind == REMOTE || kind == REMOTE_PIPELINE;
}

static void *serve_second(void *context)
{
    thread_pool_serve(context, 1);
    return NULL;
}

/* A helper that is a copy of the test. */
static pid_t begin_helper(void *context, int file, int bell, char error[HDSS_ERROR_MAX])
{
    const struct exec_config config = {.kernel = &kernel, .loop = &tested.loop, .probe_count = iterations};
    const struct exec *exec = tested.kind == REMOTE ? &tested.exec : &tested.pipeline.exec;
    (void)context, (void)error;
    pid_t helper = fork();
    if (helper != 0)
        return helper;
    serve(exec->remote.helper.channel, file, bell, &config, NULL);
    _exit(0);
}

static const struct helper_start start = {.begin = begin_helper};

static void open_executor(enum kind kind, bool collect)
{
    struct error error;
    memset(&tested, 0, sizeof tested);
    tested.kind = kind;
    tested.loop = (struct hdss_loop){.iterations = iterations, .type = HDSS_UINT64, .record_length = WORDS, .dims = 1};
    if (kind == PIPELINE || kind == REMOTE_PIPELINE) {
        tested.loop.sync = WORDS;
        tested.loop.distance = tested.loop.boundary_bytes = 1;
    }
    const struct exec_config config = {.kernel = &kernel,
                                       .loop = &tested.loop,
                                       .collect = collect,
                                       .slowdown = 1,
                                       .probe_count = iterations,
                                       .helper = is_remote(kind) ? &start : NULL};
    const struct thread_pool_config threaded = {
        .exec = config, .threads = 2, .technique = &tested.technique, .cores = 2};
    const struct pipeline_config dependent = {.exec = config, .points = 5, .end = iterations};
    switch (kind) {
    case INLINE:
    case REMOTE:
        tested.executor = &tested.exec.executor;
        ck_assert_int_eq(exec_init(&tested.exec, &config), 0);
        break;
    case TEAM:
        tested.executor = &tested.pool.executor;
        ck_assert_int_eq(sched_spec_parse(&tested.technique, "gss", &error), 0);
        ck_assert_int_eq(thread_pool_init(&tested.pool, &threaded), 0);
        ck_assert_int_eq(pthread_create(&tested.thread, NULL, serve_second, &tested.pool), 0);
        break;
    default:
        tested.executor = &tested.pipeline.executor;
        ck_assert_int_eq(pipeline_init(&tested.pipeline, &dependent), 0);
    }
}

static void close_executor(void)
{
    if (tested.kind == TEAM) {
        thread_pool_stop(&tested.pool);
        pthread_join(tested.thread, NULL);
    }
    executor_fini(tested.executor);
}

/* --- chunks --- */

/* Data that are given up, as they were then. */
struct given_up {
    const unsigned char *bytes;
    size_t size;
    unsigned char *copy;
};

enum { GIVEN_UP = 2, HEAD = 32 };

static struct given_up given_up[GIVEN_UP];
static unsigned to_give_up, gave_up;

/* Gives data up behind a message whose head is written before them. */
static void give_up(const struct chunk_event *event)
{
    struct given_up *next = &given_up[gave_up++];
    if (event->bytes <= INLINE_MAX)
        memset((unsigned char *)event->data - HEAD, 0x5a, HEAD);
    next->bytes = event->bytes <= INLINE_MAX ? (const unsigned char *)event->data - HEAD : event->data;
    next->size = event->bytes <= INLINE_MAX ? event->bytes + HEAD : event->bytes;
    next->copy = malloc(next->size);
    memcpy(next->copy, next->bytes, next->size);
    executor_abandon(tested.executor, event->data);
}

struct chunk {
    uint64_t first, count, mark;
    uint64_t left; /* iterations that have left */
    uint64_t digest;
    bool is_marked, over;
};

static void take_records(struct chunk *chunk, const struct chunk_event *event)
{
    for (uint64_t k = 0; k < event->count && event->data != NULL; k++) {
        const uint64_t *row = (const uint64_t *)event->data + k * WORDS;
        for (uint64_t i = 0; i < WORDS; i++)
            ck_assert_uint_eq(row[i], word_of(chunk->first + chunk->left + k, i));
    }
    chunk->left += event->count;
    chunk->digest += event->digest;
    if (event->data != NULL && gave_up < to_give_up)
        give_up(event);
    else if (event->data != NULL)
        executor_sent(tested.executor, event->data);
}

static void take_event(struct chunk *chunk, const struct event *event)
{
    switch (event->type) {
    case EVENT_DRY:
    case EVENT_BOUNDARY_READY: break;
    case EVENT_MARK:
        ck_assert(!chunk->is_marked && event->chunk.done >= chunk->mark && event->chunk.done < chunk->count);
        chunk->is_marked = true;
        break;
    case EVENT_SLICE: take_records(chunk, &event->chunk); break;
    case EVENT_FINISHED:
        take_records(chunk, &event->chunk);
        ck_assert_uint_eq(chunk->left, chunk->count);
        ck_assert_uint_gt(event->chunk.compute_ns, 0);
        chunk->over = true;
        break;
    default: ck_abort_msg("event %d", event->type);
    }
}

static uint64_t run_chunk(uint64_t first, uint64_t count, uint64_t mark)
{
    struct chunk chunk = {.first = first, .count = count, .mark = mark};
    struct pollfd work = {.fd = executor_descriptor(tested.executor), .events = POLLIN};
    if (executor_is_dependent(tested.executor) && first > 0)
        executor_reuse(tested.executor, first);
    executor_begin(tested.executor, first, count, mark, false);
    while (!chunk.over) {
        struct event event = {0};
        enum turn turn = executor_advance(tested.executor, &event);
        if (turn == TURN_EVENT)
            take_event(&chunk, &event);
        else if (turn == TURN_BLOCKED)
            ck_assert_int_eq(poll(&work, 1, 20000), 1);
    }
    if (tested.kind == INLINE) /* others may be further when they look */
        ck_assert(chunk.is_marked == (mark > 0 && mark < count));
    return chunk.digest;
}

static uint64_t digest_of_all(void)
{
    uint64_t record[WORDS], digest = 0;
    for (uint64_t k = 0; k < iterations; k++) {
        for (uint64_t i = 0; i < WORDS; i++)
            record[i] = word_of(k, i);
        digest += digest_record(k, record, sizeof record);
    }
    return digest;
}

/* Each kind once with records that leave, and once with digests alone. */
START_TEST(each_executor_computes_the_same_loop)
{
    struct random random;
    uint64_t digest = 0;
    random_init(&random, 1 + (uint64_t)_i);
    open_executor((enum kind)(_i / 2), _i % 2 > 0);
    for (uint64_t first = 0, count; first < ITERATIONS; first += count) {
        count = random_between(&random, 1, LONGEST);
        count = count < ITERATIONS - first ? count : ITERATIONS - first;
        digest += run_chunk(first, count, random_between(&random, 0, LONGEST));
    }
    ck_assert_uint_eq(digest, digest_of_all());
    close_executor();
}
END_TEST

START_TEST(each_executor_says_what_it_is)
{
    struct speed speed = {0};
    struct event event = {0};
    open_executor((enum kind)_i, false);
    ck_assert_int_eq(executor_advance(tested.executor, &event), TURN_BLOCKED);
    ck_assert_uint_eq(tested.executor->figures.count, _i == TEAM ? 2 : 1);
    ck_assert_int_eq(executor_descriptor(tested.executor) >= 0, _i == TEAM || is_remote((enum kind)_i));
    ck_assert_int_eq(executor_is_dependent(tested.executor), _i == PIPELINE || _i == REMOTE_PIPELINE);
    probe_whole(tested.executor, &speed);
    ck_assert_double_gt(speed.mean_ns, 0);
    close_executor();
}
END_TEST

/* The receiver may come back and read them. The first chunk leaves in several parts. */
START_TEST(data_that_were_given_up_stay_as_they_are)
{
    const uint64_t longest = _i % 2 == 0 ? 3 * SLICE_MAX / (WORDS * sizeof(uint64_t)) : 3;
    uint64_t digest = 0;
    iterations = 2 * longest + ITERATIONS;
    to_give_up = GIVEN_UP;
    open_executor((enum kind)(_i / 2), true);
    for (uint64_t first = 0, count = longest; first < iterations; first += count) {
        count = first < 2 * longest ? longest : 1;
        digest += run_chunk(first, count, 0);
    }
    ck_assert_uint_eq(gave_up, GIVEN_UP);
    ck_assert_uint_eq(digest, digest_of_all());
    close_executor();
    for (unsigned i = 0; i < GIVEN_UP; i++) {
        ck_assert_mem_eq(given_up[i].bytes, given_up[i].copy, given_up[i].size);
        free(given_up[i].copy);
    }
}
END_TEST

/* --- planted defects: each is one that the check of an executor ends the program for --- */

static void lose_iterations(void)
{
    tested.exec.chunk.count++;
}

static void let_more_leave_than_is_done(void)
{
    tested.exec.chunk.sliced = tested.exec.chunk.done + 1;
}

static void send_a_buffer_that_is_not_there(void)
{
    tested.exec.records.buffers[1].sent = true;
}

static void tell_more_than_there_is(void)
{
    tested.pipeline.chunk.told = tested.pipeline.halo_bytes + 1;
}

static void keep_a_seam_twice(void)
{
    tested.pipeline.halos[tested.pipeline.halo_count] = tested.pipeline.halos[0];
    tested.pipeline.halo_count++;
}

static void compute_beyond_the_end(void)
{
    tested.pipeline.chunk.from = tested.pipeline.chunk.end + 1;
}

static void forget_to_count_memory(void)
{
    tested.pool.bytes_in_use++;
}

static void begin_more_chunks_than_there_are(void)
{
    tested.pool.begun++;
}

static void release_a_slot_too_much(void)
{
    atomic_fetch_add(&tested.pool.ring.state->oldest, 1);
}

static const struct {
    enum kind kind;
    void (*plant)(void);
} defects[] = {
    {INLINE, lose_iterations},
    {INLINE, let_more_leave_than_is_done},
    {INLINE, send_a_buffer_that_is_not_there},
    {PIPELINE, tell_more_than_there_is},
    {PIPELINE, keep_a_seam_twice},
    {PIPELINE, compute_beyond_the_end},
    {TEAM, forget_to_count_memory},
    {TEAM, begin_more_chunks_than_there_are},
    {TEAM, release_a_slot_too_much},
};

START_TEST(a_planted_defect_ends_the_program)
{
    open_executor(defects[_i].kind, false);
    run_chunk(0, LONGEST, 0);
    executor_check(tested.executor);
    defects[_i].plant();
    executor_check(tested.executor);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("executor");
    TCase *tcase = tcase_create("executor");
    tcase_add_loop_test(tcase, each_executor_computes_the_same_loop, 0, 2 * KINDS);
    tcase_add_loop_test(tcase, each_executor_says_what_it_is, 0, KINDS);
    tcase_add_loop_test(tcase, data_that_were_given_up_stay_as_they_are, 0, 2 * KINDS);
#ifndef NDEBUG
    tcase_add_loop_test_raise_signal(tcase, a_planted_defect_ends_the_program, SIGABRT, 0,
                                     (int)(sizeof defects / sizeof *defects));
#endif
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
