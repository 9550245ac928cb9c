/* SPDX-License-Identifier: MIT */
/* A kernel that returns a number which it may not is one that fails there: in each executor, in a child process, in
 * short chunks, with variable output, when it is opened and at a time step; and in the probe it harms nobody. */
#include "common/machine/executor.h"
#include "common/machine/machine.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "common/util/returned.h"
#include "hdss/kernel.h"
#include "proto/record.h"
#include "tests/lib/suite.h"
#include "worker/exec/inline.h"
#include "worker/exec/pipeline.h"
#include "worker/exec/thread_pool.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { ITERATIONS = 40, BAD = 11 };

/* Numbers that no call may return; 1 is HDSS_WAIT, which only a kernel with a descriptor may. */
static const int numbers[] = {1, 2, 7, INT_MAX};

static int number, opening, stepping; /* what run, open and step return */

static int open_instance(const union hdss_value *values, const struct hdss_loop *loop, const struct hdss_worker *worker,
                         void **instance, char error[HDSS_ERROR_MAX])
{
    (void)values, (void)loop, (void)worker, (void)error;
    *instance = NULL;
    return opening;
}

static bool is_bad(uint64_t first, uint64_t count)
{
    return first <= BAD && BAD < first + count;
}

static int run(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX])
{
    uint64_t *words = records;
    (void)instance, (void)error;
    for (uint64_t k = 0; k < count; k++)
        words[k] = ~(first + k);
    return is_bad(first, count) ? number : 0;
}

static int run_variable(void *instance, uint64_t first, uint64_t count, struct hdss_output *output,
                        char error[HDSS_ERROR_MAX])
{
    (void)instance, (void)error;
    for (uint64_t i = first; i < first + count; i++)
        if (output->put(output, i, 0, "x", 1) < 0)
            return -1;
    return is_bad(first, count) ? number : 0;
}

static int run_block(void *instance, const struct hdss_block *block, char error[HDSS_ERROR_MAX])
{
    (void)instance, (void)error;
    return is_bad(block->first, block->count) ? number : 0;
}

static int step(void *instance, uint64_t at, const void *results, char error[HDSS_ERROR_MAX])
{
    (void)instance, (void)results, (void)error;
    return at > 0 ? stepping : 0;
}

static const struct hdss_kernel kernel = {.abi = HDSS_KERNEL_ABI, .name = "odd", .open = open_instance, .run = run};
static const struct hdss_kernel variable = {
    .abi = HDSS_KERNEL_ABI, .name = "odd", .open = open_instance, .run_variable = run_variable};
static const struct hdss_kernel blocks = {
    .abi = HDSS_KERNEL_ABI, .name = "odd", .open = open_instance, .run = run, .run_block = run_block};
static const struct hdss_kernel steps = {
    .abi = HDSS_KERNEL_ABI, .name = "odd", .open = open_instance, .run = run, .step = step};

static const struct hdss_loop records = {
    .iterations = ITERATIONS, .type = HDSS_UINT64, .record_length = 1, .dims = 1, .shape = {ITERATIONS}};
static const struct hdss_loop streams = {.iterations = ITERATIONS, .streams = 1};

static struct exec_config config_for(const struct hdss_kernel *of, const struct hdss_loop *loop)
{
    number = numbers[0];
    opening = stepping = 0;
    return (struct exec_config){
        .kernel = of, .loop = loop, .collect = true, .slowdown = 1, .probe_count = ITERATIONS, .probe_least = 1};
}

/* The line that says it. */
static const char *line_of(const char *call)
{
    static char line[80];
    snprintf(line, sizeof line, "%s() returned %d; accepted: 0, or -1 for a failure", call, number);
    return line;
}

/* All of the loop leaves but the iteration for which the kernel returns such a number. */
static void check_loop(struct executor *executor, bool isolated, const char *call)
{
    uint64_t done = 0, failed = 0;
    struct event event = {0};
    executor_begin(executor, 0, ITERATIONS, 0, isolated);
    while (event.type != EVENT_FINISHED) {
        event = (struct event){0};
        if (executor_advance(executor, &event) != TURN_EVENT)
            continue;
        if (event.type == EVENT_ITERATIONS_FAILED) {
            ck_assert_uint_eq(done + failed, BAD); /* events go in order */
            ck_assert_uint_eq(event.chunk.count, 1);
            ck_assert(!event.chunk.final);
            ck_assert_str_eq(event.text, line_of(call));
            failed++;
            continue;
        }
        if (event.type != EVENT_SLICE && event.type != EVENT_FINISHED)
            continue;
        done += event.chunk.count;
        if (event.chunk.data != NULL)
            executor_sent(executor, event.chunk.data);
    }
    ck_assert_uint_eq(failed, 1);
    ck_assert_uint_eq(done, ITERATIONS - 1);
}

