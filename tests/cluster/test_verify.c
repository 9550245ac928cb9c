/* SPDX-License-Identifier: MIT */
/* Verification: what is drawn is computed by two workers and told as done only where they agree; a third decides, and
 * its results replace those of the first. Nobody verifies itself, and a worker that dies or hangs holds up nothing. */
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/metrics/report.h"
#include "common/service/service.h"
#include "common/util/error.h"
#include "deploy/simulate/virtual/cluster.h"
#include "supermaster/ledger.h"
#include "supermaster/supermaster.h"
#include "tests/lib/cluster.h"
#include "tests/lib/suite.h"

#include <string.h>

#define US 1000.0

static unsigned liar;           /* rank of the worker that computes wrongly; 0: none does */
static uint64_t lie_of, lie_at; /* every so many iterations, from lie_at on */

static bool lies(void *context, unsigned rank, uint64_t iteration)
{
    (void)context;
    return rank == liar && iteration % lie_of == lie_at;
}

static double some_cost(void *context, uint64_t iteration)
{
    (void)context;
    return (double)(1 + iteration % 7) * 20 * US;
}

static struct virtual_config verified(unsigned masters, unsigned workers, const char *technique, uint64_t count,
                                      double share)
{
    struct virtual_config config = cluster_plain(masters, workers, technique, count);
    config.cost_ns = some_cost;
    config.spec.verify = share;
    config.spec.verify_seed = 1;
    config.lies = lies;
    config.collect = true;
    liar = 0;
    lie_of = 1;
    lie_at = 0;
    return config;
}

/* Runs it; all is done at the end. The result borrows from the cluster, which the caller frees. */
static struct virtual_cluster *run(struct virtual_config config, struct virtual_result *result)
{
    struct virtual_cluster *cluster = cluster_ran(&config, result);
    ck_assert_int_eq(result->status, EXIT_STATUS_DONE);
    ck_assert_uint_eq(result->supermaster->ledger.done, config.count);
    return cluster;
}

static void assert_right(const struct virtual_config *config, const struct virtual_result *result)
{
    ck_assert_uint_eq(result->supermaster->ledger.digest, virtual_checksum(config->first, config->count));
    ck_assert_uint_eq(result->wrong, 0);
}

START_TEST(all_is_computed_twice)
{
    static const char *const techniques[] = {"ss", "gss", "dfss", "static", "awf-c"};
    struct virtual_result result;
    for (unsigned i = 0; i < 5 * 3 * 2 * 2; i++) {
        struct virtual_config config = verified(i / 5 % 3, 2 + i % 5, techniques[i % 5], 300, 1);
        if (config.workers < 2 * config.masters)
            config.workers = 2 * config.masters;
        config.spec.group_by = RUN_GROUP_BY_EVEN;
        config.collect = i / 15 % 2;
        config.slice_iterations = i / 30 ? 7 : 0;
        struct virtual_cluster *cluster = run(config, &result);
        const struct verifications *verifications = &result.supermaster->verifications;
        assert_right(&config, &result);
        ck_assert_uint_eq(verifications->alike + verifications->unverified, config.count);
        ck_assert_uint_eq(verifications->unverified, 0);
        ck_assert_uint_eq(verifications->seen, 0);
        ck_assert_uint_ge(result.executed, 2 * config.count);
        ck_assert(!supermaster_is_in_doubt(result.supermaster));
        virtual_free(cluster);
    }
}
END_TEST

START_TEST(a_share_is_computed_twice)
{
    struct virtual_result result;
    uint64_t sum = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct virtual_config config = verified(seed % 2, 4, "css:chunk=5", 2000, 0.25);
        config.spec.verify_seed = seed;
        struct virtual_cluster *cluster = run(config, &result);
        const uint64_t alike = result.supermaster->verifications.alike;
        assert_right(&config, &result);
        ck_assert_uint_eq(result.supermaster->verifications.unverified, 0);
        ck_assert_uint_ge(result.executed, config.count + alike);
        ck_assert_uint_le(result.executed, config.count + alike + 60); /* of what was recalled before its end */
        sum += alike;
        virtual_free(cluster);
    }
    ck_assert_uint_gt(sum, 20 * 2000 / 4 * 9 / 10);
    ck_assert_uint_lt(sum, 20 * 2000 / 4 * 11 / 10);
}
END_TEST

