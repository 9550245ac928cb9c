/* SPDX-License-Identifier: MIT */
/* Why the machines decide as they do, as the trace tells it: the decisions that people ask about most. */
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "deploy/simulate/virtual/cluster.h"
#include "proto/message.h"
#include "tests/lib/cluster.h"
#include "tests/lib/suite.h"
#include "worker/worker.h"

#include <stdio.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)

static char trace[1 << 20];

static void keep_line(void *context, const char *line)
{
    size_t length = strlen(trace);
    (void)context;
    if (length + strlen(line) + 2 < sizeof trace)
        snprintf(trace + length, sizeof trace - length, "%s\n", line);
}

/* Runs it to its end, and keeps its trace. */
static void run(struct virtual_config config, int status)
{
    struct virtual_result result;
    trace[0] = '\0';
    config.trace = keep_line;
    struct virtual_cluster *cluster = cluster_ran(&config, &result);
    ck_assert_int_eq(result.status, status);
    virtual_free(cluster);
}

static void assert_said(const char *who, const char *reason)
{
    char line[300];
    snprintf(line, sizeof line, " %-12s : %s", who, reason);
    ck_assert_msg(strstr(trace, line) != NULL, "'%s' is not in\n%.3000s", line, trace);
}

static void assert_not_said(const char *reason)
{
    ck_assert_msg(strstr(trace, reason) == NULL, "'%s' is in\n%.3000s", reason, trace);
}

START_TEST(a_chunk_says_its_technique_and_bounds)
{
    struct virtual_config config = cluster_plain(0, 2, "gss", 20);
    config.spec.min_chunk = 3;
    config.spec.ask_ahead = ASK_AHEAD_OFF;
    run(config, EXIT_STATUS_DONE);
    assert_said("supermaster", "rank 1 gets [0, 10) of the 20 left: gss says 10\n");
    assert_said("supermaster", "rank 2 gets [10, 15) of the 10 left: gss says 5\n");
    assert_said("supermaster", "rank 2 gets [15, 18) of the 5 left: gss says 3\n");
    assert_said("supermaster", "rank 1 gets [18, 20) of the 2 left: gss says 1, no less than 3\n");
}
END_TEST

START_TEST(a_chunk_says_the_power_of_its_worker)
{
    const double powers[] = {1, 0.25};
    struct virtual_config config = cluster_plain(0, 2, "css:chunk=8", 40);
    config.powers = powers;
    config.spec.weighting = SCHED_WEIGHTING_POWER;
    run(config, EXIT_STATUS_DONE);
    assert_said("supermaster", "rank 1 gets [0, 8) of the 40 left: css says 8, power 1.000\n");
    assert_said("supermaster", "rank 2 gets [8, 10) of the 32 left: css says 8, power 0.250\n");
}
END_TEST

START_TEST(a_chunk_says_the_load_of_its_worker)
{
    const struct virtual_load loads[] = {{.worker = 1, .load = 2}};
    struct virtual_config config = cluster_plain(0, 2, "css:chunk=8", 40);
    config.spec.weighting = SCHED_WEIGHTING_ACP;
    config.loads = loads;
    config.load_count = 1;
    run(config, EXIT_STATUS_DONE);
    assert_said("supermaster", "rank 2 gets [8, 12) of the 32 left: css says 8, power 1.000, load 2.00\n");
}
END_TEST

/* The second worker hardly gets on: the first takes what was cut for it. */
START_TEST(a_master_says_whose_chunk_it_gives)
{
    const double speeds[] = {1, 0.01};
    struct virtual_config config = cluster_plain(1, 2, "css:chunk=4", 80);
    config.speeds = speeds;
    run(config, EXIT_STATUS_DONE);
    assert_said("master 1", "rank 2 gets [0, 4): its own\n");
    assert_said("master 1", "rank 2 gets [12, 16): another's, as it has none of its own\n");
    assert_said("master 1", "asks for a refill: 0 chunks are here, 0 refills on their way, 1 chunks are waited for\n");
    assert_said("supermaster", "the refill of rank 1 is parked: nothing is free\n");
    assert_not_said("returned");
    assert_not_said("suspected");
}
END_TEST

/* The first worker is killed in the middle of its first chunk. */
START_TEST(a_lost_worker_is_told_with_what_goes_to_others)
{
    const struct virtual_fault faults[] = {{.type = VIRTUAL_KILL, .rank = 1, .at_ns = 6000}};
    struct virtual_config config = cluster_plain(0, 2, "css:chunk=5", 20);
    config.faults = faults;
    config.fault_count = 1;
    run(config, EXIT_STATUS_DONE);
    assert_said("supermaster", "[0, 5) is suspected: rank 1 was lost with it\n");
    assert_said("supermaster", "[0, 5) is returned\n");
    assert_said("supermaster", "rank 2 gets [0, 5) again: it was returned\n");
}
END_TEST

