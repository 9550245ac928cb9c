/* SPDX-License-Identifier: MIT */
/* Iterations that wait for others: none begins too early, all are run at the end, and what waits for one that has
 * failed is not run, whatever is lost meanwhile. */
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/metrics/report.h"
#include "common/util/error.h"
#include "common/service/poison.h"
#include "common/util/precedence.h"
#include "common/util/ranges.h"
#include "deploy/simulate/virtual/cluster.h"
#include "supermaster/ledger.h"
#include "supermaster/supermaster.h"
#include "tests/lib/cluster.h"
#include "tests/lib/suite.h"

#include <string.h>

#define MS UINT64_C(1000000)

enum { COUNT = 300, WORKERS = 4 };

static double one_ms(void *context, uint64_t iteration)
{
    (void)context, (void)iteration;
    return 1e6;
}

/* Each iteration waits for the one `distance` before it. */
static struct precedence chains(uint64_t distance)
{
    struct precedence precedence;
    precedence_init(&precedence);
    for (uint64_t i = distance; i < COUNT; i++)
        ck_assert_int_eq(precedence_add(&precedence, i, i - distance), 0);
    ck_assert_int_eq(precedence_close(&precedence, COUNT), 0);
    return precedence;
}

/* The first one waits for all others, and so on backwards in tens: the last ones run first. */
static struct precedence backwards(void)
{
    struct precedence precedence;
    precedence_init(&precedence);
    for (uint64_t i = 0; i + 10 < COUNT; i++)
        for (uint64_t k = 0; k < 10; k++)
            ck_assert_int_eq(precedence_add(&precedence, i, i / 10 * 10 + 10 + k), 0);
    ck_assert_int_eq(precedence_close(&precedence, COUNT), 0);
    return precedence;
}

static struct virtual_config config_of(unsigned masters, const struct precedence *precedence)
{
    struct virtual_config config = cluster_plain(masters, WORKERS, "ss", COUNT);
    config.collect = config.variable = true;
    config.precedence = precedence;
    config.spec.ask_ahead = ASK_AHEAD_AUTO;
    config.cost_ns = one_ms;
    config.no_speculation = true;
    return config;
}

static void assert_complete(const struct virtual_result *result)
{
    ck_assert_int_eq(result->status, EXIT_STATUS_DONE);
    ck_assert_uint_eq(result->wrong, 0);
    ck_assert_uint_eq(result->too_early, 0);
    ck_assert_uint_eq(result->supermaster->ledger.done, COUNT);
    ck_assert_uint_eq(result->supermaster->ledger.digest, virtual_checksum(0, COUNT));
}

START_TEST(nothing_begins_too_early)
{
    for (unsigned masters = 0; masters <= 2; masters++)
        for (unsigned collects = 0; collects <= 1; collects++)
            for (unsigned kind = 0; kind <= 2; kind++) {
                struct precedence precedence = kind == 2 ? backwards() : chains(1 + 9 * kind);
                struct virtual_config config = config_of(masters, &precedence);
                struct virtual_result result;
                config.collect = config.variable = collects;
                struct virtual_cluster *cluster = cluster_ran(&config, &result);
                assert_complete(&result);
                ck_assert_uint_eq(result.executed, COUNT);
                virtual_free(cluster);
                precedence_fini(&precedence);
            }
}
END_TEST

/* Ten chains keep four workers busy; what is set free is handed out at once. */
START_TEST(nobody_is_idle_beside_what_is_set_free)
{
    struct precedence precedence = chains(10);
    struct virtual_config config = config_of(0, &precedence);
    struct virtual_result result;
    struct virtual_cluster *cluster = cluster_ran(&config, &result);
    assert_complete(&result);
    ck_assert_uint_le(result.end_ns, COUNT / WORKERS * MS * 11 / 10);
    virtual_free(cluster);
    precedence_fini(&precedence);
    precedence = chains(1);
    cluster = cluster_ran(&config, &result);
    assert_complete(&result);
    ck_assert_uint_le(result.end_ns, COUNT * MS * 11 / 10);
    virtual_free(cluster);
    precedence_fini(&precedence);
}
END_TEST

