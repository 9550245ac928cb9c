/* SPDX-License-Identifier: MIT */
/* Recall: while a worker is idle, no iteration that has not begun waits with another for longer than the messages take.
 * What was asked ahead, the rest of a running chunk and the pool of another master go to who is idle; a worker that
 * does not answer holds up nothing; and who returns what it cannot is dropped. */
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/service/service.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "deploy/simulate/virtual/cluster.h"
#include "master/master.h"
#include "proto/message.h"
#include "proto/record.h"
#include "supermaster/ledger.h"
#include "supermaster/supermaster.h"
#include "tests/lib/cluster.h"
#include "tests/lib/suite.h"

#include <stdio.h>
#include <string.h>

#define MS 1000000.0

static char trace[1 << 22];

static void keep_line(void *context, const char *line)
{
    static size_t length;
    (void)context;
    length = trace[0] == '\0' ? 0 : length;
    if (length + strlen(line) + 2 < sizeof trace)
        length += (size_t)snprintf(trace + length, sizeof trace - length, "%s\n", line);
}

static double one_ms(void *context, uint64_t iteration)
{
    (void)context, (void)iteration;
    return MS;
}

static double half_a_us(void *context, uint64_t iteration)
{
    (void)context, (void)iteration;
    return 500;
}

static double one_hour(void *context, uint64_t iteration)
{
    (void)context, (void)iteration;
    return 3600e9;
}

static struct virtual_config with_long_iterations(unsigned masters, unsigned workers, const char *technique,
                                                  uint64_t count)
{
    struct virtual_config config = cluster_plain(masters, workers, technique, count);
    config.cost_ns = one_ms;
    config.spec.ask_ahead = ASK_AHEAD_OFF;
    return config;
}

/* Runs it, all iterations done but `failed` of them. Returns the time of the loop, in ms. */
static double run(struct virtual_config config, uint64_t failed, struct virtual_result *result)
{
    static struct supermaster kept;
    trace[0] = '\0';
    config.trace = keep_line;
    struct virtual_cluster *cluster = cluster_ran(&config, result);
    const struct supermaster *supermaster = result->supermaster;
    ck_assert_int_eq(result->status, failed > 0 ? EXIT_STATUS_TASKS : EXIT_STATUS_DONE);
    ck_assert_uint_eq(supermaster->ledger.done + failed, config.count);
    ck_assert_uint_eq(ranges_total(&supermaster->ledger.failed), failed);
    if (failed == 0)
        ck_assert_uint_eq(supermaster->ledger.digest, virtual_checksum(config.first, config.count));
    double elapsed_ms = (double)(supermaster->last_commit_ns - supermaster->cut.first_ns) / MS;
    kept = *supermaster;
    result->supermaster = &kept; /* its figures outlive the cluster */
    virtual_free(cluster);
    return elapsed_ms;
}

static void assert_said(const char *text)
{
    ck_assert_msg(strstr(trace, text) != NULL, "'%s' is not in\n%.3000s", text, trace);
}

static void assert_not_said(const char *text)
{
    const char *there = strstr(trace, text);
    ck_assert_msg(there == NULL, "'%s' is there:\n%.300s", text, there);
}

/* --- what comes back --- */

/* The first worker has asked for all that there is, and takes ten times as long. */
START_TEST(what_was_asked_ahead_comes_back)
{
    const double speeds[] = {0.1, 1};
    struct virtual_result result;
    for (unsigned masters = 0; masters <= 1; masters++) {
        struct virtual_config config = with_long_iterations(masters, 2, "css:chunk=1", 22);
        config.speeds = speeds;
        config.spec.ask_ahead = ASK_AHEAD_FIXED;
        config.spec.ask_ahead_chunks = 10;
        double on = run(config, 0, &result);
        assert_said("RETURNED [");
        ck_assert_uint_gt(result.supermaster->recalls.count, 0);
        ck_assert_double_lt(on, 1.02 * (22 / 1.1 + 10) + 0.5);
        config.spec.recall = RUN_RECALL_OFF;
        double off = run(config, 0, &result);
        ck_assert_double_gt(off, 100);
    }
}
END_TEST

/* One chunk is all of the loop: the other workers get parts of it while it runs. */
START_TEST(the_rest_of_a_running_chunk_is_cut)
{
    struct virtual_result result;
    for (unsigned masters = 0; masters <= 1; masters++) {
        struct virtual_config config = with_long_iterations(masters, 4, "css:chunk=100", 100);
        double on = run(config, 0, &result);
        assert_said("< cut [");
        ck_assert_double_lt(on, 1.02 * (100 / 4.0 + 1) + 0.5);
        ck_assert_uint_eq(result.executed, 100); /* none is computed twice */
        config.spec.recall = RUN_RECALL_OFF;
        ck_assert_double_ge(run(config, 0, &result), 100);
    }
}
END_TEST

