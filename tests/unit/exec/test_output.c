/* SPDX-License-Identifier: MIT */
/* Variable output: what a kernel puts leaves as blocks of whole iterations, in order, none above SLICE_MAX but of one
 * iteration alone, and its checksum does not depend on how it was cut. */
#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/util/digest.h"
#include "common/util/ranges.h"
#include "hdss/kernel.h"
#include "proto/block.h"
#include "proto/message.h"
#include "proto/record.h"
#include "tests/lib/suite.h"
#include "worker/exec/inline.h"
#include "worker/exec/isolated.h"

#include <stdio.h>
#include <string.h>

enum { STREAMS = 2, ITERATIONS = 400 };

/* --- a kernel whose iterations yield more and less, on two streams --- */

static struct {
    size_t least, large; /* bytes of iteration i are least + i, of every 50th large */
    uint64_t steps, fail_at;
    bool marks; /* every third iteration is called failed */
    enum { GOOD, BACKWARDS, BEYOND, NO_STREAM, TOO_MUCH, FAILS } how;
} kernel;

static unsigned char letters[3 * SLICE_MAX];

static size_t bytes_of(uint64_t i)
{
    return i % 50 == 7 ? kernel.large : kernel.least + i;
}

/* Odd iterations put theirs in two pieces, every tenth says a word on the second stream, every third has failed. */
static int put_one(struct hdss_output *output, uint64_t i)
{
    size_t bytes = bytes_of(i), half = i % 2 == 1 ? bytes / 2 : 0;
    int result =
        output->put(output, i, 0, letters + i, half) | output->put(output, i, 0, letters + i + half, bytes - half);
    if (i % 10 == 0)
        result |= output->put(output, i, 1, "ten", 3);
    return i % 3 == 0 && kernel.marks ? result | output->failed(output, i) : result;
}

static int misbehave(struct hdss_output *output, uint64_t first, uint64_t count)
{
    switch (kernel.how) {
    case BACKWARDS: return output->put(output, first + 1, 0, "b", 1) | output->put(output, first, 0, "a", 1);
    case BEYOND: return output->put(output, first + count, 0, "b", 1);
    case NO_STREAM: return output->put(output, first, STREAMS, "b", 1);
    case TOO_MUCH: return output->put(output, first, 0, letters, (size_t)INT32_MAX);
    default: return -1;
    }
}

static int run(void *instance, uint64_t first, uint64_t count, struct hdss_output *output, char error[HDSS_ERROR_MAX])
{
    (void)instance;
    ck_assert_uint_eq(kernel.steps, 1);
    if (kernel.how != GOOD) {
        snprintf(error, HDSS_ERROR_MAX, "not today");
        return misbehave(output, first, count);
    }
    for (uint64_t i = first; i < first + count; i++)
        if (bytes_of(i) > 0 && (put_one(output, i) != 0 || i == kernel.fail_at)) {
            snprintf(error, HDSS_ERROR_MAX, "not this one");
            return -1;
        }
    return 0;
}

static int open_kernel(const union hdss_value *values, const struct hdss_loop *loop, const struct hdss_worker *worker,
                       void **instance, char error[HDSS_ERROR_MAX])
{
    (void)values, (void)loop, (void)error;
    *instance = NULL;
    return worker->rank == 3 ? 0 : -1;
}

static int step(void *instance, uint64_t number, const void *results, char error[HDSS_ERROR_MAX])
{
    (void)instance, (void)error;
    ck_assert_uint_eq(number, 0);
    ck_assert_ptr_null(results);
    kernel.steps++;
    return 0;
}

static const struct hdss_kernel fake = {
    .abi = HDSS_KERNEL_ABI, .name = "fake", .open = open_kernel, .run_variable = run, .step = step};
static struct hdss_loop loop = {
    .iterations = ITERATIONS, .streams = STREAMS, .stream = {{.ending = ""}, {.ending = ".err"}}};
static struct exec exec;

