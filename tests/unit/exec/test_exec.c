/* SPDX-License-Identifier: MIT */
/* The executor: pieces of a chunk in order and each once, marks and slices where they belong, two buffers that are not
 * touched while they are on their way, probes that every worker draws alike. */
#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/machine/probe.h"
#include "common/machine/span.h"
#include "common/machine/spread.h"
#include "common/util/digest.h"
#include "common/util/random.h"
#include "common/util/ranges.h"
#include "common/util/stats.h"
#include "hdss/kernel.h"
#include "proto/message.h"
#include "proto/record.h"
#include "tests/lib/suite.h"
#include "worker/exec/inline.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* --- a kernel that writes down what it is asked to do --- */

enum { CALLS = 512, WORDS = 4096 }; /* 32 KiB a record: 32 records fill a slice */

static struct {
    uint64_t next; /* iteration expected next; UINT64_MAX: any */
    uint64_t calls, fail_at;
    uint64_t probed[64], probes;
    uint64_t longest; /* iterations in one call */
    double cost_ns;
    double (*cost_of)(uint64_t iteration); /* instead of cost_ns */
    void (*meanwhile)(void);               /* what others do during a call; NULL: nothing */
    struct {
        uint64_t first;
        double ns; /* of the thread's own time */
    } took[CALLS]; /* by call */
} kernel;

static uint64_t word_of(uint64_t iteration, uint64_t i)
{
    return iteration * 1000003 + i;
}

static double own_time_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void spend(double ns)
{
    for (double until = own_time_ns() + ns; own_time_ns() < until;)
        ;
}

static int run(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX])
{
    (void)instance;
    uint64_t *words = records, call = kernel.calls % CALLS;
    double began = own_time_ns();
    ck_assert_uint_eq((uintptr_t)records % 64, 0);
    if (kernel.next != UINT64_MAX) {
        ck_assert_uint_eq(first, kernel.next);
        kernel.next = first + count;
    } else if (kernel.probes < 64) {
        kernel.probed[kernel.probes++] = first;
    }
    kernel.calls++;
    if (kernel.meanwhile != NULL)
        kernel.meanwhile();
    kernel.longest = count > kernel.longest ? count : kernel.longest;
    if (kernel.fail_at >= first && kernel.fail_at < first + count) {
        snprintf(error, HDSS_ERROR_MAX, "cannot do %llu", (unsigned long long)kernel.fail_at);
        return -1;
    }
    for (uint64_t k = 0; k < count; k++)
        for (uint64_t i = 0; i < WORDS; i++)
            words[k * WORDS + i] = word_of(first + k, i);
    double cost = kernel.cost_ns * (double)count;
    for (uint64_t k = 0; kernel.cost_of != NULL && k < count; k++)
        cost += kernel.cost_of(first + k);
    if (cost > 0)
        spend(cost);
    kernel.took[call].first = first;
    kernel.took[call].ns = own_time_ns() - began;
    return 0;
}

static int open_kernel(const union hdss_value *values, const struct hdss_loop *loop, const struct hdss_worker *worker,
                       void **instance, char error[HDSS_ERROR_MAX])
{
    (void)worker;
    (void)values, (void)error;
    *instance = NULL;
    return loop->iterations == 13 ? (snprintf(error, HDSS_ERROR_MAX, "unlucky"), -1) : 0;
}

static const struct hdss_kernel fake = {.abi = HDSS_KERNEL_ABI, .name = "fake", .open = open_kernel, .run = run};
static struct hdss_loop loop = {
    .iterations = 1000, .type = HDSS_UINT64, .record_length = WORDS, .dims = 2, .shape = {1000, WORDS}};
static struct exec exec;

static void open_exec(bool collect, double slowdown)
{
    const struct exec_config config = {
        .kernel = &fake, .loop = &loop, .collect = collect, .slowdown = slowdown, .probe_count = loop.iterations};
    memset(&kernel, 0, sizeof kernel);
    kernel.fail_at = UINT64_MAX;
    ck_assert_int_eq(exec_init(&exec, &config), 0);
}

/* A slow worker's pieces are timed by the clock of its own core's time, so that these tests do not depend on what else
 * the machine does: slower by nearly nothing. */
#define BY_OWN_TIME 1.0001

static void open_exec_for_spread(double (*cost_of)(uint64_t))
{
    open_exec(false, BY_OWN_TIME);
    exec.config.spread = true;
    kernel.next = 0;
    kernel.cost_of = cost_of;
}

static uint64_t digest_of(uint64_t first, uint64_t count)
{
    uint64_t record[WORDS], sum = 0;
    for (uint64_t k = first; k < first + count; k++) {
        for (uint64_t i = 0; i < WORDS; i++)
            record[i] = word_of(k, i);
        sum += digest_record(k, record, sizeof record);
    }
    return sum;
}

/* Turns until there is an event. */
static struct event next_event(void)
{
    struct event event = {0};
    enum turn turn;
    do
        turn = executor_advance(&exec.executor, &event);
    while (turn == TURN_WORKED);
    ck_assert_int_eq(turn, TURN_EVENT);
    return event;
}