START_TEST(a_third_decides)
{
    struct virtual_result result;
    for (unsigned i = 0; i < 24; i++) {
        struct virtual_config config = verified(i % 2, 3 + i % 3, i % 4 < 2 ? "ss" : "fac2", 200, 1);
        config.collect = i / 4 % 2;
        config.slice_iterations = i / 8 ? 3 : 0;
        liar = 1 + config.masters + i % 3;
        lie_of = 10;
        lie_at = 3;
        struct virtual_cluster *cluster = run(config, &result);
        const struct verifications *verifications = &result.supermaster->verifications;
        assert_right(&config, &result);
        ck_assert_uint_gt(verifications->seen, 0);
        ck_assert_uint_eq(verifications->seen, verifications->count);
        ck_assert_uint_eq(verifications->undecided, 0);
        ck_assert_uint_eq(verifications->alike + verifications->differing, config.count);
        ck_assert(supermaster_is_in_doubt(result.supermaster));
        for (unsigned k = 0; k < verifications->count; k++) {
            const struct report_mismatch *mismatch = &verifications->list[k];
            ck_assert_uint_eq(mismatch->workers, 3);
            ck_assert_int_ge(mismatch->wrong, 0);
            ck_assert_uint_eq(mismatch->rank[mismatch->wrong], liar);
        }
        virtual_free(cluster);
    }
}
END_TEST

START_TEST(who_is_wrong_is_dropped)
{
    struct virtual_result result;
    for (unsigned i = 0; i < 12; i++) {
        struct virtual_config config = verified(i % 2, 4, i % 4 < 2 ? "ss" : "fac2", 400, 1);
        config.spec.verify_action = RUN_VERIFY_DROP_WORKER;
        liar = 1 + config.masters + i % 4;
        struct virtual_cluster *cluster = run(config, &result);
        assert_right(&config, &result);
        ck_assert_uint_gt(result.supermaster->verifications.seen, 0);
        ck_assert_uint_eq(result.supermaster->losses.workers_lost, 1);
        ck_assert_uint_eq(result.drops, 1);
        ck_assert(!supermaster_is_in_doubt(result.supermaster));
        virtual_free(cluster);
    }
}
END_TEST

/* Two workers: nobody knows who is right. */
START_TEST(without_a_third_nobody_decides)
{
    struct virtual_result result;
    for (unsigned masters = 0; masters <= 1; masters++) {
        struct virtual_config config = verified(masters, 2, "css:chunk=10", 200, 1);
        struct error text;
        liar = 1 + masters;
        lie_of = 100;
        lie_at = 5;
        config.spec.verify_action = RUN_VERIFY_DROP_WORKER;
        struct virtual_cluster *cluster = run(config, &result);
        const struct verifications *verifications = &result.supermaster->verifications;
        ck_assert_uint_eq(verifications->seen, 2);
        ck_assert_uint_eq(verifications->undecided, 2);
        ck_assert_uint_eq(verifications->list[0].workers, 2);
        ck_assert_int_eq(verifications->list[0].wrong, -1);
        ck_assert(supermaster_is_in_doubt(result.supermaster));
        supermaster_mismatch_text(result.supermaster, 0, &text);
        ck_assert_msg(strstr(text.text, "with different results; no other worker could decide") != NULL, "%s",
                      text.text);
        virtual_free(cluster);
    }
}
END_TEST

/* One of three dies, or stands still, at any time. */
START_TEST(who_dies_or_hangs_holds_up_nothing)
{
    struct virtual_result result;
    for (unsigned i = 0; i < 600; i++) {
        const unsigned masters = i % 2;
        struct virtual_config config = verified(masters, i % 5 == 0 ? 2 : 3, i % 3 ? "fac2" : "ss", 100, 1);
        const struct virtual_fault fault = {i % 4 < 2 ? VIRTUAL_KILL : VIRTUAL_STOP, 1 + masters + i % 2,
                                            100000 + i * 10000};
        config.faults = &fault;
        config.fault_count = 1;
        config.collect = i / 4 % 2;
        config.slice_iterations = i / 8 % 2 ? 3 : 0;
        struct virtual_cluster *cluster = run(config, &result);
        assert_right(&config, &result);
        ck_assert_uint_eq(result.supermaster->verifications.seen, 0);
        if (config.workers > 2)
            ck_assert_uint_eq(result.supermaster->verifications.unverified, 0);
        virtual_free(cluster);
    }
}
END_TEST

/* Worker 3 of three stands still behind its second ASSIGN, which is for what another has computed. A third computes
 * that instead: it is handed out again, as every chunk of a worker that hangs, and the supermaster knows that somebody
 * looks after it. */
START_TEST(what_is_to_be_compared_is_handed_out_again)
{
    struct virtual_result result;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned masters = i % 2;
        struct virtual_config config = verified(masters, 3, "css:chunk=10", 30, 1);
        const struct virtual_fault fault = {.type = VIRTUAL_STOP, .rank = masters + 3, .at_event = 4};
        config.faults = &fault;
        config.fault_count = 1;
        config.spec.ask_ahead = ASK_AHEAD_OFF;
        config.spec.recall = i / 2 ? RUN_RECALL_ON : RUN_RECALL_OFF;
        struct virtual_cluster *cluster = run(config, &result);
        assert_right(&config, &result);
        ck_assert_uint_eq(result.supermaster->verifications.unverified, 0);
        ck_assert_uint_eq(result.supermaster->losses.reissued, 1);
        virtual_free(cluster);
    }
}
END_TEST