static double first_of_a_second(void *context, uint64_t iteration)
{
    (void)context;
    return iteration == 0 ? 1e9 : MS;
}

/* The first worker has all of the loop and is in a long iteration. On its node the others take the rest at once,
 * without an answer; elsewhere it waits. Three chunks are each worker's before the long iteration is over. */
START_TEST(a_silent_worker_is_not_waited_for)
{
    struct virtual_result result;
    for (unsigned masters = 0; masters <= 1; masters++) {
        struct virtual_config config = with_long_iterations(masters, 4, "css:chunk=1000", 1000);
        config.cost_ns = first_of_a_second;
        config.steals = true;
        ck_assert_double_lt(run(config, 0, &result), 1010);
        assert_said(", which is in an iteration");
        ck_assert_uint_eq(result.executed, 1000); /* none is computed twice */
        config.steals = false;
        ck_assert_double_gt(run(config, 0, &result), 1200);
        assert_not_said("is taken from rank 1, which is in");
    }
}
END_TEST

/* Nothing is taken from a worker of another node: it answers. */
START_TEST(no_memory_is_shared_between_nodes)
{
    struct virtual_result result;
    struct virtual_config config = with_long_iterations(0, 2, "css:chunk=1000", 1000);
    const unsigned nodes[] = {0, 1, 0};
    config.cost_ns = first_of_a_second;
    config.steals = true;
    config.rank_node = nodes;
    run(config, 0, &result);
    assert_not_said("is taken from rank 1, which is in");
}
END_TEST

static double third_of_a_second(void *context, uint64_t iteration)
{
    (void)context;
    return iteration == 2 ? 1e9 : 0;
}

/* What waits behind the chunk that runs is given to others at once, and what runs is not, though the completions of the
 * chunks before it have not been sent. */
START_TEST(what_runs_is_known_where_completions_are_held_back)
{
    struct virtual_result result;
    struct virtual_config config = with_long_iterations(0, 3, "css:chunk=1", 64);
    config.cost_ns = third_of_a_second;
    config.spec.ask_ahead = ASK_AHEAD_FIXED;
    config.spec.ask_ahead_chunks = 10;
    config.steals = true;
    ck_assert_double_lt(run(config, 0, &result), 1010);
}
END_TEST

static double first_of_100_s(void *context, uint64_t iteration)
{
    (void)context;
    return iteration == 0 ? 100e9 : MS;
}

/* A first chunk is overdue after 60 s: who is idle computes it as well, unless it may not. */
START_TEST(copies_can_be_switched_off)
{
    struct virtual_result result;
    struct virtual_config config = with_long_iterations(0, 4, "css:chunk=1", 6);
    config.cost_ns = first_of_100_s;
    config.spec.recall = RUN_RECALL_OFF;
    run(config, 0, &result);
    ck_assert_uint_gt(result.supermaster->losses.reissued, 0);
    config.spec.copies = RUN_COPIES_OFF;
    run(config, 0, &result);
    ck_assert_uint_eq(result.supermaster->losses.reissued, 0);
}
END_TEST

/* The workers of the second master hardly get on: those of the first do their work, out of the pool first. */
START_TEST(work_goes_from_master_to_master)
{
    const double speeds[] = {1, 0.02, 1, 0.02, 1, 0.02};
    struct virtual_result result;
    struct virtual_config config = with_long_iterations(2, 6, "css:chunk=20", 240);
    config.cuts_at_once = true;
    config.speeds = speeds;
    config.spec.refill_chunks = 2;
    double on = run(config, 0, &result);
    assert_said("workers of rank 1 wait and nothing is free");
    assert_said("worker 4     > to 2: RETURNED [");
    assert_said("master 2     > to 0: RETURNED [");
    ck_assert_double_lt(on, 1.02 * (240 / 3.06 + 50) + 1);
    config.spec.recall = RUN_RECALL_OFF;
    ck_assert_double_gt(run(config, 0, &result), 1000);
}
END_TEST

/* In each time step one chunk is all of it, which one of two masters gets. */
START_TEST(each_time_step_is_shared)
{
    struct virtual_result result;
    for (unsigned masters = 0; masters <= 2; masters += 2) {
        struct virtual_config config = with_long_iterations(masters, 4, "css:chunk=40", 160);
        config.cuts_at_once = true;
        config.step_iterations = 40;
        config.steps_dependent = true;
        double on = run(config, 0, &result);
        ck_assert_uint_eq(result.too_early, 0);
        ck_assert_double_lt(on, 1.02 * (160 / 4.0 + 4) + 2);
    }
}
END_TEST

