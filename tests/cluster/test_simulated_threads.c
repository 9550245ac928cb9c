/* SPDX-License-Identifier: MIT */
/* Workers of several threads in virtual time: what they take is what the technique among threads says, and each
 * iteration is stored once, whatever is cut off, slowed down, or lost. */
#include "common/sched/sched.h"
#include "deploy/simulate/virtual/cluster.h"
#include "tests/lib/suite.h"

static struct error error;

/* The i-th iteration takes i + 1 us. */
static double increasing(void *context, uint64_t iteration)
{
    (void)context;
    return 1000.0 * (double)(iteration + 1);
}

static struct virtual_config config_of(unsigned masters, unsigned workers, unsigned threads,
                                       const char *thread_technique)
{
    struct virtual_config config = {
        .masters = masters,
        .workers = workers,
        .technique = "fac2",
        .count = 300,
        .collect = true,
        .cost_ns = increasing,
        .limit_ns = UINT64_C(10000000000),
    };
    config.spec.threads = threads;
    ck_assert_msg(sched_spec_parse(&config.spec.thread_technique, thread_technique, &error) == 0, "%s", error.text);
    return config;
}

/* Runs it to its end. Returns when that was, in us. */
static double run(const struct virtual_config *config)
{
    struct virtual_cluster *cluster = virtual_new(config, &error);
    ck_assert_msg(cluster != NULL, "%s", error.text);
    const struct virtual_result result = virtual_run(cluster);
    ck_assert_int_eq(result.status, 0);
    ck_assert_uint_eq(result.wrong, 0);
    ck_assert_uint_eq(result.too_early, 0);
    ck_assert_uint_ge(result.executed, config->count);
    if (config->fault_count == 0) {
        ck_assert_uint_eq(result.stored_twice, 0);
        ck_assert_uint_eq(result.executed, config->count);
    }
    const double end_us = (double)result.end_ns / 1000;
    virtual_free(cluster);
    return end_us;
}

/* One worker has the whole loop as one chunk: the time of the thread that is over last. */
START_TEST(the_technique_shares_a_chunk)
{
    static const struct {
        const char *technique;
        double time_us;
    } cases[] = {
        {"static", 225 * 75 + 75 * 38},          /* the last of four threads has iterations 225 to 299 */
        {"css:chunk=100", 200 * 100 + 50 * 101}, /* a thread has nothing to do */
        {"css:chunk=50", 50 * 50 + 25 * 51 + 250 * 50 + 25 * 51}, /* thread 1 has steps 1 and 5 */
    };
    struct virtual_config config = config_of(0, 1, 4, cases[_i].technique);
    config.technique = "static";
    ck_assert_double_eq_tol(run(&config), cases[_i].time_us, 0.01);
}
END_TEST

/* One after the other in the order of who is free: none is over later than the mean by more than the longest. */
START_TEST(self_scheduled_threads_end_together)
{
    struct virtual_config config = config_of(0, 1, 4, "ss");
    config.technique = "static";
    const double mean_us = 300 * 301 / 2.0 / 4;
    const double time_us = run(&config);
    ck_assert_double_ge(time_us, mean_us - 0.01);
    ck_assert_double_le(time_us, mean_us + 300);
}
END_TEST

/* More steps than are planned one by one. */
START_TEST(a_chunk_of_many_steps)
{
    struct virtual_config config = config_of(0, 1, 4, "ss");
    config.technique = "static";
    config.collect = false;
    config.undigested = true;
    config.cost_ns = NULL; /* 1 us each */
    config.call_ns = config.cold_ns = 500;
    config.count = 1000000;
    ck_assert_double_eq_tol(run(&config), 1000000 * 1.5 / 4, 30);
}
END_TEST

/* A thread that is done with a chunk goes on with the next one. */
START_TEST(chunks_overlap)
{
    struct virtual_config config = config_of(0, 1, 2, "static");
    config.technique = "css:chunk=2"; /* each thread has every other iteration */
    config.spec.ask_ahead = ASK_AHEAD_AUTO;
    const double longer_us = 150 * 151; /* of 2, 4, .., 300 us */
    ck_assert_double_le(run(&config), longer_us + 5);
}
END_TEST

static const char *const thread_techniques[] = {"static", "ss", "gss", "fac2", "af", "awf-c"};
#define THREAD_TECHNIQUES 6

START_TEST(each_iteration_is_stored_once)
{
    static const char *const techniques[] = {"static", "ss", "gss", "fac2", "awf-b", "dfss"};
    for (unsigned t = 0; t < 6; t++)
        for (unsigned masters = 0; masters < 3; masters++) {
            struct virtual_config config = config_of(masters, 4, 2 + masters, thread_techniques[_i]);
            config.technique = techniques[t];
            config.latency_ns = 2000;
            config.spec.recall = t % 2 == 0 ? RUN_RECALL_ON : RUN_RECALL_OFF;
            config.slice_iterations = t % 3 == 0 ? 7 : 0;
            config.in_order = true;
            run(&config);
        }
}
END_TEST

START_TEST(slow_and_lost_workers)
{
    for (uint64_t at_ns = 100000; at_ns < 3000000; at_ns += 700000) {
        const struct virtual_fault faults[] = {
            {.type = VIRTUAL_SLOW, .rank = 2, .at_ns = at_ns, .factor = 4},
            {.type = VIRTUAL_KILL, .rank = 3, .at_ns = at_ns + 100000},
            {.type = VIRTUAL_SLOW, .rank = 2, .at_ns = at_ns + 500000, .factor = 0.25},
        };
        struct virtual_config config = config_of(1, 3, 3, thread_techniques[_i]);
        config.latency_ns = 2000;
        config.detect_ns = 50000;
        config.faults = faults;
        config.fault_count = 3;
        run(&config);
    }
}
END_TEST

/* What is left of a draw takes twice as long. */
START_TEST(a_thread_that_becomes_slower)
{
    struct virtual_config config = config_of(0, 1, 3, "static");
    const struct virtual_fault fault = {.type = VIRTUAL_SLOW, .rank = 1, .at_ns = 10000000, .factor = 2};
    config.technique = "static";
    const double before_us = run(&config);
    config.faults = &fault;
    config.fault_count = 1;
    ck_assert_double_eq_tol(run(&config), 10000 + 2 * (before_us - 10000), 0.1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("simulated threads");
    TCase *all = tcase_create("simulated threads");
    tcase_add_loop_test(all, the_technique_shares_a_chunk, 0, 3);
    tcase_add_test(all, self_scheduled_threads_end_together);
    tcase_add_test(all, a_chunk_of_many_steps);
    tcase_add_test(all, chunks_overlap);
    tcase_add_loop_test(all, each_iteration_is_stored_once, 0, THREAD_TECHNIQUES);
    tcase_add_loop_test(all, slow_and_lost_workers, 0, THREAD_TECHNIQUES);
    tcase_add_test(all, a_thread_that_becomes_slower);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