static void open_exec(bool collect)
{
    const struct exec_config config = {.kernel = &fake,
                                       .loop = &loop,
                                       .worker = {.rank = 3},
                                       .collect = collect,
                                       .slowdown = 1,
                                       .probe_count = ITERATIONS};
    memset(&kernel, 0, sizeof kernel);
    kernel.fail_at = UINT64_MAX;
    kernel.marks = collect;
    for (size_t i = 0; i < sizeof letters; i++)
        letters[i] = (unsigned char)(i * 7 + i / 251);
    ck_assert_int_eq(exec_init(&exec, &config), 0);
}

static struct event next_event(void)
{
    struct event event = {0};
    enum turn turn;
    while ((turn = executor_advance(&exec.executor, &event)) == TURN_WORKED)
        ;
    ck_assert_int_eq(turn, TURN_EVENT);
    return event;
}

/* Iterations first .. of the block are as the kernel put them. */
static void check_block(const struct chunk_event *chunk, uint64_t first)
{
    struct block block;
    ck_assert(block_read(&block, chunk->data, chunk->bytes, STREAMS));
    ck_assert_uint_eq(block.count, chunk->count);
    ck_assert(chunk->bytes <= SLICE_MAX || chunk->count == 1);
    size_t at[STREAMS] = {0};
    for (uint32_t k = 0; k < block.count; k++) {
        uint64_t i = first + k;
        ck_assert_uint_eq(block_length(&block, k, 0), bytes_of(i));
        ck_assert_uint_eq(block_length(&block, k, 1), i % 10 == 0 && bytes_of(i) > 0 ? 3 : 0);
        ck_assert_int_eq(block_failed(&block, k), i % 3 == 0 && bytes_of(i) > 0 && kernel.marks);
        ck_assert_int_eq(block_failed(&block, k), chunk->has_failed);
        ck_assert_mem_eq(block.stream[0] + at[0], letters + i, bytes_of(i));
        at[0] += bytes_of(i);
        at[1] += block_length(&block, k, 1);
    }
}

/* Runs [first, first + count) and returns its digest. */
static uint64_t run_chunk(uint64_t first, uint64_t count, unsigned *parts)
{
    uint64_t digest = 0, done = 0;
    struct event event;
    *parts = 0;
    executor_begin(&exec.executor, first, count, 0, false);
    do {
        event = next_event();
        ck_assert_ptr_null(event.text);
        if (exec.config.collect) {
            check_block(&event.chunk, first + done);
            executor_sent(&exec.executor, event.chunk.data);
        } else
            ck_assert_ptr_null(event.chunk.data);
        ck_assert_uint_gt(event.chunk.count, 0);
        digest += event.chunk.digest;
        done += event.chunk.count;
        (*parts)++;
    } while (event.type != EVENT_FINISHED);
    ck_assert_uint_eq(done, count);
    return digest;
}

START_TEST(small_output_of_a_chunk_is_one_block)
{
    unsigned parts;
    open_exec(true);
    kernel.marks = false;
    run_chunk(20, 100, &parts);
    ck_assert_uint_eq(parts, 1);
    executor_fini(&exec.executor);
}
END_TEST

