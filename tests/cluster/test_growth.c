/* SPDX-License-Identifier: MIT */
/* Loops that grow while they run: what is new is computed at once, nobody is sent away before the list is complete, and
 * whatever is lost meanwhile. */
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/service/poison.h"
#include "common/util/error.h"
#include "deploy/simulate/virtual/cluster.h"
#include "supermaster/ledger.h"
#include "supermaster/supermaster.h"
#include "tests/lib/cluster.h"
#include "tests/lib/suite.h"

#define MS UINT64_C(1000000)

enum { COUNT = 300, WORKERS = 4 };

static const struct virtual_growth in_parts[] = {{0, 7}, {300 * MS, 100}, {420 * MS, 101}, {1000 * MS, COUNT}};
static const struct virtual_growth for_ever[] = {{0, 7}, {300 * MS, COUNT}, {NEVER, COUNT}};

static double one_ms(void *context, uint64_t iteration)
{
    (void)context, (void)iteration;
    return 1e6;
}

static struct virtual_config config_of(unsigned masters, const struct virtual_growth *growth, unsigned growth_count)
{
    struct virtual_config config = cluster_plain(masters, WORKERS, "ss", COUNT);
    config.collect = true;
    config.growth = growth;
    config.growth_count = growth_count;
    config.spec.ask_ahead = ASK_AHEAD_AUTO;
    config.cost_ns = one_ms;
    return config;
}

static void assert_complete(const struct virtual_result *result)
{
    ck_assert_int_eq(result->status, EXIT_STATUS_DONE);
    ck_assert_uint_eq(result->wrong, 0);
    ck_assert_uint_eq(result->supermaster->ledger.done, COUNT);
    ck_assert_uint_eq(result->supermaster->ledger.loop.count, COUNT);
    ck_assert_uint_eq(result->supermaster->ledger.digest, virtual_checksum(0, COUNT));
}

START_TEST(what_is_new_is_computed)
{
    for (unsigned masters = 0; masters <= 2; masters++) {
        struct virtual_config config = config_of(masters, in_parts, 4);
        struct virtual_result result;
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        assert_complete(&result);
        ck_assert_uint_eq(result.executed, COUNT);
        /* 199 iterations of the last part, 1 ms each, 4 at a time, and the time until it is seen */
        ck_assert_uint_le(result.end_ns, 1000 * MS + GROWTH_LOOK_SOON_NS + 60 * MS);
        virtual_free(cluster);
    }
}
END_TEST

/* Nobody looks before that: what is new is there at once. */
START_TEST(what_is_told_is_computed_at_once)
{
    for (unsigned masters = 0; masters <= 2; masters++) {
        struct virtual_config config = config_of(masters, in_parts, 4);
        struct virtual_result result;
        config.is_told_of_growth = true;
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        assert_complete(&result);
        ck_assert_uint_eq(result.executed, COUNT);
        ck_assert_uint_le(result.end_ns, 1000 * MS + 60 * MS);
        virtual_free(cluster);
    }
}
END_TEST

/* A loop that waits for what it is told of costs no step. */
START_TEST(nobody_looks_while_nothing_is_told)
{
    static const struct virtual_growth late[] = {{0, 7}, {100000 * MS, COUNT}};
    struct virtual_config config = config_of(1, late, 2);
    struct virtual_result looking, told;
    virtual_free(cluster_ran(&config, &looking));
    config.is_told_of_growth = true;
    struct virtual_cluster *cluster = cluster_ran(&config, &told);
    assert_complete(&told);
    ck_assert_uint_lt(told.events + 9000, looking.events);
    virtual_free(cluster);
}
END_TEST

/* The list is told to be complete only after the last of it is done. */
START_TEST(a_list_may_turn_out_to_be_complete)
{
    static const struct virtual_growth late[] = {{0, COUNT}, {2000 * MS, COUNT}};
    static const struct virtual_growth empty[] = {{50 * MS, 0}};
    for (unsigned masters = 0; masters <= 1; masters++) {
        struct virtual_config config = config_of(masters, late, 2);
        struct virtual_result result;
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        assert_complete(&result);
        ck_assert_uint_ge(result.end_ns, 2000 * MS);
        virtual_free(cluster);
        config = config_of(masters, empty, 1);
        cluster = cluster_ran(&config, &result);
        ck_assert_int_eq(result.status, EXIT_STATUS_DONE);
        ck_assert_uint_eq(result.executed, 0);
        virtual_free(cluster);
    }
}
END_TEST

START_TEST(a_drain_ends_the_wait)
{
    for (unsigned masters = 0; masters <= 2; masters += 2) {
        struct virtual_config config = config_of(masters, for_ever, 3);
        struct virtual_result result;
        config.journal = true;
        config.drain_at_ns = 5000 * MS;
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        ck_assert_int_eq(result.status, EXIT_STATUS_DRAINED);
        ck_assert_uint_eq(result.wrong, 0);
        ck_assert_uint_eq(ranges_total(result.journalled), COUNT);
        ck_assert_uint_lt(result.end_ns, 5010 * MS);
        virtual_free(cluster);
    }
}
END_TEST