START_TEST(a_chunk_without_output_is_digested)
{
    struct event event = {0};
    open_exec(false, 1);
    ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_BLOCKED);
    kernel.next = 100;
    executor_begin(&exec.executor, 100, 77, 0, false);
    event = next_event();
    ck_assert_int_eq(event.type, EVENT_FINISHED);
    ck_assert_ptr_null(event.text);
    ck_assert_uint_eq(event.chunk.count, 77);
    ck_assert_uint_eq(event.chunk.digest, digest_of(100, 77));
    ck_assert_ptr_null(event.chunk.data);
    ck_assert_uint_eq(event.chunk.bytes, 0);
    ck_assert_uint_gt(event.chunk.compute_ns, 0);
    ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_BLOCKED);
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(marks_come_where_they_are_set)
{
    open_exec(false, 1);
    kernel.next = 0;
    executor_begin(&exec.executor, 0, 50, 1, false);
    struct event event = next_event();
    ck_assert_int_eq(event.type, EVENT_MARK);
    ck_assert_uint_eq(event.chunk.done, 1);
    executor_set_mark(&exec.executor, 49);
    event = next_event();
    ck_assert_int_eq(event.type, EVENT_MARK);
    ck_assert_uint_eq(event.chunk.done, 49);
    event = next_event();
    ck_assert_int_eq(event.type, EVENT_FINISHED);
    ck_assert_uint_eq(event.chunk.digest, digest_of(0, 50));
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(results_leave_in_slices_from_two_buffers)
{
    const uint64_t slice = SLICE_MAX / (WORDS * 8);
    const void *data[2];
    struct event event = {0};
    uint64_t digest = 0;
    open_exec(true, 1);
    kernel.next = 0;
    executor_begin(&exec.executor, 0, 2 * slice + 5, 0, false);
    for (int i = 0; i < 2; i++) {
        event = next_event();
        ck_assert_int_eq(event.type, EVENT_SLICE);
        ck_assert_uint_eq(event.chunk.count, slice);
        ck_assert_uint_eq(event.chunk.bytes, SLICE_MAX);
        ck_assert_uint_eq(((const uint64_t *)event.chunk.data)[1], word_of((uint64_t)i * slice, 1));
        data[i] = event.chunk.data;
        digest += event.chunk.digest;
    }
    ck_assert_ptr_ne(data[0], data[1]);
    ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_BLOCKED); /* both are on their way */
    executor_sent(&exec.executor, data[0]);
    event = next_event();
    ck_assert_int_eq(event.type, EVENT_FINISHED);
    ck_assert_uint_eq(event.chunk.count, 5);
    ck_assert_ptr_eq(event.chunk.data, data[0]);
    ck_assert_uint_eq(((const uint64_t *)data[1])[1], word_of(slice, 1)); /* the one on its way is untouched */
    ck_assert_uint_eq(digest + event.chunk.digest, digest_of(0, 2 * slice + 5));
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(a_mark_at_the_end_of_a_slice_follows_it)
{
    const uint64_t slice = SLICE_MAX / (WORDS * 8);
    open_exec(true, 1);
    kernel.next = 0;
    executor_begin(&exec.executor, 0, slice + 1, slice, false);
    ck_assert_int_eq(next_event().type, EVENT_SLICE);
    ck_assert_int_eq(next_event().type, EVENT_MARK);
    ck_assert_int_eq(next_event().type, EVENT_FINISHED);
    executor_fini(&exec.executor);
}
END_TEST

/* Takes events up to the end of the chunk, gives their data back, and sums up iterations and digests; returns how many
 * iterations failed. */
static unsigned run_to_end(uint64_t *done, uint64_t *digest, uint64_t *failed_at)
{
    unsigned failures = 0;
    struct event event;
    *done = *digest = 0;
    do {
        event = next_event();
        if (event.type == EVENT_ITERATIONS_FAILED) {
            ck_assert_uint_eq(event.chunk.count, 1);
            *failed_at = event.chunk.done;
            failures++;
            continue;
        }
        *done += event.chunk.count;
        *digest += event.chunk.digest;
        if (event.chunk.data != NULL)
            executor_sent(&exec.executor, event.chunk.data);
    } while (event.type != EVENT_FINISHED);
    ck_assert_uint_eq(event.chunk.done, exec.chunk.count);
    return failures;
}

START_TEST(an_iteration_that_fails_is_left_out)
{
    const uint64_t bad[] = {0, 30, 49};
    for (unsigned collect = 0; collect < 2; collect++)
        for (size_t i = 0; i < 3; i++) {
            uint64_t done, digest, failed_at = 0;
            open_exec(collect, 1);
            kernel.next = UINT64_MAX;
            kernel.fail_at = bad[i];
            executor_begin(&exec.executor, 0, 50, 0, false);
            ck_assert_uint_eq(run_to_end(&done, &digest, &failed_at), 1);
            ck_assert_uint_eq(failed_at, bad[i]);
            ck_assert_str_eq(exec.error, bad[i] == 0 ? "cannot do 0" : bad[i] == 30 ? "cannot do 30" : "cannot do 49");
            ck_assert_uint_eq(done, 49);
            ck_assert_uint_eq(digest, digest_of(0, 50) - digest_of(bad[i], 1));
            struct event event;
            ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_BLOCKED);
            executor_fini(&exec.executor);
        }
}
END_TEST

static int run_or_die(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX])
{
    if (count == 1 && (first == 3 || first == 19))
        raise(first == 3 ? SIGSEGV : SIGKILL);
    if (first == 7)
        _exit(9);
    return run(instance, first, count, records, error);
}

START_TEST(what_kills_a_child_is_left_out)
{
    static const struct hdss_kernel deadly = {
        .abi = HDSS_KERNEL_ABI, .name = "deadly", .open = open_kernel, .run = run_or_die};
    const char *const texts[] = {"killed the child process: signal 11 (Segmentation fault)",
                                 "ended the child process with status 9", "cannot do 11",
                                 "killed the child process: signal 9 (Killed)"};
    const uint64_t bad[] = {3, 7, 11, 19};
    for (unsigned collect = 0; collect < 2; collect++) {
        uint64_t done = 0, digest = 0, expected = digest_of(0, 20);
        struct event event = {0};
        open_exec(collect, 1);
        exec.config.kernel = &deadly;
        kernel.next = UINT64_MAX;
        kernel.fail_at = 11;
        executor_begin(&exec.executor, 0, 20, 0, true);
        for (unsigned failures = 0; event.type != EVENT_FINISHED;) {
            event = next_event();
            if (event.type == EVENT_ITERATIONS_FAILED) {
                ck_assert_uint_eq(event.chunk.done, bad[failures]);
                ck_assert_int_eq(event.chunk.final, bad[failures] != 11);
                ck_assert_int_eq(event.chunk.died, event.chunk.final);
                ck_assert_str_eq(event.text, texts[failures]);
                expected -= digest_of(bad[failures++], 1);
                continue;
            }
            done += event.chunk.count;
            digest += event.chunk.digest;
            if (event.chunk.data != NULL)
                executor_sent(&exec.executor, event.chunk.data);
        }
        ck_assert_uint_eq(done, 16);
        ck_assert_uint_eq(digest, expected);
        executor_begin(&exec.executor, 20, 5, 0, false); /* the next one is run as always */
        next_event();
        ck_assert_uint_gt(kernel.calls, 0);
        executor_fini(&exec.executor);
    }
}
END_TEST