/* Without recall the chunks are those of the technique, and nobody is asked for any of them. */
START_TEST(without_recall_chunks_are_those_of_the_technique)
{
    struct virtual_result result;
    struct virtual_config config = with_long_iterations(0, 2, "gss", 20);
    config.spec.recall = RUN_RECALL_OFF;
    run(config, 0, &result);
    assert_said("rank 1 gets [0, 10) of the 20 left: gss says 10\n");
    assert_said("rank 2 gets [10, 15) of the 10 left: gss says 5\n");
    assert_said("rank 2 gets [15, 18) of the 5 left: gss says 3\n");
    assert_said("rank 2 gets [18, 19) of the 2 left: gss says 1\n");
    assert_said("rank 2 gets [19, 20) of the 1 left: gss says 1\n");
    assert_not_said("RECALL");
    assert_not_said("RETURNED");
    ck_assert_uint_eq(result.supermaster->cut.chunks, 5);
    ck_assert_uint_eq(result.supermaster->recalls.count + result.supermaster->recalls.iterations, 0);
}
END_TEST

/* --- who does not answer --- */

/* 64 workers that need 0.5 us for an iteration compute more than a supermaster can cut one by one: where recall evens
 * out the end, and the technique does not say 1 always, chunks are larger than it says. */
START_TEST(no_chunk_is_smaller_than_can_be_cut_in_time)
{
    struct virtual_result result;
    struct virtual_config config = cluster_plain(2, 64, "dfss", 2000000);
    config.cost_ns = half_a_us;
    config.spec.ask_ahead = ASK_AHEAD_OFF;
    run(config, 0, &result);
    assert_said("can be cut in time");
    const uint64_t chunks = result.supermaster->cut.chunks;
    config.spec.recall = RUN_RECALL_OFF;
    run(config, 0, &result);
    assert_not_said("can be cut in time");
    ck_assert_uint_gt(result.supermaster->cut.chunks, chunks);
    config = cluster_plain(2, 64, "ss", 20000);
    config.cost_ns = half_a_us;
    run(config, 0, &result);
    assert_not_said("can be cut in time");
}
END_TEST

/* The last worker is stopped for ever in its first chunk: another has its work after some of the longest iterations, or
 * after the least silence, of 10 ms, and all have it after half as long again as it had had it. */
START_TEST(the_work_of_a_stopped_worker_goes_to_others)
{
    struct virtual_result result;
    for (unsigned masters = 0; masters <= 2; masters += 2) {
        unsigned workers = masters > 0 ? 6 : 3, last = masters + workers;
        struct virtual_config config = with_long_iterations(masters, workers, "css:chunk=100", 100 * workers);
        const struct virtual_fault faults[] = {{.type = VIRTUAL_STOP, .rank = last, .at_ns = 20500000, .for_ns = 0}};
        config.faults = faults;
        config.fault_count = 1;
        double elapsed = run(config, 0, &result), least = 100.0 * workers / (workers - 1);
        assert_said("a second time: rank ");
        ck_assert_msg(elapsed < 1.05 * least + (100 + 10) / 2 + 4 * 10 + 5, "%u masters: %.1f ms", masters, elapsed);
        ck_assert_double_lt((double)result.end_ns, MS * elapsed + 1e9);
    }
}
END_TEST

/* A worker answers after the others have done its work: what it sends is dropped, and it is not. */
START_TEST(a_late_answer_loses_to_the_copy)
{
    struct virtual_result result;
    for (unsigned masters = 0; masters <= 1; masters++) {
        struct virtual_config config = with_long_iterations(masters, 3, "css:chunk=100", 300);
        const struct virtual_fault faults[] = {
            {.type = VIRTUAL_STOP, .rank = masters + 1, .at_ns = 20500000, .for_ns = 118000000}};
        config.faults = faults;
        config.fault_count = 1;
        double elapsed = run(config, 0, &result);
        assert_said("a second time: rank ");
        assert_said("continued");
        ck_assert_uint_eq(result.drops, 0);
        ck_assert_uint_eq(supermaster_loss_count(result.supermaster), 0);
        ck_assert_double_lt(elapsed, 1.05 * (150 + 4 * 10));
    }
}
END_TEST

static double one_is_very_long(void *context, uint64_t iteration)
{
    (void)context;
    return iteration == 13 ? 2000 * MS : 20 * MS;
}