static enum virtual_outcome crashes(void *context, unsigned rank, uint64_t iteration)
{
    (void)context;
    (void)rank;
    return iteration == 7 ? VIRTUAL_CRASHES : VIRTUAL_WORKS;
}

/* Iteration 7 ends whoever computes it. */
START_TEST(what_takes_workers_down_is_run_with_care)
{
    struct virtual_config config = cluster_plain(0, 5, "css:chunk=1", 20);
    config.outcome = crashes;
    run(config, EXIT_STATUS_TASKS);
    assert_said("supermaster", "[7, 8) is suspected: rank ");
    ck_assert(strstr(trace, "gets [7, 8) again: it was returned\n") != NULL);
    ck_assert(strstr(trace, "gets [7, 8) again, with care: it was returned\n") != NULL);
    ck_assert(strstr(trace, "[7, 8) failed with rank ") != NULL);
    ck_assert(strstr(trace, ": given up\n") != NULL);
}
END_TEST

/* A worker hangs in its last chunk: it is given to another. */
START_TEST(an_overdue_chunk_says_who_has_it)
{
    const struct virtual_fault faults[] = {{.type = VIRTUAL_STOP, .rank = 1, .at_ns = 6000, .for_ns = 100 * SECOND_NS}};
    struct virtual_config config = cluster_plain(0, 2, "css:chunk=5", 20);
    config.faults = faults;
    config.fault_count = 1;
    run(config, EXIT_STATUS_DONE);
    assert_said("supermaster", "rank 2 gets [0, 5) a second time: rank 1 has it for ");
}
END_TEST

/* --- workers --- */

/* Each has four chunks of 50 us; a round trip takes 5 us, and is at first believed to take 20. */
START_TEST(a_worker_says_why_it_asks_ahead_or_not)
{
    struct virtual_config config = cluster_plain(0, 2, "css:chunk=50", 400);
    config.spec.ask_ahead = ASK_AHEAD_OFF;
    run(config, EXIT_STATUS_DONE);
    assert_said("worker 1", "wants no more: it is not to ask ahead\n");
    assert_said("worker 1", "wants 1 more: it has nothing to compute\n");
    config.spec.ask_ahead = ASK_AHEAD_FIXED;
    config.spec.ask_ahead_chunks = 2;
    run(config, EXIT_STATUS_DONE);
    assert_said("worker 1", "wants 2 more: 0 chunks are here or on their way, and it is to have 2\n");
    assert_said("worker 1",
                "wants 1 more: 2 chunks are here or on their way, and it is to have 3, as none is running\n");
    config.spec.ask_ahead = ASK_AHEAD_AUTO;
    run(config, EXIT_STATUS_DONE);
    assert_said("worker 1", "wants no more: how long an iteration takes is not known yet\n");
    assert_said("worker 1", "wants 1 more: it has work for 18.000 us, 0 chunks are here or on their way, and it asks "
                            "40.000 us ahead\n");
    assert_said("worker 1", "wants no more: it has work for 50.000 us, 0 chunks are here or on their way, and it asks "
                            "39.922 us ahead\n");
    assert_not_said("to compute");
}
END_TEST

/* Chunks shrink in a time step, down to those during which nothing is asked for ahead. */
START_TEST(a_worker_says_that_its_chunk_is_small_for_a_step)
{
    struct virtual_config config = cluster_plain(0, 2, "gss", 2000);
    config.spec.ask_ahead = ASK_AHEAD_AUTO;
    config.step_iterations = 1000;
    config.spec.recall = RUN_RECALL_OFF;
    run(config, EXIT_STATUS_DONE);
    assert_said("worker 1", "wants no more: 125 iterations are few against the 500 of the largest chunk\n");
}
END_TEST

/* A chunk lasts for a tenth of a round trip. */
START_TEST(a_worker_says_that_it_asks_later)
{
    struct virtual_config config = cluster_plain(0, 1, "ss", 400);
    config.spec.ask_ahead = ASK_AHEAD_AUTO;
    config.latency_ns = 5000;
    run(config, EXIT_STATUS_DONE);
    assert_said("worker 1", "asks later, with 1 completions: its chunks are short, and 15 are here or on their way\n");
}
END_TEST

/* A signal comes while both compute; the second needs longer than it is given. */
START_TEST(a_worker_says_why_it_leaves)
{
    const double speeds[] = {1, 0.001};
    struct virtual_config config = cluster_plain(0, 2, "css:chunk=10", 400);
    config.speeds = speeds;
    config.drain_at_ns = 20000;
    config.spec.drain_ns = 500000;
    run(config, EXIT_STATUS_DRAINED);
    assert_said("worker 1", "finishes what has begun of [20, 30): a drain leaves it 0.001 s for that\n");
    assert_said("worker 1", "leaves: the chunk is over that a drain left it\n");
    assert_said("worker 2", "finishes what has begun of [10, 20): a drain leaves it 0.001 s for that\n");
    assert_said("worker 2", "leaves in the middle of [10, 11): the time is over that a drain left it\n");
    config.drain_at_ns = 0;
    config.speeds = NULL;
    run(config, EXIT_STATUS_DONE);
    assert_said("worker 1", "leaves: END came, and it computes nothing\n");
}
END_TEST