static enum virtual_outcome is_called_failed_at_7(void *context, unsigned rank, uint64_t iteration)
{
    (void)context, (void)rank;
    return iteration == 7 ? VIRTUAL_IS_CALLED_FAILED : VIRTUAL_WORKS;
}

static enum virtual_outcome crashes_at_7(void *context, unsigned rank, uint64_t iteration)
{
    (void)context, (void)rank;
    return iteration == 7 ? VIRTUAL_CRASHES : VIRTUAL_WORKS;
}

static enum virtual_outcome fails_at_7(void *context, unsigned rank, uint64_t iteration)
{
    (void)context, (void)rank;
    return iteration == 7 ? VIRTUAL_FAILS : VIRTUAL_WORKS;
}

/* 17, 27, .. are not run, and told one by one with the reason. */
START_TEST(what_waits_for_a_failure_is_not_run)
{
    const unsigned behind = COUNT / 10 - 1;
    for (unsigned masters = 0; masters <= 2; masters++)
        for (unsigned fails = 0; fails <= 1; fails++) {
            struct precedence precedence = chains(10);
            struct virtual_config config = config_of(masters, &precedence);
            struct virtual_result result;
            struct error text;
            config.outcome = fails ? fails_at_7 : is_called_failed_at_7;
            config.are_tasks = true;
            struct virtual_cluster *cluster = cluster_ran(&config, &result);
            const struct supermaster *supermaster = result.supermaster;
            ck_assert_int_eq(result.status, EXIT_STATUS_TASKS);
            ck_assert_uint_eq(result.too_early, 0);
            ck_assert_uint_eq(ranges_total(&supermaster->ledger.failed), behind + fails);
            ck_assert_uint_eq(supermaster->ledger.done, COUNT - behind - fails);
            supermaster_failure_text(supermaster, fails, &text);
            ck_assert_str_eq(text.text, "task 18 was not run: task 8, which it waits for, failed");
            supermaster_failure_text(supermaster, fails + 1, &text);
            ck_assert_str_eq(text.text, "task 28 was not run: task 18, which it waits for, was not run");
            virtual_free(cluster);
            precedence_fini(&precedence);
        }
}
END_TEST

/* A failed one is told apart also where its chunk has others. */
START_TEST(a_chunk_may_have_failed_in_part)
{
    struct precedence precedence = chains(100);
    struct virtual_config config = config_of(1, &precedence);
    struct virtual_result result;
    config.spec.min_chunk = 16;
    config.outcome = is_called_failed_at_7;
    struct virtual_cluster *cluster = cluster_ran(&config, &result);
    ck_assert_int_eq(result.status, EXIT_STATUS_TASKS);
    ck_assert_uint_eq(result.too_early, 0);
    ck_assert_uint_eq(result.supermaster->ledger.done, COUNT - 2);
    virtual_free(cluster);
    precedence_fini(&precedence);
}
END_TEST

START_TEST(losses_are_made_good)
{
    const struct virtual_fault faults[] = {{.type = VIRTUAL_KILL, .rank = 4, .at_ns = 10 * MS},
                                           {.type = VIRTUAL_KILL, .rank = 3, .at_ns = 25 * MS + MS / 2},
                                           {.type = VIRTUAL_KILL, .rank = 1, .at_ns = 40 * MS}};
    for (unsigned masters = 0; masters <= 2; masters++)
        for (unsigned kind = 0; kind <= 1; kind++) {
            struct precedence precedence = kind ? backwards() : chains(3);
            struct virtual_config config = config_of(masters, &precedence);
            struct virtual_result result;
            config.faults = faults;
            config.fault_count = 3;
            config.detect_ns = 1000;
            struct virtual_cluster *cluster = cluster_ran(&config, &result);
            assert_complete(&result);
            ck_assert_uint_eq(result.killed, 3);
            virtual_free(cluster);
            precedence_fini(&precedence);
        }
}
END_TEST