/* While a worker computes a long iteration, another has a copy of its chunk. The others take no part of the copy that
 * has this iteration: they would begin it anew, and what the first worker has computed of it would be lost. */
START_TEST(a_long_iteration_is_not_begun_anew_by_those_who_share_a_copy)
{
    struct virtual_result result;
    for (unsigned masters = 0; masters <= 1; masters++) {
        struct virtual_config config = with_long_iterations(masters, 4, "gss", 40);
        config.cost_ns = one_is_very_long;
        const double elapsed = run(config, 0, &result);
        assert_said("a second time: rank ");
        ck_assert_msg(elapsed < 2000 + 200, "%u masters: %.1f ms", masters, elapsed);
    }
}
END_TEST

static double last_is_longer(void *context, uint64_t iteration)
{
    (void)context;
    return iteration == 39 ? 8 * MS : MS;
}

/* A worker stops for good in the last iteration of its chunk, after it has said that nothing else is left of it. The
 * copy takes longer than a single iteration may, and is left to be finished. */
START_TEST(a_copy_of_many_iterations_is_finished)
{
    struct virtual_result result;
    for (unsigned masters = 0; masters <= 1; masters++) {
        struct virtual_config config = with_long_iterations(masters, 4, "css:chunk=10", 40);
        const struct virtual_fault faults[] = {
            {.type = VIRTUAL_STOP, .rank = masters + 4, .at_ns = 12000000, .for_ns = 0}};
        config.cost_ns = last_is_longer;
        config.faults = faults;
        config.fault_count = 1;
        double elapsed = run(config, 0, &result);
        assert_said("RETURNED [0, 0)");
        assert_said("a second time: rank ");
        ck_assert_msg(elapsed < 50, "%u masters: %.1f ms", masters, elapsed);
    }
}
END_TEST

static double first_is_longest(void *context, uint64_t iteration)
{
    (void)context;
    return iteration == 0 ? 100 * MS : iteration < 10 ? 10 * MS : MS;
}

/* A worker answers when its long iteration is over. What it has computed is not computed again, though others have a
 * copy, and what is behind it is shared, also by the workers of another master. */
static double first_takes_100_ms(void *context, uint64_t iteration)
{
    (void)context;
    return iteration == 0 ? 100 * MS : MS;
}

/* Four iterations, of which the first takes long, on four workers whose powers are measured. Returns the time in ms. */
static double run_on_uneven(unsigned masters, const double *speeds)
{
    struct virtual_result result;
    struct virtual_config config = with_long_iterations(masters, 4, "ss", 4);
    config.speeds = speeds;
    config.cost_ns = first_takes_100_ms;
    config.spec.power = RUN_POWER_MEASURE;
    config.cuts_at_once = true;
    const double elapsed = run(config, 0, &result);
    assert_said("a second time: rank ");
    ck_assert_uint_eq(supermaster_loss_count(result.supermaster), 0);
    return elapsed;
}

START_TEST(who_is_much_faster_takes_over_from_who_is_slow)
{
    const double speeds[] = {0.25, 1, 1, 1};
    for (unsigned masters = 0; masters <= 1; masters++) {
        const double elapsed = run_on_uneven(masters, speeds);
        ck_assert_msg(elapsed < 120, "%u masters: %.1f ms", masters, elapsed); /* 400 with the slow worker */
    }
}
END_TEST

START_TEST(a_copy_of_the_fastest_is_not_given_up_for_a_third)
{
    const double speeds[] = {0.25, 0.5, 0.5, 1};
    for (unsigned masters = 0; masters <= 1; masters++) {
        const double elapsed = run_on_uneven(masters, speeds);
        ck_assert_msg(elapsed < 130, "%u masters: %.1f ms", masters, elapsed);
    }
}
END_TEST

START_TEST(a_worker_in_a_long_iteration_answers_late)
{
    struct virtual_result result;
    for (unsigned masters = 0; masters <= 2; masters++) {
        struct virtual_config config = with_long_iterations(masters, 4, "css:chunk=10", 40);
        config.cost_ns = first_is_longest;
        double elapsed = run(config, 0, &result);
        assert_said("RETURNED [");
        ck_assert_msg(elapsed < 100 + 75, "%u masters: %.1f ms", masters, elapsed);
    }
}
END_TEST

static double first_takes_long(void *context, uint64_t iteration)
{
    (void)context;
    return iteration == 0 ? 200 * MS : MS;
}

/* The first iteration takes 200 ms, and its worker has asked for more. It does not answer, has begun nothing else, and
 * others get that: nothing but the long iteration is computed twice. */