START_TEST(a_kernel_that_cannot_open_leaves_nothing)
{
    struct hdss_loop unlucky = loop;
    unlucky.iterations = 13;
    const struct exec_config config = {.kernel = &fake, .loop = &unlucky, .slowdown = 1};
    ck_assert_int_eq(exec_init(&exec, &config), -1);
    ck_assert_str_eq(exec.error, "unlucky");
}
END_TEST

START_TEST(a_turn_is_short_when_iterations_are_long)
{
    open_exec(false, 1);
    kernel.next = 0;
    kernel.cost_ns = 1e6;
    executor_begin(&exec.executor, 0, 20, 0, false);
    next_event();
    ck_assert_uint_ge(kernel.calls, 7); /* 20 ms of work, looked at about every 2 ms */
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(long_chunks_leave_results_on_the_way)
{
    uint64_t sliced = 0, digest = 0;
    open_exec(false, 1);
    kernel.next = 0;
    kernel.cost_ns = 6e8;
    executor_begin(&exec.executor, 0, 3, 0, false);
    struct event event = next_event();
    ck_assert_int_eq(event.type, EVENT_SLICE);
    for (; event.type == EVENT_SLICE; event = next_event()) { /* more than one where the core is shared */
        sliced += event.chunk.count;
        digest += event.chunk.digest;
        ck_assert_uint_eq(digest, digest_of(0, sliced));
    }
    ck_assert_int_eq(event.type, EVENT_FINISHED);
    ck_assert_uint_eq(sliced + event.chunk.count, 3);
    ck_assert_uint_eq(digest + event.chunk.digest, digest_of(0, 3));
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(slowdown_waits_in_proportion_to_the_work)
{
    open_exec(false, 3);
    kernel.next = 0;
    kernel.cost_ns = 1e6;
    executor_begin(&exec.executor, 0, 10, 0, false);
    ck_assert_uint_ge(next_event().chunk.compute_ns,
                      29000000); /* 10 ms of work, 20 of waiting, however busy the machine */
    executor_fini(&exec.executor);
}
END_TEST

static double irregular(uint64_t iteration)
{
    return random_at(3, iteration) % 2 == 0 ? 20000 : 220000;
}

/* --- cutting: what has not begun goes back --- */

static void check_cut(unsigned waiting, uint64_t first, uint64_t count)
{
    const struct range cut = executor_cut(&exec.executor, waiting);
    executor_check(&exec.executor);
    ck_assert_uint_eq(cut.count, count);
    if (count > 0)
        ck_assert_uint_eq(cut.first, first);
}

/* The chunk is over with the next event, which brings its iterations from `first` on. */
static void check_finish(uint64_t first, uint64_t count)
{
    const struct event event = next_event();
    ck_assert_int_eq(event.type, EVENT_FINISHED);
    ck_assert_uint_eq(event.chunk.count, count);
    ck_assert_uint_eq(event.chunk.done, exec.chunk.count);
    ck_assert_uint_eq(event.chunk.digest, digest_of(first, count));
    ck_assert((event.chunk.data != NULL) == (exec.config.collect && count > 0));
    if (event.chunk.data != NULL)
        executor_sent(&exec.executor, event.chunk.data);
    check_cut(RECALL_ALL, 0, 0); /* nothing runs */
}

START_TEST(a_chunk_is_cut_behind_what_has_begun)
{
    open_exec(_i > 0, 1);
    check_cut(RECALL_ALL, 0, 0);
    kernel.next = 100;
    executor_begin(&exec.executor, 100, 28, 0, false); /* nothing has begun, yet one iteration is kept */
    check_cut(1, 114, 14);
    check_cut(1, 107, 7);
    check_finish(100, 7);
    kernel.next = 0;
    executor_begin(&exec.executor, 0, 28, 10, false);
    ck_assert_int_eq(next_event().type, EVENT_MARK);
    executor_set_mark(&exec.executor, 16);
    check_cut(2, 16, 12); /* the mark is the new end: it is dropped */
    check_cut(RECALL_ALL, 10, 6);
    check_finish(0, 10); /* though nothing is left to compute */
    kernel.next = 0;
    executor_begin(&exec.executor, 0, 28, 27, false);
    ck_assert_int_eq(next_event().type, EVENT_MARK);
    check_cut(1, 27, 1);
    check_cut(1, 0, 0);
    check_finish(0, 27);
    kernel.next = 5;
    executor_begin(&exec.executor, 5, 1, 0, false);
    check_cut(RECALL_ALL, 0, 0);
    check_finish(5, 1);
    executor_fini(&exec.executor);
}
END_TEST

/* --- iterations that another rank takes during a call --- */

static struct {
    struct span span;
    struct random random;
    unsigned server;
    uint32_t chunk;
    uint64_t end, count; /* end of the chunk, and iterations taken of it */
} theft;

static void steal_some(void)
{
    struct stolen stolen;
    const unsigned waiting = (unsigned)random_between(&theft.random, 0, 3);
    if (waiting == 0 || !span_steal(&theft.span, theft.server, waiting, &stolen))
        return;
    ck_assert_uint_eq(stolen.chunk, theft.chunk);
    ck_assert_uint_eq(stolen.range.first + stolen.range.count, theft.end);
    theft.end = stolen.range.first;
    theft.count += stolen.range.count;
}

/* Each iteration is computed, failed, cut off or taken, and once; the machine hears of it before any other event of the
 * turn. */
START_TEST(whatever_is_taken_the_rest_is_whole)
{
    uint64_t taken = 0;
    memset(&theft, 0, sizeof theft);
    random_init(&theft.random, 1 + (uint64_t)_i);
    open_exec(_i % 2 > 0, 1);
    exec.config.spread = _i / 2 % 2 > 0;
    exec.config.span = &theft.span;
    exec.config.server = &theft.server;
    exec.config.chunk = &theft.chunk;
    for (uint64_t first = 0, count; first < 1000; first += count) {
        uint64_t done = 0, told = 0, cut = 0, failures = 0, digest = 0;
        struct event event = {0};
        count = random_between(&theft.random, 1, 90);
        theft.chunk++;
        theft.end = first + count;
        theft.count = 0;
        kernel.next = UINT64_MAX;
        kernel.meanwhile = steal_some;
        kernel.fail_at =
            random_between(&theft.random, 0, 2) ? UINT64_MAX : first + random_between(&theft.random, 0, count - 1);
        exec.iteration_ns = random_between(&theft.random, 0, 1) ? exec.iteration_ns : 100000;
        executor_begin(&exec.executor, first, count, random_between(&theft.random, 0, count), false);
        while (event.type != EVENT_FINISHED) {
            if (random_between(&theft.random, 0, 9) == 0) {
                const struct range range = executor_cut(&exec.executor, (unsigned)random_between(&theft.random, 0, 2));
                cut += range.count;
                theft.end -= range.count;
            }
            const enum turn turn = executor_advance(&exec.executor, &event);
            executor_check(&exec.executor);
            ck_assert(theft.count == told || (turn == TURN_EVENT && event.type == EVENT_STOLEN));
            if (turn != TURN_EVENT || event.type == EVENT_MARK)
                continue;
            if (event.type == EVENT_STOLEN) {
                told += event.stolen.range.count;
                ck_assert_uint_eq(event.stolen.range.first, theft.end);
                ck_assert_uint_eq(told, theft.count);
                continue;
            }
            done += event.chunk.count;
            failures += event.type == EVENT_ITERATIONS_FAILED;
            digest += event.type == EVENT_ITERATIONS_FAILED ? 0 : event.chunk.digest;
            if (event.type != EVENT_ITERATIONS_FAILED && event.chunk.data != NULL)
                executor_sent(&exec.executor, event.chunk.data);
        }
        ck_assert_uint_eq(done + told + cut, count);
        ck_assert_uint_eq(failures, kernel.fail_at < first + done);
        ck_assert_uint_eq(digest, digest_of(first, done) - (failures > 0 ? digest_of(kernel.fail_at, 1) : 0));
        taken += told;
    }
    ck_assert_uint_gt(taken, 0);
    executor_fini(&exec.executor);
}
END_TEST

/* Nothing is begun any more, and what is done leaves; nothing may be left of the chunk. */
START_TEST(a_chunk_ends_with_what_is_done)
{
    open_exec(_i > 0, 1);
    ck_assert_uint_eq(executor_end(&exec.executor).count, 0);
    for (uint64_t done = 0; done <= 10; done += 10) {
        kernel.next = 0;
        executor_begin(&exec.executor, 0, 28, done, false);
        if (done > 0)
            ck_assert_int_eq(next_event().type, EVENT_MARK);
        const struct range rest = executor_end(&exec.executor);
        ck_assert_uint_eq(rest.first, done);
        ck_assert_uint_eq(rest.count, 28 - done);
        check_finish(0, done);
    }
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(a_chunk_is_cut_where_its_slices_have_left)
{
    const uint64_t slice = SLICE_MAX / (WORDS * 8);
    open_exec(true, 1);
    kernel.next = 0;
    executor_begin(&exec.executor, 0, 3 * slice, 2 * slice + 1, false);
    ck_assert_int_eq(next_event().type, EVENT_SLICE);
    check_cut(1, 2 * slice, slice);
    const struct event event = next_event();
    ck_assert_int_eq(event.type, EVENT_FINISHED);
    ck_assert_uint_eq(event.chunk.count, slice);
    executor_sent(&exec.executor, exec.records.buffers[0].bytes + EXEC_HEADROOM);
    executor_sent(&exec.executor, exec.records.buffers[1].bytes + EXEC_HEADROOM);
    kernel.next = 0;
    executor_begin(&exec.executor, 0, 3 * slice, 0, false);
    ck_assert_int_eq(next_event().type, EVENT_SLICE);
    check_cut(RECALL_ALL, slice, 2 * slice);
    check_finish(slice, 0);
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(an_iteration_that_failed_is_not_cut_off)
{
    open_exec(true, 1);
    kernel.next = UINT64_MAX;
    kernel.fail_at = 9;
    exec.iteration_ns = 1; /* known to be short: ten at once, which then run one by one */
    executor_begin(&exec.executor, 0, 12, 0, false);
    struct event event = {0};
    ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_WORKED);
    ck_assert_uint_eq(exec.chunk.is_reset, 12);
    check_cut(1, 6, 6);
    check_finish(0, 6);
    executor_begin(&exec.executor, 0, 12, 0, false);
    ck_assert_int_eq(next_event().type, EVENT_SLICE); /* what is done goes before the failure */
    check_cut(RECALL_ALL, 10, 2);
    event = next_event();
    ck_assert_int_eq(event.type, EVENT_ITERATIONS_FAILED);
    ck_assert_uint_eq(event.chunk.done, 9);
    check_finish(10, 0);
    executor_fini(&exec.executor);
}
END_TEST

/* Cut at random between any two turns: each iteration is computed, failed or cut off, and once. */
START_TEST(whatever_is_cut_the_rest_is_whole)
{
    struct random random;
    random_init(&random, 1 + (uint64_t)_i);
    open_exec(_i % 2 > 0, 1);
    exec.config.spread = _i / 2 % 2 > 0;
    for (uint64_t first = 0, count, end; first < 1000; first += count) {
        uint64_t done = 0, failures = 0, digest = 0;
        struct event event = {0};
        count = random_between(&random, 1, 90);
        end = first + count;
        kernel.next = UINT64_MAX;
        kernel.cost_ns = random_between(&random, 0, 1) ? 0 : 50000;
        kernel.fail_at = random_between(&random, 0, 2) ? UINT64_MAX : first + random_between(&random, 0, count - 1);
        exec.iteration_ns = random_between(&random, 0, 1) ? exec.iteration_ns : 1;
        executor_begin(&exec.executor, first, count, random_between(&random, 0, count), false);
        while (event.type != EVENT_FINISHED) {
            if (random_between(&random, 0, 3) == 0) {
                unsigned waiting = random_between(&random, 0, 5) ? (unsigned)random_between(&random, 0, 4) : RECALL_ALL;
                const struct range cut = executor_cut(&exec.executor, waiting);
                executor_check(&exec.executor);
                end -= cut.count;
                ck_assert(end > first && (cut.count == 0 || cut.first == end));
            }
            if (executor_advance(&exec.executor, &event) != TURN_EVENT || event.type == EVENT_MARK)
                continue;
            done += event.chunk.count;
            failures += event.type == EVENT_ITERATIONS_FAILED;
            digest += event.type == EVENT_ITERATIONS_FAILED ? 0 : event.chunk.digest;
            if (event.type != EVENT_ITERATIONS_FAILED && event.chunk.data != NULL)
                executor_sent(&exec.executor, event.chunk.data);
        }
        ck_assert_uint_eq(done, end - first);
        ck_assert_uint_eq(failures, kernel.fail_at < end);
        ck_assert_uint_eq(digest, digest_of(first, done) - (failures > 0 ? digest_of(kernel.fail_at, 1) : 0));
    }
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(what_a_child_runs_is_not_cut_off)
{
    uint64_t done, digest, failed_at;
    open_exec(false, 1);
    kernel.next = UINT64_MAX;
    kernel.cost_ns = 40e6;
    executor_begin(&exec.executor, 0, 16, 0, true);
    check_cut(1, 8, 8); /* no child runs yet */
    struct event event = {0};
    ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_WORKED);
    ck_assert_uint_lt(exec.chunk.done, 7); /* it takes 320 ms */
    check_cut(RECALL_ALL, 0, 0);
    ck_assert_uint_eq(run_to_end(&done, &digest, &failed_at), 0);
    ck_assert_uint_eq(done, 8);
    ck_assert_uint_eq(digest, digest_of(0, 8));
    executor_fini(&exec.executor);
}
END_TEST

static int run_long_at_8(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX])
{
    const struct timespec long_time = {2, 300000000}; /* that of two slices */
    if (first <= 8 && 8 < first + count)
        nanosleep(&long_time, NULL);
    return run(instance, first, count, records, error);
}

START_TEST(what_a_child_takes_long_for_is_no_part)
{
    static const struct hdss_kernel slow = {
        .abi = HDSS_KERNEL_ABI, .name = "slow", .open = open_kernel, .run = run_long_at_8};
    uint64_t done = 0;
    open_exec(false, 1);
    exec.config.kernel = &slow;
    kernel.next = UINT64_MAX;
    executor_begin(&exec.executor, 0, 16, 0, true);
    for (struct event event = {0}; event.type != EVENT_FINISHED;) {
        event = next_event();
        ck_assert_uint_gt(event.chunk.count, 0);
        done += event.chunk.count;
    }
    ck_assert_uint_eq(done, 16);
    executor_fini(&exec.executor);
}
END_TEST

/* --- loops of which hardly anything is known --- */

static struct {
    unsigned together; /* calls of the kernel with two long iterations */
} wild;

static bool is_long(uint64_t iteration)
{
    return random_at(5, iteration) % 8 == 0;
}

static int run_wildly(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX])
{
    unsigned longs = 0;
    (void)instance, (void)records, (void)error;
    for (uint64_t i = first; i < first + count; i++)
        longs += is_long(i);
    spend(3e6 * longs);
    wild.together += longs > 1;
    return 0;
}

/* One iteration in eight is longer than a turn, the others cost nothing. */
START_TEST(a_call_has_one_long_iteration)
{
    static const struct hdss_kernel wild_kernel = {
        .abi = HDSS_KERNEL_ABI, .name = "wild", .open = open_kernel, .run = run_wildly};
    const struct hdss_loop of_it = {.iterations = 1 << 20, .type = HDSS_UINT8, .record_length = 1, .dims = 1};
    const struct exec_config config = {.kernel = &wild_kernel, .loop = &of_it, .slowdown = 1};
    struct event event = {0};
    memset(&wild, 0, sizeof wild);
    ck_assert_int_eq(exec_init(&exec, &config), 0);
    executor_begin(&exec.executor, 0, 400, 0, false);
    for (uint64_t before = 0; event.type != EVENT_FINISHED; before = exec.chunk.done) {
        unsigned longs = 0;
        executor_advance(&exec.executor, &event);
        for (uint64_t i = before; i < exec.chunk.done; i++)
            longs += is_long(i);
        ck_assert_uint_le(longs, 1); /* of a turn */
    }
    ck_assert_uint_eq(wild.together, 0);
    executor_fini(&exec.executor);
}
END_TEST

/* The tests compare with what the kernel says that it took, which on a busy machine is not what it was asked to take.
 */
START_TEST(the_spread_of_a_chunk_is_measured)
{
    enum { COUNT = 400, PIECE = COUNT / SPREAD_PIECES };
    double took[SPREAD_PIECES] = {0};
    struct spread expected = {0};
    open_exec_for_spread(irregular);
    executor_begin(&exec.executor, 0, COUNT, 17, false);
    ck_assert_int_eq(next_event().type, EVENT_MARK); /* in the middle of a piece, which goes on */
    struct event event = next_event();
    ck_assert_int_eq(event.type, EVENT_FINISHED);
    ck_assert_uint_le(kernel.calls, CALLS);
    for (uint64_t i = 0; i < kernel.calls; i++)
        took[kernel.took[i].first / PIECE] += kernel.took[i].ns;
    for (unsigned i = 0; i < SPREAD_PIECES; i++)
        spread_add(&expected, PIECE, took[i]);
    ck_assert_uint_eq(event.chunk.digest, digest_of(0, COUNT));
    ck_assert_uint_eq(event.chunk.samples, SPREAD_PIECES);
    ck_assert_double_eq_tol(event.chunk.deviation_ns, spread_deviation_ns(&expected),
                            0.05 * spread_deviation_ns(&expected));
    executor_begin(&exec.executor, COUNT, 3, 0,
                   false); /* each iteration is a piece, and the chunk before is forgotten */
    ck_assert_uint_eq(next_event().chunk.samples, 3);
    executor_begin(&exec.executor, COUNT + 3, 1, 0, false);
    event = next_event();
    ck_assert_uint_eq(event.chunk.samples, 1);
    ck_assert_double_eq(event.chunk.deviation_ns, 0);
    executor_fini(&exec.executor);
}
END_TEST

static double of_two_us(uint64_t iteration)
{
    (void)iteration;
    return 2000;
}

START_TEST(pieces_are_not_too_short_to_be_timed)
{
    open_exec_for_spread(of_two_us); /* and some us for writing the record */
    executor_begin(&exec.executor, 0, 200, 0, false);
    struct event event = next_event();
    ck_assert_int_eq(event.type, EVENT_FINISHED);
    ck_assert_uint_ge(event.chunk.samples, 2);
    ck_assert_uint_le((double)event.chunk.samples * SPREAD_PIECE_NS / 2, (double)event.chunk.compute_ns);
    ck_assert_uint_le(kernel.longest, 200 / SPREAD_PIECES * 2);
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(nothing_is_measured_that_nobody_wants)
{
    open_exec(false, 1);
    kernel.next = 0;
    kernel.cost_ns = 1;
    executor_begin(&exec.executor, 0, 30, 0, false);
    next_event();
    exec.iteration_ns = 1; /* known to be short: a turn takes all that fit the buffer */
    kernel.calls = 0;
    executor_begin(&exec.executor, 30, exec.records.capacity, 0, false);
    struct event event = next_event();
    ck_assert_uint_eq(kernel.calls, 1);
    ck_assert_uint_eq(event.chunk.samples, 0);
    ck_assert_double_eq(event.chunk.deviation_ns, 0);
    executor_fini(&exec.executor);
}
END_TEST

static double rising(uint64_t iteration)
{
    return 300000 + 1000 * (double)iteration;
}

START_TEST(a_probe_times_long_iterations_one_by_one)
{
    struct speed speed;
    struct stats expected;
    open_exec(false, 1);
    kernel.next = UINT64_MAX;
    kernel.cost_of = rising;
    executor_probe(&exec.executor, &speed);
    uint64_t timed = 0, done = UINT64_C(1) << (speed.levels - 1);
    stats_init(&expected);
    double shortest = INFINITY, longest = 0;
    for (uint64_t k = 0; k < done; k++) { /* behind the one that warms up */
        double ns = kernel.took[1 + k].ns;
        ck_assert_uint_eq(kernel.took[1 + k].first, kernel.probed[1 + k]);
        stats_add(&expected, ns);
        shortest = k < PROBE_SWR ? fmin(shortest, ns) : shortest;
        longest = k < PROBE_SWR ? fmax(longest, ns) : longest;
    }
    for (unsigned i = 0; i < SPEED_CELLS; i++)
        timed += speed.cells[i].count;
    ck_assert_uint_eq(timed, done);
    ck_assert_double_eq_tol(speed.mean_ns, expected.mean, 0.05 * expected.mean);
    ck_assert_double_eq_tol(speed.deviation_ns, sqrt(expected.m2 / (double)(done - 1)), 0.05 * expected.mean);
    ck_assert_double_eq_tol(speed.swr, shortest / longest, 0.05);
    ck_assert_double_gt(speed.cells[8].mean_ns, speed.cells[0].mean_ns); /* 800 us against 300 */
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(a_probe_times_as_many_as_it_must)
{
    struct speed speed;
    open_exec(false, 1);
    exec.config.probe_least = PROBE_SWR;
    kernel.next = UINT64_MAX;
    kernel.cost_ns = 6e6;
    executor_probe(&exec.executor, &speed);
    ck_assert_uint_eq(kernel.calls, 1 + PROBE_SWR); /* one warms up */
    ck_assert_uint_eq(speed.levels, 1);
    ck_assert_double_gt(speed.swr, 0); /* of five that are alike, but not on every machine: it is known */
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(probes_are_spread_and_the_same_for_all)
{
    struct speed speed;
    uint64_t first[16];
    open_exec(false, 1);
    kernel.next = UINT64_MAX;
    kernel.cost_ns = 500000;
    executor_probe(&exec.executor, &speed);
    ck_assert_uint_ge(speed.levels, 3);
    ck_assert_uint_le(speed.levels, LEVELS_MAX);
    for (unsigned i = 1; i < speed.levels; i++)
        ck_assert_uint_gt(speed.elapsed_ns[i], speed.elapsed_ns[i - 1]);
    ck_assert_uint_eq(kernel.probed[1], 0); /* after the warm-up */
    ck_assert_uint_eq(kernel.probed[2], 500);
    ck_assert_uint_eq(kernel.probed[3], 250);
    ck_assert_uint_eq(kernel.probed[4], 750);
    memcpy(first, kernel.probed, sizeof first);
    executor_fini(&exec.executor);
    open_exec(false, 4);
    kernel.next = UINT64_MAX;
    kernel.cost_ns = 500000;
    executor_probe(&exec.executor, &speed);
    ck_assert_int_eq(memcmp(first, kernel.probed, 3 * sizeof *first), 0);
    ck_assert_uint_ge(speed.elapsed_ns[0], 2000000); /* the slowdown is part of the speed */
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(a_loop_of_one_iteration_is_probed_once)
{
    struct speed speed;
    struct hdss_loop one = loop;
    one.iterations = 1;
    const struct exec_config config = {
        .kernel = &fake, .loop = &one, .slowdown = 1, .probe_first = 7, .probe_count = 1};
    memset(&kernel, 0, sizeof kernel);
    kernel.fail_at = kernel.next = UINT64_MAX;
    ck_assert_int_eq(exec_init(&exec, &config), 0);
    executor_probe(&exec.executor, &speed);
    ck_assert_uint_eq(speed.levels, 1);
    ck_assert_uint_eq(kernel.probed[0], 7);
    ck_assert_uint_eq(kernel.probed[1], 7);
    executor_fini(&exec.executor);
}
END_TEST

/* --- a kernel that sleeps, its first sleep far too long, and makes up for that by the next ones --- */

#define SLEEP_NS 500000.0
#define LATE_NS  20000000.0

static struct {
    double rest_ns; /* of the next sleep; negative after one that was too long */
    bool late;
} sleeper;

static double wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int sleep_run(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX])
{
    (void)instance, (void)first, (void)error;
    memset(records, 0, count * WORDS * sizeof(uint64_t));
    double deadline = wall_ns() + SLEEP_NS * (double)count + sleeper.rest_ns;
    double until = sleeper.late ? deadline : deadline + LATE_NS;
    sleeper.late = true;
    while (wall_ns() < until)
        usleep(100);
    sleeper.rest_ns = deadline - wall_ns();
    return 0;
}

START_TEST(a_sleep_that_is_made_up_for_makes_no_worker_fast)
{
    static const struct hdss_kernel kernel_of_it = {
        .abi = HDSS_KERNEL_ABI, .name = "sleeper", .open = open_kernel, .run = sleep_run};
    struct hdss_loop waits = loop;
    struct speed speed;
    waits.waits = true;
    const struct exec_config config = {.kernel = &kernel_of_it, .loop = &waits, .slowdown = 1, .probe_count = 1000};
    memset(&sleeper, 0, sizeof sleeper);
    ck_assert_int_eq(exec_init(&exec, &config), 0);
    executor_probe(&exec.executor, &speed);
    for (unsigned i = 0; i < speed.levels; i++)
        ck_assert_msg((double)speed.elapsed_ns[i] >= SLEEP_NS * (double)(1u << i) - 1000,
                      "%u iterations of 0.5 ms in %llu ns", 1u << i, (unsigned long long)speed.elapsed_ns[i]);
    executor_fini(&exec.executor);
}
END_TEST

/* --- a kernel that waits: an iteration is over when its descriptor says so --- */

static struct {
    int event;      /* an eventfd: readable when the iteration that runs is over */
    uint64_t began; /* iterations */
    uint64_t running, fail_at;
    bool is_stopped;
} waiter;

static int run_waiting(void *instance, uint64_t first, uint64_t count, struct hdss_output *output,
                       char error[HDSS_ERROR_MAX])
{
    uint64_t over;
    (void)instance;
    ck_assert_uint_eq(count, 1);
    if (waiter.running != first + 1) {
        ck_assert_uint_eq(waiter.running, 0);
        waiter.running = first + 1;
        waiter.began++;
    }
    if (read(waiter.event, &over, sizeof over) != sizeof over)
        return HDSS_WAIT;
    waiter.running = 0;
    if (output->put(output, first, 0, &first, sizeof first) < 0)
        return -1;
    if (first != waiter.fail_at)
        return 0;
    snprintf(error, HDSS_ERROR_MAX, "cannot do %d", (int)first);
    return -1;
}

static int descriptor_of_waiter(void *instance)
{
    (void)instance;
    return waiter.event;
}

static void stop_waiter(void *instance)
{
    (void)instance;
    waiter.is_stopped = true;
}

static void end_iteration(void)
{
    const uint64_t one = 1;
    ck_assert_int_eq(write(waiter.event, &one, sizeof one), sizeof one);
}

static void open_waiter(void (*stop)(void *instance))
{
    static struct hdss_kernel waiting = {.abi = HDSS_KERNEL_ABI,
                                         .name = "waiting",
                                         .open = open_kernel,
                                         .run_variable = run_waiting,
                                         .descriptor = descriptor_of_waiter};
    static const struct hdss_loop of_it = {.iterations = 1000, .waits = true, .has_effects = true, .streams = 1};
    const struct exec_config config = {.kernel = &waiting, .loop = &of_it, .collect = true, .slowdown = 1};
    waiting.stop = stop;
    memset(&waiter, 0, sizeof waiter);
    waiter.fail_at = UINT64_MAX;
    waiter.event = eventfd(0, EFD_NONBLOCK);
    ck_assert_int_eq(exec_init(&exec, &config), 0);
    ck_assert_int_eq(executor_descriptor(&exec.executor), waiter.event);
}

static void open_waiting(void)
{
    open_waiter(NULL);
}

START_TEST(a_kernel_that_waits_does_not_block)
{
    struct event event = {0};
    open_waiting();
    executor_begin(&exec.executor, 0, 3, 0, false);
    ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_BLOCKED);
    ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_BLOCKED);
    ck_assert_uint_eq(waiter.began, 1);
    end_iteration();
    ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_WORKED);
    ck_assert_uint_eq(waiter.began, 2); /* the next has begun in the same turn */
    struct timespec second = {1, 100000000};
    nanosleep(&second, NULL); /* what is done leaves after a second, though the next goes on */
    ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_EVENT);
    ck_assert_int_eq(event.type, EVENT_SLICE);
    ck_assert_uint_eq(event.chunk.count, 1);
    executor_sent(&exec.executor, event.chunk.data);
    ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_BLOCKED);
    for (event.type = EVENT_SLICE; event.type != EVENT_FINISHED;) { /* a slice may leave before the last */
        if (waiter.running > 0)
            end_iteration();
        if (executor_advance(&exec.executor, &event) == TURN_EVENT)
            executor_sent(&exec.executor, event.chunk.data);
    }
    ck_assert_int_eq(event.type, EVENT_FINISHED);
    ck_assert_msg(event.text == NULL, "%s", event.text);
    ck_assert_uint_ge(event.chunk.compute_ns, 1000000000u); /* what it waited is its time */
    ck_assert_uint_eq(waiter.began, 3);
    executor_fini(&exec.executor);
    close(waiter.event);
}
END_TEST