/* A run that was drained is gone on with, and what is not run there is what a whole run would not have run. */
START_TEST(a_run_is_resumed)
{
    const unsigned behind = COUNT / 10 - 1;
    for (uint64_t at_ms = 1; at_ms < 80; at_ms += 6) {
        struct precedence precedence = chains(10);
        struct ranges done = {0}, failed = {0};
        struct virtual_config config = config_of(at_ms % 4 / 2, &precedence);
        struct virtual_result result;
        config.journal = true;
        config.outcome = is_called_failed_at_7;
        config.drain_at_ns = at_ms * MS;
        struct virtual_cluster *first = cluster_ran(&config, &result);
        const bool is_drained = result.status == EXIT_STATUS_DRAINED;
        ck_assert(is_drained || result.status == EXIT_STATUS_TASKS);
        for (size_t i = 0; i < ranges_length(result.journalled); i++) {
            const struct range *range = ranges_at(result.journalled, i);
            ck_assert_int_eq(ranges_add(&done, range->first, range->count, NULL), 0);
        }
        if (ranges_contains(&done, 7))
            ck_assert_int_eq(ranges_add(&failed, 7, 1, NULL), 0);
        config.done = &done;
        config.done_failed = &failed;
        config.done_digest = result.journalled_digest;
        config.drain_at_ns = 0;
        virtual_free(first);
        struct virtual_cluster *second = cluster_ran(&config, &result);
        ck_assert_int_eq(result.status, EXIT_STATUS_TASKS);
        ck_assert_uint_eq(result.too_early, 0);
        ck_assert_uint_eq(result.supermaster->ledger.done, COUNT - behind);
        ck_assert_uint_eq(result.executed, COUNT - behind - ranges_total(&done));
        virtual_free(second);
        config.outcome = NULL; /* as --resume failed has it: the failed one is done again, and works */
        if (ranges_contains(&done, 7)) {
            ck_assert_int_eq(ranges_remove(&done, 7, 1, NULL), 0);
            config.done_digest -= virtual_checksum(7, 1);
        }
        config.done_failed = NULL;
        struct virtual_cluster *third = cluster_ran(&config, &result);
        assert_complete(&result);
        virtual_free(third);
        ranges_fini(&done);
        ranges_fini(&failed);
        precedence_fini(&precedence);
    }
}
END_TEST

/* A task may be done while one that it waits for is not: results of an earlier run were removed. */
START_TEST(what_is_done_stays_done)
{
    struct precedence precedence = chains(1);
    struct ranges done = {0};
    struct virtual_config config = config_of(0, &precedence);
    struct virtual_result result;
    ck_assert_int_eq(ranges_add(&done, 100, 50, NULL), 0);
    config.done = &done;
    config.done_digest = virtual_checksum(100, 50);
    struct virtual_cluster *cluster = cluster_ran(&config, &result);
    ck_assert_int_eq(result.status, EXIT_STATUS_DONE);
    ck_assert_uint_eq(result.executed, COUNT - 50);
    virtual_free(cluster);
    ranges_fini(&done);
    precedence_fini(&precedence);
}
END_TEST

static enum virtual_outcome fails_at_0(void *context, unsigned rank, uint64_t iteration)
{
    (void)context, (void)rank;
    return iteration == 0 ? VIRTUAL_FAILS : VIRTUAL_WORKS;
}

/* The last iteration waits for the first, which fails, and is not run: nothing is held back any more, and the one
 * between them, whose worker stands still, is given to others. Nobody else sends a message: the first worker stands
 * still, too. */