START_TEST(what_was_asked_ahead_is_taken_from_who_is_in_a_long_iteration)
{
    struct virtual_result result;
    for (unsigned masters = 0; masters <= 2; masters++) {
        struct virtual_config config = with_long_iterations(masters, 4, "css:chunk=1", 400);
        config.cost_ns = first_takes_long;
        config.spec.ask_ahead = ASK_AHEAD_FIXED;
        config.spec.ask_ahead_chunks = 10;
        double elapsed = run(config, 0, &result);
        assert_said(" is taken from rank ");
        ck_assert_msg(elapsed < 203, "%u masters: %.1f ms", masters, elapsed);
        ck_assert_uint_le(result.executed, 401);
    }
}
END_TEST

static enum virtual_outcome one_fails(void *context, unsigned rank, uint64_t iteration)
{
    (void)context, (void)rank;
    return iteration == 2 ? VIRTUAL_FAILS : VIRTUAL_WORKS;
}

/* A worker becomes so slow that its answer to a RECALL is always late. It gets an iteration that failed with the other
 * one, is asked for it as that one is idle, and returns it. The other one may have it a second after the failure. */
START_TEST(what_failed_with_the_idle_worker_does_not_come_back_for_ever)
{
    struct virtual_result result;
    for (uint64_t event = 1; event <= 20; event++) {
        struct virtual_config config = cluster_plain(0, 2, "ss", 10);
        const struct virtual_fault fault = {.type = VIRTUAL_SLOW, .rank = 1, .at_event = event, .factor = 50000};
        config.cost_ns = half_a_us;
        config.service_ns = 2000;
        config.faults = &fault;
        config.fault_count = 1;
        config.spec.retries = 2;
        config.spec.ask_ahead = ASK_AHEAD_FIXED;
        config.spec.ask_ahead_chunks = 10;
        config.outcome = one_fails;
        config.limit_ns = UINT64_C(100000000000);
        run(config, 1, &result);
    }
}
END_TEST

static double ms_of(const char *line)
{
    double us;
    ck_assert_int_eq(sscanf(line, "%lf", &us), 1);
    return us / 1000;
}

static double ten_ms(void *context, uint64_t iteration)
{
    (void)context, (void)iteration;
    return 10 * MS;
}

enum { DEAF_MAX = 100 };

/* The rank hears of nothing but in the first 200 us of each 100 ms, as a worker does whose iterations take so long. */
static void be_deaf(struct virtual_config *config, unsigned rank, struct virtual_fault faults[static DEAF_MAX])
{
    for (unsigned i = 0; i < DEAF_MAX; i++)
        faults[i] = (struct virtual_fault){
            .type = VIRTUAL_STALL, .rank = rank, .at_ns = i * UINT64_C(100000000) + 200000, .for_ns = 99800000};
    config->faults = faults;
    config->fault_count = DEAF_MAX;
}

/* The line of the trace that a place is in. */
static const char *line_of(const char *place)
{
    while (place > trace && place[-1] != '\n')
        place--;
    return place;
}

/* How often the worker was stopped as another had its chunk. After each of these it asks for work within `most_ms`. */
static unsigned count_stops(unsigned worker, double most_ms)
{
    char stop[40], ask[40];
    unsigned stops = 0;
    snprintf(stop, sizeof stop, ": stops rank %u: another", worker);
    snprintf(ask, sizeof ask, "worker %-5u = COMPUTING -> ASKING", worker);
    for (const char *stopped = trace; (stopped = strstr(stopped, stop)) != NULL; stopped++, stops++) {
        const char *asked = strstr(stopped, ask), *line = line_of(stopped);
        ck_assert_msg(asked != NULL, "%.80s", line);
        ck_assert_msg(ms_of(line_of(asked)) < ms_of(line) + most_ms, "%.80s\n%.80s", line, asked);
    }
    return stops;
}

/* The last worker takes ten times as long for an iteration. Whenever another has its chunk, it is there for the same or
 * the next of three time steps when the iteration is over that it computes. In each step a copy is not shared for half
 * as long as the chunk took before. */
START_TEST(the_loser_of_a_copy_stops_at_its_next_iteration)
{
    const double speeds[] = {0.97, 0.97, 0.97, 0.1};
    static struct virtual_fault faults[DEAF_MAX];
    unsigned stops = 0;
    for (unsigned masters = 0; masters <= 1; masters++)
        for (unsigned chunk = 11; chunk <= 30; chunk += 19) {
            struct virtual_result result;
            struct virtual_config config =
                with_long_iterations(masters, 4, chunk == 11 ? "css:chunk=11" : "css:chunk=30", 12 * chunk);
            config.cuts_at_once = true;
            config.step_iterations = 4 * chunk;
            config.steps_dependent = true;
            config.speeds = speeds;
            config.cost_ns = ten_ms;
            be_deaf(&config, masters + 4, faults);
            double elapsed = run(config, 0, &result);
            ck_assert_uint_eq(result.supermaster->steps.count, 3);
            stops += count_stops(masters + 4, 100.3);
            ck_assert_uint_eq(result.drops, 0);
            ck_assert_double_lt(elapsed, 1.02 * 120 * chunk / 3.01 + 5 * 100 + 3 * 10 * chunk / 2.0);
        }
    ck_assert_uint_ge(stops, 1);
}
END_TEST