/* 21, 24, .., 117 are called failed, but for 57, which yields nothing: whoever takes a part knows of all of it. */
START_TEST(what_is_called_failed_leaves_by_itself)
{
    unsigned parts;
    open_exec(true);
    run_chunk(20, 100, &parts);
    ck_assert_uint_eq(parts, 2 * 32 + 1);
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(large_output_leaves_in_blocks_of_a_megabyte)
{
    unsigned parts;
    open_exec(true);
    kernel.least = 30000;
    kernel.large = sizeof letters - ITERATIONS; /* alone in its block */
    run_chunk(0, ITERATIONS, &parts);
    ck_assert_uint_ge(parts, 8 + 12);
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(the_digest_does_not_depend_on_the_cut)
{
    unsigned parts;
    open_exec(true);
    kernel.least = 5000;
    kernel.large = 1500000;
    uint64_t whole = run_chunk(0, ITERATIONS, &parts), sum = 0;
    for (uint64_t first = 0; first < ITERATIONS; first += 80)
        sum += run_chunk(first, 80, &parts);
    ck_assert_uint_eq(sum, whole);
    executor_fini(&exec.executor);
    open_exec(false);
    kernel.least = 5000;
    kernel.large = 1500000;
    ck_assert_uint_eq(run_chunk(0, ITERATIONS, &parts), whole);
    loop.stream[1].differs = true;
    ck_assert_uint_ne(run_chunk(0, ITERATIONS, &parts), whole);
    loop.stream[1].differs = false;
    executor_fini(&exec.executor);
}
END_TEST

/* With blocks on their way, and more done than could leave at once. */
START_TEST(a_chunk_with_output_is_cut)
{
    open_exec(_i > 0);
    kernel.least = 30000;
    executor_begin(&exec.executor, 0, ITERATIONS, 0, false);
    uint64_t left = 0, done = 0;
    struct event event = {0};
    while (event.type != EVENT_FINISHED) {
        const struct range cut = executor_cut(&exec.executor, done < 100 ? 0 : RECALL_ALL);
        executor_check(&exec.executor);
        ck_assert(cut.count == 0 || cut.first + cut.count == ITERATIONS);
        left += cut.count;
        if (executor_advance(&exec.executor, &event) != TURN_EVENT)
            continue;
        if (exec.config.collect && event.chunk.count > 0) {
            check_block(&event.chunk, done);
            executor_sent(&exec.executor, event.chunk.data);
        }
        done += event.chunk.count;
        ck_assert(left == 0 || done <= ITERATIONS - left);
    }
    ck_assert_uint_eq(done + left, ITERATIONS);
    ck_assert(exec.config.collect == (left > 0)); /* without blocks all leaves at the end */
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(what_is_called_failed_is_given_up_where_nothing_is_kept)
{
    struct event event;
    open_exec(false);
    kernel.marks = true;
    kernel.least = 1;
    executor_begin(&exec.executor, 10, 3, 0, false);
    event = next_event();
    ck_assert_int_eq(event.type, EVENT_SLICE);
    ck_assert_uint_eq(event.chunk.count, 2);
    event = next_event();
    ck_assert_int_eq(event.type, EVENT_ITERATIONS_FAILED);
    ck_assert_str_eq(event.text, "the kernel calls it failed");
    ck_assert(event.chunk.final);
    event = next_event();
    ck_assert_int_eq(event.type, EVENT_FINISHED);
    ck_assert_uint_eq(event.chunk.count, 0);
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(one_stream_is_digested_as_a_record_is)
{
    const void *bytes[] = {"abc"};
    const uint32_t lengths[] = {3};
    ck_assert_uint_eq(digest_streams(9, 1, bytes, lengths), digest_record(9, "abc", 3));
}
END_TEST

START_TEST(a_kernel_that_puts_what_cannot_be_fails_its_chunk)
{
    static const struct {
        int how;
        const char *text;
    } cases[] = {
        {BACKWARDS, "the kernel puts what iteration 6 yields out of order, or beyond its range"},
        {BEYOND, "the kernel puts what iteration 6 yields out of order, or beyond its range"},
        {NO_STREAM, "the kernel puts bytes on a stream that it did not describe"},
        {TOO_MUCH, "it yields more than 2 GiB"},
        {FAILS, "not today"},
    };
    open_exec(true);
    kernel.how = cases[_i].how;
    if (kernel.how == BACKWARDS)
        exec.iteration_ns = 1;
    executor_begin(&exec.executor, 5, kernel.how == BACKWARDS ? 2 : 1, 0, false);
    const struct event event = next_event();
    ck_assert_int_eq(event.type, EVENT_ITERATIONS_FAILED);
    ck_assert_uint_eq(event.chunk.count, 1);
    ck_assert_str_eq(event.text, cases[_i].text);
    kernel.how = GOOD; /* what follows is none the worse for it */
    const struct event last = next_event();
    ck_assert_int_eq(last.type, EVENT_FINISHED);
    if (last.chunk.data != NULL)
        executor_sent(&exec.executor, last.chunk.data);
    unsigned parts;
    run_chunk(5, 20, &parts);
    executor_fini(&exec.executor);
}
END_TEST

/* What the failing call had put for others is not there twice, and nothing of the one that failed. */
START_TEST(output_of_others_outlives_an_iteration_that_fails)
{
    for (unsigned collect = 0; collect < 2; collect++) {
        uint64_t digest = 0, done = 0, failures = 0;
        struct event event = {0};
        open_exec(collect);
        kernel.fail_at = 58;
        executor_begin(&exec.executor, 40, 30, 0, false);
        while (event.type != EVENT_FINISHED) {
            event = next_event();
            if (event.type == EVENT_ITERATIONS_FAILED) {
                ck_assert_uint_eq(40 + done, 58);
                ck_assert_str_eq(event.text, "not this one");
                failures++;
                done++;
                continue;
            }
            if (event.chunk.data != NULL) {
                check_block(&event.chunk, 40 + done);
                executor_sent(&exec.executor, event.chunk.data);
            }
            digest += event.chunk.digest;
            done += event.chunk.count;
        }
        unsigned parts;
        ck_assert_uint_eq(failures, 1);
        ck_assert_uint_eq(done, 30);
        kernel.fail_at = UINT64_MAX;
        ck_assert_uint_eq(digest, run_chunk(40, 18, &parts) + run_chunk(59, 11, &parts));
        executor_fini(&exec.executor);
    }
}
END_TEST

/* Where workers have died each iteration has a process of its own. */
START_TEST(output_comes_out_of_a_child_process)
{
    unsigned parts;
    open_exec(true);
    uint64_t plain = run_chunk(40, 12, &parts), digest = 0, done = 0;
    struct event event = {0};
    executor_begin(&exec.executor, 40, 12, 0, false);
    exec.isolated.wanted = true;
    for (; event.type != EVENT_FINISHED; done += event.chunk.count) {
        event = next_event();
        ck_assert_ptr_null(event.text);
        check_block(&event.chunk, 40 + done);
        digest += event.chunk.digest;
        executor_sent(&exec.executor, event.chunk.data);
    }
    ck_assert_uint_eq(done, 12);
    ck_assert_uint_eq(digest, plain);
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(a_probe_leaves_nothing_behind)
{
    struct speed speed = {0};
    unsigned parts;
    open_exec(true);
    executor_probe(&exec.executor, &speed);
    ck_assert_uint_gt(speed.levels, 0);
    run_chunk(3, 40, &parts);
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(a_block_that_is_none_is_refused)
{
    /* two iterations on two streams: 3 and 0 bytes, 1 and 2 bytes */
    unsigned char bytes[] = {2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0,   0,   0,   0,   0,   0,
                             0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 'a', 'b', 'c', 'd', 'e', 'f'};
    struct block block;
    ck_assert(block_read(&block, bytes, sizeof bytes, 2));
    ck_assert(block_failed(&block, 1) && !block_failed(&block, 0));
    ck_assert_mem_eq(block.stream[1], "ef", 2);
    for (size_t size = 0; size < sizeof bytes; size++)
        ck_assert(!block_read(&block, bytes, size, 2));
    ck_assert(!block_read(&block, bytes, sizeof bytes, 1));
    ck_assert(!block_read(&block, bytes, sizeof bytes, 3));
    bytes[8] = 2; /* an unknown flag */
    ck_assert(!block_read(&block, bytes, sizeof bytes, 2));
    bytes[8] = 0;
    bytes[0] = 3;
    ck_assert(!block_read(&block, bytes, sizeof bytes, 2));
    bytes[0] = 0;
    ck_assert(!block_read(&block, bytes, sizeof bytes, 2));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("output");
    TCase *all = tcase_create("output");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, small_output_of_a_chunk_is_one_block);
    tcase_add_test(all, what_is_called_failed_leaves_by_itself);
    tcase_add_test(all, large_output_leaves_in_blocks_of_a_megabyte);
    tcase_add_test(all, the_digest_does_not_depend_on_the_cut);
    tcase_add_loop_test(all, a_chunk_with_output_is_cut, 0, 2);
    tcase_add_test(all, what_is_called_failed_is_given_up_where_nothing_is_kept);
    tcase_add_test(all, one_stream_is_digested_as_a_record_is);
    tcase_add_loop_test(all, a_kernel_that_puts_what_cannot_be_fails_its_chunk, 0, 5);
    tcase_add_test(all, output_of_others_outlives_an_iteration_that_fails);
    tcase_add_test(all, output_comes_out_of_a_child_process);
    tcase_add_test(all, a_probe_leaves_nothing_behind);
    tcase_add_test(all, a_block_that_is_none_is_refused);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