/* The last iteration of each chunk fails with the second worker. */
static enum virtual_outcome fails_at_the_end(void *context, unsigned rank, uint64_t iteration)
{
    const unsigned masters = *(const unsigned *)context;
    return rank == masters + 2 && iteration % 5 == 4 ? VIRTUAL_FAILS : VIRTUAL_WORKS;
}

/* Worker 2 of two stands still at any moment, also behind the failure of its chunk's last iteration. What the other has
 * computed counts as it is. */
START_TEST(who_hangs_behind_a_failure_holds_up_nothing)
{
    struct virtual_result result;
    for (unsigned masters = 0; masters <= 1; masters++)
        for (uint64_t event = 1; event <= 16; event++) {
            struct virtual_config config = verified(masters, 2, "css:chunk=5", 50, 1);
            const struct virtual_fault fault = {.type = VIRTUAL_STOP, .rank = masters + 2, .at_event = event};
            config.faults = &fault;
            config.fault_count = 1;
            config.spec.retries = 1;
            config.outcome = fails_at_the_end;
            config.context = &masters;
            struct virtual_cluster *cluster = run(config, &result);
            assert_right(&config, &result);
            ck_assert_uint_gt(result.supermaster->verifications.unverified, 0);
            virtual_free(cluster);
        }
}
END_TEST

/* A worker of two never asks for anything; the other one computes all, waits for it to compare, and dies. */
START_TEST(nobody_waits_for_ever_for_who_never_asks)
{
    struct virtual_result result;
    for (unsigned masters = 0; masters <= 1; masters++) {
        struct virtual_config config = verified(masters, 2, "css:chunk=5", 50, 1);
        const struct virtual_fault faults[] = {{VIRTUAL_STOP, masters + 2, 0}, {VIRTUAL_KILL, masters + 1, 1000000000}};
        config.faults = faults;
        config.fault_count = 2;
        struct virtual_cluster *cluster = run(config, &result);
        assert_right(&config, &result);
        ck_assert_uint_eq(result.supermaster->verifications.unverified, config.count);
        virtual_free(cluster);
    }
}
END_TEST

/* Worker `liar` computes wrongly, and the only worker that can decide stands still for two seconds. */
START_TEST(who_is_late_is_waited_for_to_decide)
{
    struct virtual_result result;
    for (unsigned i = 0; i < 200; i++) {
        const unsigned masters = i % 2, late = 1 + masters + i % 3;
        struct virtual_config config = verified(masters, 3, i % 4 < 2 ? "css:chunk=8" : "ss", 100, 1);
        const struct virtual_fault faults[] = {{VIRTUAL_STOP, late, 100000 + i * 20000},
                                               {VIRTUAL_CONTINUE, late, 2000000000}};
        config.faults = faults;
        config.fault_count = 2;
        config.collect = i / 4 % 2;
        liar = 1 + masters + (i + 1) % 3;
        lie_of = 10;
        lie_at = 3;
        struct virtual_cluster *cluster = run(config, &result);
        assert_right(&config, &result);
        ck_assert_uint_eq(result.supermaster->verifications.undecided, 0);
        ck_assert_uint_eq(result.supermaster->verifications.unverified, 0);
        virtual_free(cluster);
    }
}
END_TEST

/* What is recorded has been compared; what was held back is computed again by the run that goes on. */
START_TEST(a_drain_tells_nothing_as_done_that_was_not_compared)
{
    struct virtual_result result;
    for (uint64_t at_ns = 100000; at_ns < 8000000; at_ns += 400000) {
        struct virtual_config config = verified(at_ns / 100000 % 2, 3, "css:chunk=4", 200, 1);
        config.journal = true;
        config.drain_at_ns = at_ns;
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        const struct verifications *verifications = &result.supermaster->verifications;
        ck_assert(result.status == EXIT_STATUS_DRAINED || result.status == EXIT_STATUS_DONE);
        ck_assert_uint_eq(result.supermaster->ledger.done, verifications->alike);
        ck_assert_uint_eq(verifications->unverified, 0);
        virtual_free(cluster);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("verify");
    TCase *cases = tcase_create("all");
    tcase_set_timeout(cases, 120);
    tcase_add_test(cases, all_is_computed_twice);
    tcase_add_test(cases, a_share_is_computed_twice);
    tcase_add_test(cases, a_third_decides);
    tcase_add_test(cases, who_is_wrong_is_dropped);
    tcase_add_test(cases, without_a_third_nobody_decides);
    tcase_add_test(cases, who_dies_or_hangs_holds_up_nothing);
    tcase_add_test(cases, what_is_to_be_compared_is_handed_out_again);
    tcase_add_test(cases, who_hangs_behind_a_failure_holds_up_nothing);
    tcase_add_test(cases, nobody_waits_for_ever_for_who_never_asks);
    tcase_add_test(cases, who_is_late_is_waited_for_to_decide);
    tcase_add_test(cases, a_drain_tells_nothing_as_done_that_was_not_compared);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