/* Each iteration is the worker's own call, also where care is asked for: it fails alone, and once. */
START_TEST(a_kernel_that_waits_fails_at_one_iteration)
{
    uint64_t done = 0;
    unsigned failures = 0;
    struct event event = {0};
    open_waiting();
    waiter.fail_at = 2;
    executor_begin(&exec.executor, 0, 4, 0, true);
    while (event.type != EVENT_FINISHED) {
        if (waiter.running > 0)
            end_iteration();
        if (executor_advance(&exec.executor, &event) != TURN_EVENT)
            continue;
        if (event.type == EVENT_ITERATIONS_FAILED) {
            ck_assert_uint_eq(done, 2);
            ck_assert_uint_eq(event.chunk.count, 1);
            ck_assert(!event.chunk.final);
            ck_assert_str_eq(event.text, "cannot do 2");
            failures++;
            continue;
        }
        done += event.chunk.count;
        executor_sent(&exec.executor, event.chunk.data);
    }
    ck_assert_uint_eq(done, 3);
    ck_assert_uint_eq(failures, 1);
    ck_assert_uint_eq(waiter.began, 4);
    executor_fini(&exec.executor);
    close(waiter.event);
}
END_TEST

START_TEST(an_iteration_that_waits_has_begun)
{
    struct event event = {0};
    open_waiting();
    executor_begin(&exec.executor, 0, 5, 0, false);
    ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_BLOCKED);
    check_cut(1, 3, 2);
    end_iteration();
    ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_WORKED); /* the next has begun in the same turn */
    check_cut(RECALL_ALL, 2, 1);
    end_iteration();
    ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_EVENT);
    ck_assert_int_eq(event.type, EVENT_FINISHED);
    ck_assert_uint_eq(event.chunk.count, 2);
    ck_assert_uint_eq(waiter.began, 2);
    executor_fini(&exec.executor);
    close(waiter.event);
}
END_TEST