static unsigned count_of(const char *text)
{
    unsigned count = 0;
    for (const char *there = trace; (there = strstr(there, text)) != NULL; there++)
        count++;
    return count;
}

/* Others do in each time step what the last worker has, which is stopped for ever: it is sent two RECALLs at most. */
START_TEST(a_stopped_loser_is_told_once)
{
    const struct virtual_fault faults[] = {{.type = VIRTUAL_STOP, .rank = 4, .at_ns = 20500000, .for_ns = 0}};
    struct virtual_result result;
    struct virtual_config config = with_long_iterations(0, 4, "css:chunk=30", 360);
    config.step_iterations = 120;
    config.steps_dependent = true;
    config.faults = faults;
    config.fault_count = 1;
    run(config, 0, &result);
    assert_said(": stops rank 4: another");
    ck_assert_uint_eq(count_of("> to 4: RECALL"), 2);
}
END_TEST

/* The last worker takes ten times as long for the one iteration that it has: it could give nothing up. */
START_TEST(a_loser_with_one_iteration_is_not_stopped)
{
    const double speeds[] = {1, 1, 0.02};
    struct virtual_result result;
    for (unsigned masters = 0; masters <= 1; masters++) {
        struct virtual_config config = with_long_iterations(masters, 3, "css:chunk=1", 45);
        config.step_iterations = 15;
        config.speeds = speeds;
        run(config, 0, &result);
        assert_said("a second time: rank ");
        assert_not_said("stops rank");
    }
}
END_TEST

/* --- the end --- */

/* After a drain no worker begins an iteration: the run ends when those that run are over. */
START_TEST(nothing_begins_after_a_drain)
{
    for (unsigned masters = 0; masters <= 2; masters += 2) {
        struct virtual_result result;
        struct virtual_config config = with_long_iterations(masters, 4, "css:chunk=50", 400);
        config.spec.ask_ahead = ASK_AHEAD_FIXED;
        config.spec.ask_ahead_chunks = 1;
        config.drain_at_ns = 10300000;
        config.trace = keep_line;
        trace[0] = '\0';
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        ck_assert_int_eq(result.status, EXIT_STATUS_DRAINED);
        ck_assert_uint_eq(result.executed, 4 * 11); /* ten are over, and the eleventh runs */
        ck_assert_uint_eq(result.supermaster->ledger.done, result.executed);
        ck_assert_double_lt((double)result.end_ns / MS, 10.3 + 1 + 0.2);
        for (const char *line = strstr(trace, "END drain"); line != NULL && *line != '\0';) {
            const char *next = strchr(line, '\n');
            next = next != NULL ? next + 1 : line + strlen(line);
            const char *begun = strstr(line, "> run #");
            ck_assert_msg(begun == NULL || begun > next || ms_of(line) < 10.3, "begins: %.80s", line);
            line = next;
        }
        virtual_free(cluster);
    }
}
END_TEST

/* What is done stays, and the run is over as soon as all have heard of it; a kernel that runs within its worker ends
 * with its iteration. */
START_TEST(what_runs_is_ended)
{
    for (unsigned i = 0; i < 8; i++) {
        struct virtual_result result;
        const bool is_inside = i & 1;
        struct virtual_config config = with_long_iterations(i & 2, 4, "css:chunk=50", 400);
        config.cuts_at_once = !is_inside;
        config.cancel_at_ns = 10300000;
        config.drain_at_ns = i & 4 ? 10250000 : 0;
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        ck_assert_int_eq(result.status, EXIT_STATUS_DRAINED);
        ck_assert_uint_eq(result.supermaster->ledger.done, 4 * (is_inside ? 11 : 10));
        ck_assert_uint_eq(supermaster_failure_count(result.supermaster), 0);
        ck_assert_double_lt((double)result.end_ns / MS, 10.3 + 0.2 + is_inside);
        virtual_free(cluster);
    }
}
END_TEST

