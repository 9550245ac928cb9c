/* SPDX-License-Identifier: MIT */
/* The executor's short chunks: that they are computed once each and digested, when they are taken for short, and that
 * no time goes uncounted or is counted twice. Times are compared with what the test itself has seen pass, never with
 * figures. */
#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/util/digest.h"
#include "hdss/kernel.h"
#include "tests/lib/suite.h"
#include "worker/exec/inline.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Chunks until they must have been found short; in a row some tens have to be, which a busy machine can disturb. */
#define PATIENCE 1000000
/* More than a run has. */
#define MANY 200

static struct {
    uint64_t next, long_at, long_ns, fail_at;
} kernel;

static struct hdss_loop loop = {
    .iterations = UINT64_C(1) << 40, .type = HDSS_UINT64, .record_length = 1, .dims = 1, .shape = {UINT64_C(1) << 40}};
static struct exec exec;

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int run(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX])
{
    (void)instance;
    uint64_t *words = records;
    if (first != kernel.next) /* Check's own assertions take microseconds, which would not be short */
        ck_abort();
    kernel.next += count;
    for (uint64_t i = 0; i < count; i++)
        words[i] = ~(first + i);
    if (kernel.fail_at >= first && kernel.fail_at < first + count)
        return snprintf(error, HDSS_ERROR_MAX, "cannot do %llu", (unsigned long long)kernel.fail_at), -1;
    if (kernel.long_at >= first && kernel.long_at < first + count)
        for (uint64_t until = clock_ns(CLOCK_MONOTONIC) + kernel.long_ns; clock_ns(CLOCK_MONOTONIC) < until;)
            ;
    return 0;
}

static int open_kernel(const union hdss_value *values, const struct hdss_loop *l, const struct hdss_worker *worker,
                       void **instance, char error[HDSS_ERROR_MAX])
{
    (void)worker;
    (void)values, (void)l, (void)error;
    *instance = NULL;
    return 0;
}

static const struct hdss_kernel fake = {.abi = HDSS_KERNEL_ABI, .name = "fake", .open = open_kernel, .run = run};

static void open_exec(struct exec_config config)
{
    config.kernel = &fake;
    config.loop = &loop;
    config.short_runs = true;
    if (config.slowdown == 0)
        config.slowdown = 1;
    kernel.next = 0;
    kernel.long_at = kernel.fail_at = UINT64_MAX;
    ck_assert_int_eq(exec_init(&exec, &config), 0);
}

/* One chunk the ordinary way; returns its time. */
static uint64_t run_ordinary(uint64_t count, uint64_t *digest)
{
    struct event event = {0};
    executor_begin(&exec.executor, kernel.next, count, 0, false);
    do {
        while (executor_advance(&exec.executor, &event) != TURN_EVENT)
            ;
        *digest += event.chunk.digest;
        if (event.chunk.data != NULL)
            executor_sent(&exec.executor, event.chunk.data);
    } while (event.type != EVENT_FINISHED);
    return event.chunk.compute_ns;
}

/* As a caller has it. */
static uint64_t run_chunk(uint64_t count, uint64_t *digest)
{
    uint64_t compute_ns = 0;
    if (!exec_is_short(&exec, count))
        return run_ordinary(count, digest);
    if (exec_short(&exec, kernel.next, count, digest, &compute_ns) < 0)
        ck_abort();
    return compute_ns;
}

static uint64_t digest_until(uint64_t end)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < end; i++)
        sum += digest_record(i, &(uint64_t){~i}, sizeof(uint64_t));
    return sum;
}

static void find_short(uint64_t *digest, uint64_t *compute_ns)
{
    for (int i = 0; i < PATIENCE && !exec_is_short(&exec, 1); i++)
        *compute_ns += run_chunk(1, digest);
    ck_assert(exec_is_short(&exec, 1));
}