/* Ranks die while they wait, and while they compute what is new. */
START_TEST(losses_are_made_good)
{
    const struct virtual_fault faults[] = {{.type = VIRTUAL_KILL, .rank = 4, .at_ns = 200 * MS},
                                           {.type = VIRTUAL_KILL, .rank = 3, .at_ns = 310 * MS + MS / 2},
                                           {.type = VIRTUAL_KILL, .rank = 1, .at_ns = 600 * MS}};
    for (unsigned masters = 0; masters <= 2; masters++) {
        struct virtual_config config = config_of(masters, in_parts, 4);
        struct virtual_result result;
        config.faults = faults;
        config.fault_count = 3;
        config.detect_ns = 1000;
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        assert_complete(&result);
        ck_assert_uint_eq(result.killed, 3);
        virtual_free(cluster);
    }
}
END_TEST

/* Nobody is left to wait for more. */
START_TEST(the_last_loss_ends_the_run)
{
    const struct virtual_fault faults[] = {{.type = VIRTUAL_KILL, .rank = 1, .at_ns = 700 * MS},
                                           {.type = VIRTUAL_KILL, .rank = 2, .at_ns = 800 * MS}};
    struct virtual_config config = config_of(0, for_ever, 3);
    struct virtual_result result;
    config.workers = 2;
    config.faults = faults;
    config.fault_count = 2;
    struct virtual_cluster *cluster = cluster_ran(&config, &result);
    ck_assert_int_eq(result.status, EXIT_STATUS_FAILED);
    ck_assert_uint_eq(result.supermaster->ledger.done, COUNT);
    virtual_free(cluster);
}
END_TEST

static double slow_at_6(void *context, uint64_t iteration)
{
    (void)context;
    return iteration == 6 ? 2e9 : 1e6;
}

/* An iteration takes long, and others have nothing to do: as long as more may come it is theirs to wait. */
START_TEST(a_pause_of_the_list_makes_no_copies)
{
    static const struct virtual_growth late[] = {{0, 7}, {1000 * MS, COUNT}, {4000 * MS, COUNT}};
    static const struct virtual_growth at_once[] = {{0, COUNT}};
    struct virtual_config config = config_of(0, late, 3);
    struct virtual_result result;
    config.cost_ns = slow_at_6;
    struct virtual_cluster *cluster = cluster_ran(&config, &result);
    assert_complete(&result);
    ck_assert_uint_eq(result.supermaster->losses.reissued, 0);
    virtual_free(cluster);
    config.growth = at_once; /* the same loop with an end gets a copy */
    config.growth_count = 1;
    cluster = cluster_ran(&config, &result);
    assert_complete(&result);
    ck_assert_uint_gt(result.supermaster->losses.reissued, 0);
    virtual_free(cluster);
}
END_TEST

/* A worker that hangs is not waited for until the list is complete: what it has is overdue by then. */
START_TEST(a_worker_that_hangs_is_made_good)
{
    const struct virtual_fault faults[] = {{.type = VIRTUAL_STOP, .rank = 2, .at_ns = 301 * MS}};
    static const struct virtual_growth late[] = {{0, 7}, {300 * MS, COUNT}, {100000 * MS, COUNT}};
    struct virtual_config config = config_of(0, late, 3);
    struct virtual_result result;
    config.faults = faults;
    config.fault_count = 1;
    config.journal = true;
    config.drain_at_ns = 30000 * MS;
    struct virtual_cluster *cluster = cluster_ran(&config, &result);
    ck_assert_int_eq(result.status, EXIT_STATUS_DRAINED);
    ck_assert_uint_eq(ranges_total(result.journalled), COUNT);
    virtual_free(cluster);
}
END_TEST

/* A worker that has asked ahead and computes for long gives what it has not begun to those who wait for more. */
START_TEST(work_is_recalled_while_more_may_come)
{
    static const struct virtual_growth late[] = {{0, 60}, {3000 * MS, COUNT}};
    const struct virtual_fault faults[] = {{.type = VIRTUAL_SLOW, .rank = 2, .at_ns = 5 * MS, .factor = 500}};
    struct virtual_config config = config_of(0, late, 2);
    struct virtual_result result;
    config.spec.ask_ahead = ASK_AHEAD_FIXED;
    config.spec.ask_ahead_chunks = 8;
    config.faults = faults;
    config.fault_count = 1;
    config.drain_at_ns = 1000 * MS;
    for (enum run_recall recall = RUN_RECALL_ON; recall <= RUN_RECALL_OFF; recall++) {
        config.spec.recall = recall;
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        ck_assert_int_eq(result.status, EXIT_STATUS_DRAINED);
        ck_assert_int_eq(result.supermaster->ledger.done == 60, recall == RUN_RECALL_ON);
        virtual_free(cluster);
    }
}
END_TEST