/* Of iterations of an hour, too. */
START_TEST(a_probe_that_runs_is_ended)
{
    for (unsigned masters = 0; masters <= 2; masters += 2) {
        struct virtual_result result;
        struct virtual_config config = cluster_plain(masters, 4, "gss", 400);
        config.cost_ns = one_hour;
        config.spec.power = RUN_POWER_MEASURE;
        config.cancel_at_ns = 10000000;
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        ck_assert_int_eq(result.status, EXIT_STATUS_DRAINED);
        ck_assert_double_lt((double)result.end_ns / MS, 10 + 0.2);
        virtual_free(cluster);
    }
}
END_TEST

/* --- iterations that do not work --- */

static enum virtual_outcome fails(void *context, unsigned rank, uint64_t iteration)
{
    (void)context, (void)rank;
    return iteration == 70 ? VIRTUAL_FAILS : VIRTUAL_WORKS;
}

static enum virtual_outcome poisoned(void *context, unsigned rank, uint64_t iteration)
{
    (void)context, (void)rank;
    return iteration == 70 ? VIRTUAL_CRASHES : VIRTUAL_WORKS;
}

/* Iteration 70 is behind in the one chunk of the loop: it moves from worker to worker before it is tried. */
START_TEST(recalled_iterations_that_fail_are_given_up)
{
    struct virtual_result result;
    for (unsigned masters = 0; masters <= 1; masters++) {
        struct virtual_config config = with_long_iterations(masters, 5, "css:chunk=100", 100);
        config.outcome = fails;
        config.spec.retries = 2;
        run(config, 1, &result);
        assert_said("which was recalled");
        config.outcome = poisoned;
        run(config, 1, &result);
        assert_said("which was recalled");
        ck_assert_uint_ge(supermaster_loss_count(result.supermaster), 2);
    }
}
END_TEST

/* --- nonsense --- */

static struct actions actions;

/* Does what the message says at the master; the text of the rank that it drops, or NULL. */
static const char *step(struct master *master, unsigned from, const struct message *message)
{
    actions_clear(&actions);
    master_step(master, &(struct event){.type = EVENT_MESSAGE, .now_ns = 1, .from = from, .message = message},
                &actions);
    for (size_t i = 0; i < actions.length; i++)
        if (actions.items[i].type == ACTION_DROP) {
            ck_assert_uint_eq(actions.items[i].drop.rank, from);
            return actions.items[i].drop.text;
        }
    return NULL;
}

static bool sends_recall_to(unsigned rank)
{
    for (size_t i = 0; i < actions.length; i++)
        if (actions.items[i].type == ACTION_SEND && actions.items[i].send.to == rank &&
            actions.items[i].send.message.type == MESSAGE_RECALL)
            return true;
    return false;
}

/* A worker returns the range. */
static const char *returns(struct master *master, unsigned from, uint64_t first, uint64_t count)
{
    static unsigned char records[ASSIGN_RECORD_BYTES];
    assign_record_put(records, 0, first, count);
    return step(master, from,
                &(struct message){.type = MESSAGE_RETURNED, .records = records, .record_count = count > 0});
}

/* Workers 3 and 5 of the master: 3 computes [0, 20), nothing is free, and 5 waits. */
static void start_master(struct master *master)
{
    static const unsigned ranks[] = {3, 5};
    static const struct run_spec spec = {.refill_chunks = 1, .threads = 1};
    static unsigned char records[CHUNK_RECORD_BYTES];
    const struct master_config config = {.spec = &spec, .rank = 1, .ranks = ranks, .workers = 2};
    const struct message asks = {.type = MESSAGE_REQUEST, .request = {.asks = 1}};
    if (actions.items == NULL)
        ck_assert_int_eq(actions_init(&actions, 8), 0);
    ck_assert_int_eq(master_init(master, &config), 0);
    chunk_record_put(records, 0, &(struct chunk_record){0, 20, 3});
    ck_assert_ptr_null(step(master, 3, &asks));
    ck_assert_ptr_null(
        step(master, 0, &(struct message){.type = MESSAGE_REFILL, .records = records, .record_count = 1}));
    ck_assert_ptr_null(step(master, 5, &asks));
    ck_assert_ptr_null(step(master, 0, &(struct message){.type = MESSAGE_REFILL, .refill = {.empty = true}}));
}

static void assert_refused(const char *text, const char *words)
{
    ck_assert_msg(text != NULL && strstr(text, words) != NULL, "'%s' and not '%s'", text, words);
}

