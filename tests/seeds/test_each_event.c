/* SPDX-License-Identifier: MIT */
/* Small runs in which something happens at each event of each rank in turn, and in which each allocation, write and
 * send fails in turn: after each of them the oracle, and then the run is resumed until it is complete.
 *
 * Where the random scenarios (seeds.c) look everywhere a little, this leaves nothing out of a few line-ups. */
#include "common/config/run_spec.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "deploy/simulate/virtual/cluster.h"
#include "tests/lib/suite.h"
#include "tests/seeds/chain.h"

#define SECOND_NS  UINT64_C(1000000000)
#define ITERATIONS 12

/* Masters and workers; and how results go: collected, brought to the disk before they are reported. */
static const struct {
    unsigned masters, workers;
    bool collect, sync;
} line_ups[] = {{0, 2, true, false}, {1, 2, true, true}, {2, 3, true, false}, {1, 1, false, false}};
enum { LINE_UPS = sizeof line_ups / sizeof *line_ups };

static struct virtual_config small_run(int line_up)
{
    return (struct virtual_config){
        .masters = line_ups[line_up].masters,
        .workers = line_ups[line_up].workers,
        .collect = line_ups[line_up].collect,
        .sync = line_ups[line_up].sync,
        .nodes = 1,
        .technique = "ss",
        .count = ITERATIONS,
        .spec.ask_ahead = ASK_AHEAD_AUTO,
        .slice_iterations = 1,
        .journal = true,
        .latency_ns = 2000,
        .jitter_ns = 500,
        .service_ns = 500,
        .collect_ns = 1000,
        .detect_ns = 5000,
        .limit_ns = 1000 * SECOND_NS,
    };
}

static const struct refusal nothing_refused;

/* Runs it as it is, and then without anything in its way, to its end. False where the n-th was never come to. */
static bool survives(struct virtual_config config, const struct refusal *refusal, const char *what, unsigned rank,
                     uint64_t nth)
{
    struct chain chain;
    chain_init(&chain);
    const char *wrong = chain_run(&chain, &config, refusal);
    bool hit = refusal->nth > 0 ? memory_refused() > 0 : chain.hits > 0;
    struct virtual_config next = small_run(0);
    next.collect = config.collect;
    if (wrong == NULL && chain.status != EXIT_STATUS_DONE) {
        wrong = chain_run(&chain, &next, &nothing_refused);
        if (wrong == NULL && chain.status != EXIT_STATUS_DONE)
            wrong = "not complete after it was resumed";
    }
    ck_assert_msg(wrong == NULL, "%u masters, %u workers, %s, rank %u, %llu: %s", config.masters, config.workers, what,
                  rank, (unsigned long long)nth, wrong);
    chain_fini(&chain);
    return hit;
}

/* The fault at each event of each rank. */
static void strike_everywhere(int line_up, const char *what, struct virtual_fault fault)
{
    struct virtual_config config = small_run(line_up);
    config.faults = &fault;
    config.fault_count = 1;
    for (fault.rank = 0; fault.rank <= config.masters + config.workers; fault.rank++) {
        uint64_t nth = 1;
        do {
            fault.at_event = nth;
            config.fault_seed = nth;
        } while (survives(config, &nothing_refused, what, fault.rank, nth++));
        ck_assert_msg(nth > 3, "%s: rank %u has hardly any events", what, fault.rank);
    }
}

START_TEST(a_kill_at_each_event_and_action)
{
    for (unsigned actions = 0; actions < 4; actions++)
        strike_everywhere(_i, "killed", (struct virtual_fault){.type = VIRTUAL_KILL, .after_actions = actions});
}
END_TEST

START_TEST(a_kill_of_all_at_each_event)
{
    for (unsigned actions = 0; actions < 4; actions++)
        strike_everywhere(_i, "all killed", (struct virtual_fault){.type = VIRTUAL_KILL_ALL, .after_actions = actions});
}
END_TEST

START_TEST(a_stop_at_each_event)
{
    const uint64_t pauses[] = {10000, SECOND_NS, 30 * SECOND_NS};
    for (unsigned i = 0; i < sizeof pauses / sizeof *pauses; i++)
        strike_everywhere(_i, "stopped", (struct virtual_fault){.type = VIRTUAL_STOP, .for_ns = pauses[i]});
}
END_TEST

START_TEST(a_stall_at_each_event)
{
    const uint64_t pauses[] = {10000, SECOND_NS, 30 * SECOND_NS};
    for (unsigned i = 0; i < sizeof pauses / sizeof *pauses; i++)
        strike_everywhere(_i, "stalled", (struct virtual_fault){.type = VIRTUAL_STALL, .for_ns = pauses[i]});
}
END_TEST