START_TEST(a_worker_says_what_it_has_when_its_master_is_lost)
{
    const struct virtual_fault faults[] = {{.type = VIRTUAL_KILL, .rank = 1, .at_ns = 20000}};
    struct virtual_config config = cluster_plain(1, 2, "css:chunk=20", 80);
    config.faults = faults;
    config.fault_count = 1;
    run(config, EXIT_STATUS_DONE);
    assert_said("worker 2", "turns to rank 0: its master was lost, and it has [0, 20) to compute\n");
    assert_said("worker 3", "turns to rank 0: its master was lost, and it has [20, 40) to compute\n");
}
END_TEST

static enum virtual_outcome fails_once(void *context, unsigned rank, uint64_t iteration)
{
    (void)context;
    return rank == 1 && iteration == 3 ? VIRTUAL_FAILS : VIRTUAL_WORKS;
}

START_TEST(a_worker_says_what_did_not_work)
{
    struct virtual_config config = cluster_plain(0, 2, "css:chunk=5", 20);
    config.outcome = fails_once;
    config.spec.retries = 1;
    run(config, EXIT_STATUS_DONE);
    assert_said("worker 1", "[3, 4) did not work: another may try\n");
    assert_not_said("nobody is to try again");
}
END_TEST

/* The third worker is lost in the middle of a loop with dependencies, which ends the run. */
START_TEST(a_worker_says_which_chunk_it_gives_up)
{
    const struct virtual_fault faults[] = {{.type = VIRTUAL_KILL, .rank = 3, .at_ns = 30000}};
    struct virtual_config config = cluster_plain(0, 3, "css:chunk=10", 90);
    config.columns = 8;
    config.faults = faults;
    config.fault_count = 1;
    run(config, EXIT_STATUS_FAILED);
    assert_said("worker 2", "leaves in the middle of [");
    ck_assert(strstr(trace, "): the chunks that it depends on may never be over\n") != NULL);
}
END_TEST

/* A chunk that was not asked for, from a master that cannot be relied on from then on. */
START_TEST(a_worker_says_whom_it_does_without)
{
    const struct run_spec spec = {.ask_ahead = ASK_AHEAD_OFF};
    const struct worker_config config = {.spec = &spec, .rank = 1};
    const struct message assign = {.type = MESSAGE_ASSIGN, .assign = {.chunk = 1, .first = 0, .count = 5}};
    const struct event start = {.type = EVENT_START}, event = {.type = EVENT_MESSAGE, .message = &assign};
    const struct reason_sink sink = {keep_line, NULL};
    struct actions actions;
    struct worker worker;
    trace[0] = '\0';
    ck_assert_int_eq(actions_init(&actions, 4), 0);
    worker_init(&worker, &config);
    const struct machine machine = worker_machine(&worker);
    machine.explain(machine.self, &sink);
    machine.step(machine.self, &start, &actions);
    machine.step(machine.self, &event, &actions); /* which was asked for */
    ck_assert_str_eq(trace, "wants no more: it is not to ask ahead\n");
    machine.step(machine.self, &event, &actions);
    ck_assert(strstr(trace, "\ndoes without rank 0: it assigned chunks that were not asked for\n") != NULL);
    actions_fini(&actions);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reasons");
    TCase *all = tcase_create("all");
    tcase_add_test(all, a_chunk_says_its_technique_and_bounds);
    tcase_add_test(all, a_chunk_says_the_power_of_its_worker);
    tcase_add_test(all, a_chunk_says_the_load_of_its_worker);
    tcase_add_test(all, a_master_says_whose_chunk_it_gives);
    tcase_add_test(all, a_lost_worker_is_told_with_what_goes_to_others);
    tcase_add_test(all, what_takes_workers_down_is_run_with_care);
    tcase_add_test(all, an_overdue_chunk_says_who_has_it);
    tcase_add_test(all, a_worker_says_why_it_asks_ahead_or_not);
    tcase_add_test(all, a_worker_says_that_its_chunk_is_small_for_a_step);
    tcase_add_test(all, a_worker_says_that_it_asks_later);
    tcase_add_test(all, a_worker_says_why_it_leaves);
    tcase_add_test(all, a_worker_says_what_it_has_when_its_master_is_lost);
    tcase_add_test(all, a_worker_says_what_did_not_work);
    tcase_add_test(all, a_worker_says_which_chunk_it_gives_up);
    tcase_add_test(all, a_worker_says_whom_it_does_without);
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