START_TEST(a_worker_that_returns_what_it_cannot_is_dropped)
{
    static const struct {
        unsigned from;
        uint64_t first, count;
        const char *words; /* NULL: as it should be */
    } cases[] = {
        {3, 10, 10, NULL},
        {3, 0, 20, NULL}, /* it had not begun: the chunk was on its way */
        {3, 19, 1, NULL},
        {3, 0, 0, NULL},                 /* all has begun */
        {3, 10, 5, "was not assigned"},  /* out of the middle */
        {3, 15, 10, "was not assigned"}, /* more than there is */
        {3, 40, 10, "was not assigned"}, /* another's */
        {5, 10, 10, "was not recalled"},
        {5, 0, 0, "was not recalled"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct master master;
        start_master(&master);
        ck_assert(sends_recall_to(3));
        const char *text = returns(&master, cases[i].from, cases[i].first, cases[i].count);
        if (cases[i].words == NULL)
            ck_assert_msg(text == NULL, "case %zu: %s", i, text);
        else
            assert_refused(text, cases[i].words);
        master_check(&master);
        master_fini(&master);
    }
}
END_TEST

START_TEST(a_chunk_is_returned_once_and_without_its_results)
{
    struct master master;
    start_master(&master);
    ck_assert_ptr_null(step(&master, 3, &(struct message){.type = MESSAGE_RESULT, .result = {1, 12, 7}}));
    assert_refused(returns(&master, 3, 10, 10), "was not assigned"); /* the results of two of them have come */
    master_fini(&master);

    start_master(&master);
    ck_assert_ptr_null(returns(&master, 3, 19, 1));
    ck_assert(!sends_recall_to(3));
    assert_refused(returns(&master, 3, 18, 1), "was not recalled");
    master_fini(&master);

    start_master(&master); /* a lost worker is not listened to */
    actions_clear(&actions);
    master_step(&master, &(struct event){.type = EVENT_RANK_LOST, .now_ns = 1, .from = 3}, &actions);
    ck_assert_ptr_null(returns(&master, 3, 10, 10));
    ck_assert_uint_eq(master.service.recall.count, 0);
    master_check(&master);
    master_fini(&master);
}
END_TEST

START_TEST(a_supermaster_that_recalls_twice_is_dropped)
{
    const struct message recall = {.type = MESSAGE_RECALL, .recall = {1}};
    struct master master;
    start_master(&master);
    ck_assert_ptr_null(step(&master, 0, &recall));
    assert_refused(step(&master, 0, &recall), "recalls work that it may not recall now");
    master_fini(&master);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recall");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, what_was_asked_ahead_comes_back);
    tcase_add_test(all, the_rest_of_a_running_chunk_is_cut);
    tcase_add_test(all, a_silent_worker_is_not_waited_for);
    tcase_add_test(all, no_memory_is_shared_between_nodes);
    tcase_add_test(all, what_runs_is_known_where_completions_are_held_back);
    tcase_add_test(all, copies_can_be_switched_off);
    tcase_add_test(all, work_goes_from_master_to_master);
    tcase_add_test(all, each_time_step_is_shared);
    tcase_add_test(all, without_recall_chunks_are_those_of_the_technique);
    tcase_add_test(all, no_chunk_is_smaller_than_can_be_cut_in_time);
    tcase_add_test(all, the_work_of_a_stopped_worker_goes_to_others);
    tcase_add_test(all, a_late_answer_loses_to_the_copy);
    tcase_add_test(all, a_long_iteration_is_not_begun_anew_by_those_who_share_a_copy);
    tcase_add_test(all, a_copy_of_many_iterations_is_finished);
    tcase_add_test(all, the_loser_of_a_copy_stops_at_its_next_iteration);
    tcase_add_test(all, a_stopped_loser_is_told_once);
    tcase_add_test(all, a_loser_with_one_iteration_is_not_stopped);
    tcase_add_test(all, who_is_much_faster_takes_over_from_who_is_slow);
    tcase_add_test(all, a_copy_of_the_fastest_is_not_given_up_for_a_third);
    tcase_add_test(all, a_worker_in_a_long_iteration_answers_late);
    tcase_add_test(all, what_was_asked_ahead_is_taken_from_who_is_in_a_long_iteration);
    tcase_add_test(all, what_failed_with_the_idle_worker_does_not_come_back_for_ever);
    tcase_add_test(all, nothing_begins_after_a_drain);
    tcase_add_test(all, what_runs_is_ended);
    tcase_add_test(all, a_probe_that_runs_is_ended);
    tcase_add_test(all, recalled_iterations_that_fail_are_given_up);
    tcase_add_test(all, a_worker_that_returns_what_it_cannot_is_dropped);
    tcase_add_test(all, a_chunk_is_returned_once_and_without_its_results);
    tcase_add_test(all, a_supermaster_that_recalls_twice_is_dropped);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