START_TEST(it_fails_in_the_rank_and_in_a_child)
{
    static struct exec exec;
    struct speed speed = {0};
    const bool has_streams = _i & 1, is_isolated = _i & 2;
    const struct exec_config config = config_for(has_streams ? &variable : &kernel, has_streams ? &streams : &records);
    number = numbers[_i / 4];
    ck_assert_int_eq(exec_init(&exec, &config), 0);
    executor_probe(&exec.executor, &speed);
    check_loop(&exec.executor, is_isolated, has_streams ? "run_variable" : "run");
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(it_fails_in_short_chunks)
{
    static struct exec exec;
    uint64_t digest = 0, compute_ns = 0;
    struct exec_config config = config_for(&kernel, &records);
    config.collect = false;
    config.short_runs = true;
    number = numbers[_i];
    ck_assert_int_eq(exec_init(&exec, &config), 0);
    exec.shorts.count = ITERATIONS; /* as if it had been found out */
    ck_assert_int_eq(exec_short(&exec, 0, BAD, &digest, &compute_ns), 0);
    ck_assert_int_eq(exec_short(&exec, BAD, 1, &digest, &compute_ns), -1);
    ck_assert_str_eq(exec.error, line_of("run"));
    exec.shorts.run_left = 1; /* the last of a run, which is timed */
    ck_assert_int_eq(exec_short(&exec, BAD, 1, &digest, &compute_ns), -1);
    ck_assert_str_eq(exec.error, line_of("run"));
    executor_fini(&exec.executor);
}
END_TEST

static struct thread_pool pool;

static void *serve(void *context)
{
    (void)context;
    thread_pool_serve(&pool, 1);
    return NULL;
}

START_TEST(it_fails_in_threads)
{
    struct sched_spec technique;
    struct error error;
    pthread_t thread;
    const struct thread_pool_config config = {
        .exec = config_for(&kernel, &records), .threads = 2, .technique = &technique, .cores = 2};
    number = numbers[_i];
    ck_assert_int_eq(sched_spec_parse(&technique, "ss", &error), 0);
    ck_assert_int_eq(thread_pool_init(&pool, &config), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, serve, NULL), 0);
    check_loop(&pool.executor, false, "run");
    thread_pool_stop(&pool);
    pthread_join(thread, NULL);
    executor_fini(&pool.executor);
}
END_TEST

START_TEST(it_ends_a_loop_with_dependencies)
{
    static struct pipeline pipeline;
    struct hdss_loop loop = records;
    struct event event = {0};
    struct speed speed = {0};
    loop.sync = 1;
    loop.distance = loop.boundary_bytes = 1;
    const struct pipeline_config config = {.exec = config_for(&blocks, &loop), .points = 1, .end = ITERATIONS};
    number = numbers[_i];
    ck_assert_int_eq(pipeline_init(&pipeline, &config), 0);
    executor_probe(&pipeline.executor, &speed);
    executor_begin(&pipeline.executor, 0, ITERATIONS, 0, false);
    ck_assert_int_eq(executor_advance(&pipeline.executor, &event), TURN_EVENT);
    ck_assert_int_eq(event.type, EVENT_FATAL);
    ck_assert_str_eq(event.text, line_of("run_block"));
    executor_fini(&pipeline.executor);
}
END_TEST

static int read_zeros(void *context, uint64_t first, uint64_t count, void *to, struct error *error)
{
    (void)context, (void)first, (void)error;
    memset(to, 0, count * sizeof(uint64_t));
    return 0;
}

START_TEST(it_ends_a_loop_with_time_steps)
{
    static struct exec exec;
    struct event event = {0};
    char line[100];
    struct exec_config config = config_for(&steps, &records);
    config.step_iterations = ITERATIONS / 4;
    config.read = read_zeros;
    stepping = number = numbers[_i];
    ck_assert_int_eq(exec_init(&exec, &config), 0);
    executor_begin(&exec.executor, ITERATIONS / 4, 1, 0, false);
    ck_assert_int_eq(executor_advance(&exec.executor, &event), TURN_EVENT);
    ck_assert_int_eq(event.type, EVENT_FATAL);
    snprintf(line, sizeof line, "time step 1: %s", line_of("step"));
    ck_assert_str_eq(event.text, line);
    executor_fini(&exec.executor);
}
END_TEST

START_TEST(it_is_not_open)
{
    static struct exec exec;
    const struct exec_config config = config_for(&kernel, &records);
    opening = number = numbers[_i];
    ck_assert_int_eq(exec_init(&exec, &config), -1);
    ck_assert_str_eq(exec.error, line_of("open"));
}
END_TEST

START_TEST(what_a_kernel_says_of_its_failure_stays)
{
    char error[HDSS_ERROR_MAX] = "cannot do 3";
    ck_assert_int_eq(returned(0, "run", error), 0);
    ck_assert_int_eq(returned(-1, "run", error), -1);
    ck_assert_int_eq(returned(INT_MIN, "run", error), -1);
    ck_assert_str_eq(error, "cannot do 3");
}
END_TEST

int main(void)
{
    const int count = sizeof numbers / sizeof *numbers;
    Suite *suite = suite_create("returned");
    TCase *tcase = tcase_create("returned");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, it_fails_in_the_rank_and_in_a_child, 0, 4 * count);
    tcase_add_loop_test(tcase, it_fails_in_short_chunks, 0, count);
    tcase_add_loop_test(tcase, it_fails_in_threads, 0, count);
    tcase_add_loop_test(tcase, it_ends_a_loop_with_dependencies, 0, count);
    tcase_add_loop_test(tcase, it_ends_a_loop_with_time_steps, 0, count);
    tcase_add_loop_test(tcase, it_is_not_open, 0, count);
    tcase_add_test(tcase, what_a_kernel_says_of_its_failure_stays);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