START_TEST(what_hangs_is_copied_when_nothing_waits_any_more)
{
    for (unsigned masters = 0; masters <= 1; masters++)
        for (uint64_t event = 2; event <= 4; event++) {
            const struct virtual_fault faults[] = {{.type = VIRTUAL_STOP, .rank = masters + 1, .at_event = event},
                                                   {.type = VIRTUAL_STOP, .rank = masters + 2, .at_event = 2}};
            struct precedence precedence;
            precedence_init(&precedence);
            ck_assert_int_eq(precedence_add(&precedence, 2, 0), 0);
            ck_assert_int_eq(precedence_close(&precedence, 3), 0);
            struct virtual_config config = config_of(masters, &precedence);
            struct virtual_result result;
            config.count = 3;
            config.no_speculation = false;
            config.spec.ask_ahead = ASK_AHEAD_OFF;
            config.spec.retries = 0;
            config.outcome = fails_at_0;
            config.faults = faults;
            config.fault_count = 2;
            struct virtual_cluster *cluster = cluster_ran(&config, &result);
            ck_assert_int_eq(result.status, EXIT_STATUS_TASKS);
            ck_assert_uint_eq(result.supermaster->ledger.done, 1);
            ck_assert_uint_eq(ranges_total(&result.supermaster->ledger.failed), 2);
            virtual_free(cluster);
            precedence_fini(&precedence);
        }
}
END_TEST

/* With verification what is set free waits until both have computed the same. */
START_TEST(what_is_verified_counts_then)
{
    struct precedence precedence = chains(5);
    struct virtual_config config = config_of(0, &precedence);
    struct virtual_result result;
    config.spec.verify = 0.5;
    config.outcome = is_called_failed_at_7;
    struct virtual_cluster *cluster = cluster_ran(&config, &result);
    ck_assert_int_eq(result.status, EXIT_STATUS_TASKS);
    ck_assert_uint_eq(result.too_early, 0);
    ck_assert_uint_eq(ranges_total(&result.supermaster->ledger.failed), COUNT / 5 - 2);
    virtual_free(cluster);
    precedence_fini(&precedence);
}
END_TEST

/* A run after two losses of the supermaster, at both of which the tasks of `deaths` ran. */
static struct virtual_cluster *ran_after_losses(struct virtual_config *config, struct poison *deaths,
                                                struct virtual_result *result)
{
    struct poison_set earlier = {.items = deaths, .count = 1, .capacity = 1};
    config->are_tasks = config->no_isolation = config->journal = true;
    config->deaths = &earlier;
    deaths->shares_blame = true;
    return cluster_ran(config, result);
}

/* What may have killed the supermaster runs one at a time, so that the next death tells which it was; the rest does
 * not wait for it. */
START_TEST(suspects_run_one_at_a_time)
{
    for (unsigned masters = 0; masters <= 2; masters++)
        for (unsigned kind = 0; kind <= 2; kind++) {
            struct precedence precedence = chains(10);
            struct virtual_config config = config_of(masters, kind == 2 ? &precedence : NULL);
            struct virtual_result result;
            struct poison deaths = {.first = 0, .count = kind == 0 ? COUNT : 40, .deaths = 2};
            struct virtual_cluster *cluster = ran_after_losses(&config, &deaths, &result);
            assert_complete(&result);
            ck_assert_uint_ge(result.end_ns, deaths.count * MS);
            if (kind == 1)
                ck_assert_uint_le(result.end_ns, COUNT * MS / 2);
            virtual_free(cluster);
            precedence_fini(&precedence);
        }
}
END_TEST

START_TEST(one_death_of_the_supermaster_holds_nothing_back)
{
    struct virtual_config config = config_of(0, NULL);
    struct virtual_result result;
    struct poison deaths = {.first = 0, .count = COUNT, .deaths = 1};
    struct virtual_cluster *cluster = ran_after_losses(&config, &deaths, &result);
    assert_complete(&result);
    ck_assert_uint_le(result.end_ns, COUNT * MS / 2);
    virtual_free(cluster);
}
END_TEST