START_TEST(short_chunks_are_found_and_digested)
{
    uint64_t digest = 0, compute_ns = 0, began = clock_ns(CLOCK_MONOTONIC);
    open_exec((struct exec_config){0});
    ck_assert(!exec_is_short(&exec, 1)); /* nothing is known */
    find_short(&digest, &compute_ns);
    for (int i = 0; i < 10000; i++)
        compute_ns += run_chunk(1 + (uint64_t)i % 3, &digest);
    compute_ns += exec_pause(&exec);
    ck_assert_uint_eq(exec_pause(&exec), 0); /* once */
    ck_assert_uint_le(compute_ns, clock_ns(CLOCK_MONOTONIC) - began);
    ck_assert_uint_gt(compute_ns, 0);
    ck_assert(digest == digest_until(kernel.next));
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(a_chunk_that_turns_out_long_is_counted)
{
    open_exec((struct exec_config){0});
    for (uint64_t at = 0; at < 100; at += 7) { /* anywhere in a run, also where it is timed */
        uint64_t digest = 0, compute_ns = 0;
        find_short(&digest, &compute_ns);
        compute_ns = exec_pause(&exec);
        kernel.long_at = kernel.next + at;
        kernel.long_ns = 3000000;
        uint64_t began = clock_ns(CLOCK_MONOTONIC);
        for (int i = 0; i < MANY; i++)
            compute_ns += run_chunk(1, &digest);
        compute_ns += exec_pause(&exec);
        ck_assert_uint_ge(compute_ns, kernel.long_ns);
        ck_assert_uint_le(compute_ns, clock_ns(CLOCK_MONOTONIC) - began);
    }
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(after_a_long_one_chunks_are_timed_again)
{
    uint64_t digest = 0, compute_ns = 0;
    open_exec((struct exec_config){0});
    find_short(&digest, &compute_ns);
    kernel.long_at = kernel.next + 3;
    kernel.long_ns = 1000000;
    for (int i = 0; i < MANY && exec_is_short(&exec, 1); i++)
        compute_ns += run_chunk(1, &digest);
    ck_assert(!exec_is_short(&exec, 1));
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(a_longer_chunk_breaks_a_run_off_and_brings_its_time)
{
    uint64_t digest = 0, compute_ns = 0, more;
    open_exec((struct exec_config){0});
    find_short(&digest, &compute_ns);
    kernel.long_at = kernel.next + 5;
    kernel.long_ns = 2000000;
    compute_ns = exec_pause(&exec);
    for (int i = 0; i < 10; i++)
        compute_ns += run_chunk(1, &digest);
    ck_assert_uint_eq(compute_ns, 0); /* the run goes on */
    more = run_ordinary(100000, &digest);
    ck_assert_uint_ge(more, kernel.long_ns);
    ck_assert(digest == digest_until(kernel.next));
    ck_assert_uint_eq(exec_pause(&exec), 0);
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(what_the_caller_does_in_a_pause_is_not_counted)
{
    uint64_t digest = 0, compute_ns = 0, waited = 5000000;
    open_exec((struct exec_config){0});
    find_short(&digest, &compute_ns);
    exec_pause(&exec);
    compute_ns = 0;
    uint64_t began = clock_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < MANY; i++) {
        if (i == 20) {
            compute_ns += exec_pause(&exec);
            nanosleep(&(struct timespec){.tv_nsec = (long)waited}, NULL);
        }
        compute_ns += run_chunk(1, &digest);
    }
    compute_ns += exec_pause(&exec);
    ck_assert_uint_le(compute_ns + waited, clock_ns(CLOCK_MONOTONIC) - began);
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(a_short_chunk_that_fails_says_why)
{
    uint64_t digest = 0, compute_ns = 0;
    open_exec((struct exec_config){0});
    find_short(&digest, &compute_ns);
    kernel.fail_at = kernel.next;
    ck_assert_int_lt(exec_short(&exec, kernel.next, 1, &digest, &compute_ns), 0);
    ck_assert_ptr_nonnull(strstr(exec.error, "cannot do"));
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(where_each_time_counts_all_are_timed)
{
    const struct exec_config configs[] = {{.collect = true}, {.slowdown = 1.5}, {.spread = true}};
    for (size_t k = 0; k < sizeof configs / sizeof *configs; k++) {
        uint64_t digest = 0;
        open_exec(configs[k]);
        for (int i = 0; i < 1000; i++) {
            run_ordinary(1, &digest);
            if (exec_is_short(&exec, 1))
                ck_abort();
        }
        executor_fini(&exec.executor);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec-short");
    TCase *all = tcase_create("short chunks");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, short_chunks_are_found_and_digested);
    tcase_add_test(all, a_chunk_that_turns_out_long_is_counted);
    tcase_add_test(all, after_a_long_one_chunks_are_timed_again);
    tcase_add_test(all, a_longer_chunk_breaks_a_run_off_and_brings_its_time);
    tcase_add_test(all, what_the_caller_does_in_a_pause_is_not_counted);
    tcase_add_test(all, a_short_chunk_that_fails_says_why);
    tcase_add_test(all, where_each_time_counts_all_are_timed);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