/* A run goes on with a list that has become longer. */
START_TEST(a_longer_list_is_resumed)
{
    struct ranges done = {0};
    struct virtual_config config = config_of(1, for_ever, 3);
    struct virtual_result result;
    config.journal = true;
    config.drain_at_ns = 250 * MS;
    struct virtual_cluster *first = cluster_ran(&config, &result);
    ck_assert_int_eq(result.status, EXIT_STATUS_DRAINED);
    ck_assert_uint_eq(ranges_total(result.journalled), 7);
    for (size_t i = 0; i < ranges_length(result.journalled); i++) {
        const struct range *range = ranges_at(result.journalled, i);
        ck_assert_int_eq(ranges_add(&done, range->first, range->count, NULL), 0);
    }
    config = config_of(0, in_parts, 4);
    config.done = &done;
    config.done_digest = result.journalled_digest;
    virtual_free(first);
    struct virtual_cluster *second = cluster_ran(&config, &result);
    assert_complete(&result);
    ck_assert_uint_eq(result.executed, COUNT - 7);
    virtual_free(second);
    ranges_fini(&done);
}
END_TEST

static enum virtual_outcome fails_at_50(void *context, unsigned rank, uint64_t iteration)
{
    (void)context, (void)rank;
    return iteration == 50 ? VIRTUAL_FAILS : VIRTUAL_WORKS;
}

START_TEST(what_fails_is_given_up)
{
    struct virtual_config config = config_of(0, in_parts, 4);
    struct virtual_result result;
    config.outcome = fails_at_50;
    struct virtual_cluster *cluster = cluster_ran(&config, &result);
    ck_assert_int_eq(result.status, EXIT_STATUS_TASKS);
    ck_assert_uint_eq(result.supermaster->ledger.done, COUNT - 1);
    virtual_free(cluster);
}
END_TEST

START_TEST(what_is_new_is_verified)
{
    struct virtual_config config = config_of(0, in_parts, 4);
    struct virtual_result result;
    config.spec.verify = 0.5;
    struct virtual_cluster *cluster = cluster_ran(&config, &result);
    assert_complete(&result);
    ck_assert_uint_gt(result.executed, COUNT + COUNT / 4);
    ck_assert_uint_eq(result.supermaster->verifications.unverified, 0);
    virtual_free(cluster);
}
END_TEST

/* Tasks that were running at two losses of the supermaster run one at a time, and the loop grows meanwhile. A third
 * loss tells which one it was. */
START_TEST(suspects_of_a_loop_that_grows_run_one_at_a_time)
{
    static const struct virtual_growth growth[] = {{0, 40}, {5 * MS, COUNT}};
    for (unsigned masters = 0; masters <= 1; masters++)
        for (unsigned is_third = 0; is_third <= 1; is_third++) {
            struct virtual_config config = config_of(masters, growth, 2);
            struct virtual_result result;
            struct poison deaths = {
                .first = 0, .count = is_third ? 1 : 40, .deaths = 2 + is_third, .shares_blame = true};
            const struct poison_set earlier = {.items = &deaths, .count = 1, .capacity = 1};
            config.are_tasks = config.no_isolation = config.journal = config.no_speculation = true;
            config.deaths = &earlier;
            struct virtual_cluster *cluster = cluster_ran(&config, &result);
            ck_assert_int_eq(result.status, is_third ? EXIT_STATUS_TASKS : EXIT_STATUS_DONE);
            ck_assert_uint_eq(result.supermaster->ledger.done, COUNT - is_third);
            ck_assert_uint_eq(ranges_total(&result.supermaster->ledger.failed), is_third);
            if (!is_third)
                ck_assert_uint_ge(result.end_ns, deaths.count * MS);
            virtual_free(cluster);
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("growth");
    TCase *tcase = tcase_create("growth");
    tcase_add_test(tcase, what_is_new_is_computed);
    tcase_add_test(tcase, what_is_told_is_computed_at_once);
    tcase_add_test(tcase, nobody_looks_while_nothing_is_told);
    tcase_add_test(tcase, a_list_may_turn_out_to_be_complete);
    tcase_add_test(tcase, a_drain_ends_the_wait);
    tcase_add_test(tcase, losses_are_made_good);
    tcase_add_test(tcase, the_last_loss_ends_the_run);
    tcase_add_test(tcase, a_pause_of_the_list_makes_no_copies);
    tcase_add_test(tcase, a_worker_that_hangs_is_made_good);
    tcase_add_test(tcase, work_is_recalled_while_more_may_come);
    tcase_add_test(tcase, a_longer_list_is_resumed);
    tcase_add_test(tcase, what_fails_is_given_up);
    tcase_add_test(tcase, what_is_new_is_verified);
    tcase_add_test(tcase, suspects_of_a_loop_that_grows_run_one_at_a_time);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