START_TEST(a_rank_that_becomes_slow_at_each_event)
{
    const double factors[] = {3, 1000, 1e6};
    for (unsigned i = 0; i < sizeof factors / sizeof *factors; i++)
        strike_everywhere(_i, "slow", (struct virtual_fault){.type = VIRTUAL_SLOW, .factor = factors[i]});
}
END_TEST

/* Everything is killed at the same event of the same rank, run after run, until there is nothing left to do by then. */
START_TEST(kills_of_all_in_a_row)
{
    for (unsigned rank = 0; rank <= line_ups[_i].masters + line_ups[_i].workers; rank++)
        for (uint64_t nth = 1; nth < 60; nth++) {
            struct virtual_fault fault = {.type = VIRTUAL_KILL_ALL, .rank = rank, .at_event = nth};
            struct virtual_config config = small_run(_i);
            struct chain chain;
            chain_init(&chain);
            config.faults = &fault;
            config.fault_count = 1;
            for (int runs = 0; runs < 20 && chain.status != EXIT_STATUS_DONE; runs++) {
                config.fault_count = runs < 19;
                const char *wrong = chain_run(&chain, &config, &nothing_refused);
                ck_assert_msg(wrong == NULL, "rank %u, event %llu, run %d: %s", rank, (unsigned long long)nth, runs,
                              wrong);
            }
            ck_assert_uint_eq(ranges_total(&chain.done), ITERATIONS);
            chain_fini(&chain);
        }
}
END_TEST

START_TEST(each_allocation_fails)
{
    for (int for_good = 0; for_good < 2; for_good++)
        for (int losing = 0; losing < 2; losing++) { /* lost workers take memory, too */
            const struct virtual_fault fault = {
                .type = VIRTUAL_KILL, .rank = line_ups[_i].masters + line_ups[_i].workers, .at_event = 6};
            struct refusal refusal = {.nth = 1, .for_good = for_good};
            struct virtual_config config = small_run(_i);
            config.faults = &fault;
            config.fault_count = (unsigned)losing;
            while (survives(config, &refusal, "an allocation", 0, refusal.nth))
                refusal.nth++;
            ck_assert_uint_gt(refusal.nth, 10);
        }
}
END_TEST

enum failing { FAILING_STORE, FAILING_SHORT_STORE, FAILING_RECORD, FAILING_SYNC, FAILING_SEND, FAILINGS };

static void set_failing(struct virtual_config *config, enum failing failing, uint64_t nth)
{
    switch (failing) {
    case FAILING_SHORT_STORE: config->short_writes = true; /* fallthrough */
    case FAILING_STORE: config->failing_store = nth; break;
    case FAILING_RECORD: config->failing_journal = nth; break;
    case FAILING_SYNC: config->failing_sync = nth; break;
    default: config->failing_send = nth;
    }
}

START_TEST(each_write_and_send_fails)
{
    for (int failing = 0; failing < FAILINGS; failing++) {
        bool never =
            (failing == FAILING_SYNC && !line_ups[_i].sync) || (failing < FAILING_RECORD && !line_ups[_i].collect);
        struct virtual_config config;
        uint64_t nth = 1;
        do {
            config = small_run(_i);
            set_failing(&config, failing, nth);
        } while (survives(config, &nothing_refused, "a write", (unsigned)failing, nth++));
        ck_assert_uint_eq(nth > 2, !never);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("each-event");
    TCase *tests = tcase_create("all");
    tcase_set_timeout(tests, 100);
    tcase_add_loop_test(tests, a_kill_at_each_event_and_action, 0, LINE_UPS);
    tcase_add_loop_test(tests, a_kill_of_all_at_each_event, 0, LINE_UPS);
    tcase_add_loop_test(tests, a_stop_at_each_event, 0, LINE_UPS);
    tcase_add_loop_test(tests, a_stall_at_each_event, 0, LINE_UPS);
    tcase_add_loop_test(tests, a_rank_that_becomes_slow_at_each_event, 0, LINE_UPS);
    tcase_add_loop_test(tests, kills_of_all_in_a_row, 0, LINE_UPS);
    tcase_add_loop_test(tests, each_allocation_fails, 0, LINE_UPS);
    tcase_add_loop_test(tests, each_write_and_send_fails, 0, LINE_UPS);
    suite_add_tcase(suite, tests);
    return suite_run_together(suite);
}