/* The third time it was the only suspect. What waits for it is not run. */
START_TEST(what_kills_the_supermaster_is_given_up)
{
    for (unsigned masters = 0; masters <= 1; masters++)
        for (unsigned waits = 0; waits <= 1; waits++) {
            struct precedence precedence = chains(100);
            struct virtual_config config = config_of(masters, waits ? &precedence : NULL);
            struct virtual_result result;
            struct poison deaths = {.first = 7, .count = 1, .deaths = 3};
            struct virtual_cluster *cluster = ran_after_losses(&config, &deaths, &result);
            ck_assert_int_eq(result.status, EXIT_STATUS_TASKS);
            ck_assert_uint_eq(ranges_total(&result.supermaster->ledger.failed), waits ? 3 : 1);
            ck_assert_uint_eq(result.supermaster->ledger.done, waits ? COUNT - 3 : COUNT - 1);
            ck_assert_str_eq(result.supermaster->failures.list[0].text,
                             "3 supermasters were lost while it ran (--resume failed tries it again)");
            virtual_free(cluster);
            precedence_fini(&precedence);
        }
}
END_TEST

/* A technique that counts what remains has no way to leave suspects out: nobody can tell which one it was. */
START_TEST(what_never_ran_alone_is_not_given_up)
{
    struct virtual_config config = config_of(0, NULL);
    struct virtual_result result;
    struct poison deaths = {.first = 0, .count = COUNT, .deaths = 5};
    config.technique = "gss";
    struct virtual_cluster *cluster = ran_after_losses(&config, &deaths, &result);
    assert_complete(&result);
    virtual_free(cluster);
}
END_TEST

/* A suspect that fails, or whose worker dies, makes room for the next one. */
START_TEST(a_suspect_may_fail)
{
    for (unsigned masters = 0; masters <= 1; masters++) {
        struct virtual_config config = config_of(masters, NULL);
        struct virtual_result result;
        struct poison deaths = {.first = 5, .count = 10, .deaths = 2};
        config.outcome = fails_at_7;
        struct virtual_cluster *cluster = ran_after_losses(&config, &deaths, &result);
        ck_assert_int_eq(result.status, EXIT_STATUS_TASKS);
        ck_assert_uint_eq(result.supermaster->ledger.done, COUNT - 1);
        virtual_free(cluster);
        config.outcome = crashes_at_7;
        cluster = ran_after_losses(&config, &deaths, &result);
        ck_assert_int_eq(result.status, EXIT_STATUS_TASKS);
        ck_assert_uint_eq(result.supermaster->ledger.done, COUNT - 1);
        virtual_free(cluster);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("waits");
    TCase *tcase = tcase_create("waits");
    tcase_add_test(tcase, nothing_begins_too_early);
    tcase_add_test(tcase, nobody_is_idle_beside_what_is_set_free);
    tcase_add_test(tcase, what_waits_for_a_failure_is_not_run);
    tcase_add_test(tcase, a_chunk_may_have_failed_in_part);
    tcase_add_test(tcase, losses_are_made_good);
    tcase_add_test(tcase, a_run_is_resumed);
    tcase_add_test(tcase, what_is_done_stays_done);
    tcase_add_test(tcase, what_hangs_is_copied_when_nothing_waits_any_more);
    tcase_add_test(tcase, what_is_verified_counts_then);
    tcase_add_test(tcase, suspects_run_one_at_a_time);
    tcase_add_test(tcase, one_death_of_the_supermaster_holds_nothing_back);
    tcase_add_test(tcase, what_kills_the_supermaster_is_given_up);
    tcase_add_test(tcase, what_never_ran_alone_is_not_given_up);
    tcase_add_test(tcase, a_suspect_may_fail);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