/* A kernel that can be stopped is waited for, without being in anybody's way; its results are dropped. */
START_TEST(an_iteration_that_waits_is_stopped)
{
    struct event event = {0};
    open_waiter(_i > 0 ? stop_waiter : NULL);
    executor_begin(&exec.executor, 0, 5, 0, false);
    ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_BLOCKED);
    end_iteration();
    ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_WORKED);
    const struct range rest = executor_end(&exec.executor);
    executor_check(&exec.executor);
    ck_assert_uint_eq(rest.first, 1);
    ck_assert_uint_eq(rest.count, 4);
    ck_assert_int_eq(waiter.is_stopped, _i > 0);
    if (_i > 0) {
        ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_BLOCKED);
        end_iteration();
    }
    ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_EVENT);
    ck_assert_int_eq(event.type, EVENT_FINISHED);
    ck_assert_uint_eq(event.chunk.count, 1);
    ck_assert_uint_eq(waiter.began, 2);
    executor_fini(&exec.executor);
    close(waiter.event);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec");
    TCase *all = tcase_create("exec");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, a_chunk_without_output_is_digested);
    tcase_add_test(all, marks_come_where_they_are_set);
    tcase_add_test(all, results_leave_in_slices_from_two_buffers);
    tcase_add_test(all, a_mark_at_the_end_of_a_slice_follows_it);
    tcase_add_test(all, an_iteration_that_fails_is_left_out);
    tcase_add_test(all, what_kills_a_child_is_left_out);
    tcase_add_test(all, a_kernel_that_cannot_open_leaves_nothing);
    tcase_add_test(all, a_turn_is_short_when_iterations_are_long);
    tcase_add_test(all, long_chunks_leave_results_on_the_way);
    tcase_add_test(all, slowdown_waits_in_proportion_to_the_work);
    tcase_add_test(all, the_spread_of_a_chunk_is_measured);
    tcase_add_test(all, pieces_are_not_too_short_to_be_timed);
    tcase_add_test(all, nothing_is_measured_that_nobody_wants);
    tcase_add_test(all, a_probe_times_long_iterations_one_by_one);
    tcase_add_test(all, a_probe_times_as_many_as_it_must);
    tcase_add_test(all, probes_are_spread_and_the_same_for_all);
    tcase_add_test(all, a_loop_of_one_iteration_is_probed_once);
    tcase_add_test(all, a_sleep_that_is_made_up_for_makes_no_worker_fast);
    tcase_add_test(all, a_kernel_that_waits_does_not_block);
    tcase_add_test(all, a_kernel_that_waits_fails_at_one_iteration);
    tcase_add_loop_test(all, a_chunk_is_cut_behind_what_has_begun, 0, 2);
    tcase_add_loop_test(all, a_chunk_ends_with_what_is_done, 0, 2);
    tcase_add_test(all, a_chunk_is_cut_where_its_slices_have_left);
    tcase_add_test(all, an_iteration_that_failed_is_not_cut_off);
    tcase_add_loop_test(all, whatever_is_cut_the_rest_is_whole, 0, 16);
    tcase_add_loop_test(all, whatever_is_taken_the_rest_is_whole, 0, 16);
    tcase_add_test(all, what_a_child_runs_is_not_cut_off);
    tcase_add_test(all, what_a_child_takes_long_for_is_no_part);
    tcase_add_test(all, an_iteration_that_waits_has_begun);
    tcase_add_loop_test(all, an_iteration_that_waits_is_stopped, 0, 2);
    tcase_add_test(all, a_call_has_one_long_iteration);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
