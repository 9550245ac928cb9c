/* SPDX-License-Identifier: MIT */
/* Why the machines decide as they do, as the trace tells it: the decisions that people ask about most. */
#include "tests/lib/cluster.h"
#include "tests/lib/suite.h"

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
    suite_add_tcase(suite, all);
    return suite_run(suite);
}
