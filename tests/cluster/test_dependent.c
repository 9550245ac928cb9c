/* SPDX-License-Identifier: MIT */
/* Loops with dependencies: the result is the serial one in every topology, with every technique, however chunks are
 * asked for; the boundary data go where they are needed and nowhere else; a lost worker or master ends the run in
 * order (test_points.c goes on with it). */
#include "common/config/run_spec.h"
#include "common/metrics/report.h"
#include "common/sched/sched.h"
#include "common/service/poison.h"
#include "common/service/service.h"
#include "common/util/error.h"
#include "common/util/ranges.h"
#include "deploy/simulate/virtual/cluster.h"
#include "proto/message.h"
#include "supermaster/ledger.h"
#include "supermaster/supermaster.h"
#include "tests/lib/cluster.h"
#include "tests/lib/suite.h"

#include <string.h>

enum { ROWS = 120, COLUMNS = 17, WORKERS = 4 };

static double slower_further_down(void *context, uint64_t iteration)
{
    (void)context;
    return 2000 + 50 * (double)iteration;
}

static struct virtual_config config_of(unsigned masters, const char *technique)
{
    return (struct virtual_config){
        .masters = masters,
        .workers = WORKERS,
        .technique = technique,
        .count = ROWS,
        .columns = COLUMNS,
        .cost_ns = slower_further_down,
        .collect = true,
        .spec.ask_ahead = ASK_AHEAD_AUTO,
        .latency_ns = 1000,
        .service_ns = 200,
    };
}

/* Nothing was sent twice: each boundary between two workers has cost its boundary data once. */
static void assert_serial(const struct virtual_config *config)
{
    struct virtual_result result;
    struct virtual_cluster *cluster = cluster_ran(config, &result);
    const char *technique = config->technique;
    uint64_t distance = config->distance > 0 ? config->distance : 1, chunks = result.supermaster->cut.chunks;
    ck_assert_msg(result.status == 0, "%s with %u masters ends with %d: %s", technique, config->masters, result.status,
                  result.supermaster->failure.text);
    ck_assert_uint_eq(result.misled, 0);
    ck_assert_uint_eq(result.wrong, 0);
    ck_assert_uint_eq(result.stored_twice, 0);
    ck_assert_uint_eq(result.drops, 0);
    ck_assert_uint_eq(result.executed, config->count);
    ck_assert_msg(result.supermaster->ledger.digest == virtual_serial_checksum(config),
                  "%s with %u masters: another result", technique, config->masters);
    uint64_t halo_bytes = config->columns * distance * sizeof(uint64_t);
    ck_assert_uint_eq(result.handed_over % halo_bytes, 0);
    if (chunks > 0 && config->masters == 0) /* else chunks of a pool may be split */
        ck_assert_uint_eq(result.handed_over / halo_bytes + result.reused, chunks - 1);
    virtual_free(cluster);
}

START_TEST(every_technique_gives_the_serial_result)
{
    static const enum sched_weighting weightings[] = {SCHED_WEIGHTING_NONE, SCHED_WEIGHTING_POWER, SCHED_WEIGHTING_ACP};
    static const double speeds[WORKERS] = {1, 0.8, 0.25, 3};
    static const struct virtual_load loads[] = {{0, 0, 2}, {3, 100000, 3}, {0, 200000, 1}};
    size_t count;
    const struct technique *const *techniques = sched_techniques(&count);
    for (unsigned masters = 0; masters <= 3; masters++)
        for (size_t i = 0; i < count; i++)
            for (unsigned k = 0; k < sizeof weightings / sizeof *weightings; k++) {
                struct virtual_config config = config_of(masters, techniques[i]->name);
                config.spec.weighting = weightings[k];
                config.spec.power = RUN_POWER_MEASURE;
                config.speeds = speeds;
                config.loads = loads;
                config.load_count = k == 2 ? 3 : 0;
                assert_serial(&config);
            }
}
END_TEST

START_TEST(a_chosen_technique_gives_the_serial_result)
{
    for (unsigned masters = 0; masters <= 2; masters++) {
        struct virtual_config config = config_of(masters, "auto");
        config.spec.power = RUN_POWER_MEASURE;
        assert_serial(&config);
    }
}
END_TEST

START_TEST(it_does_not_matter_when_chunks_are_asked_for)
{
    static const char *const techniques[] = {"ss", "gss", "css:chunk=5", "static"};
    for (unsigned masters = 0; masters <= 2; masters++)
        for (unsigned i = 0; i < sizeof techniques / sizeof *techniques; i++)
            for (unsigned ahead = 0; ahead <= ASKS_MAX; ahead += ahead < 3 ? 1 : ASKS_MAX - 3) {
                struct virtual_config config = config_of(masters, techniques[i]);
                config.spec.ask_ahead = ahead == 0 ? ASK_AHEAD_OFF : ASK_AHEAD_FIXED;
                config.spec.ask_ahead_chunks = ahead;
                config.jitter_ns = 20000;
                assert_serial(&config);
            }
}
END_TEST

START_TEST(any_number_of_sync_points_will_do)
{
    for (uint64_t points = 0; points <= COLUMNS; points++)
        for (unsigned masters = 0; masters <= 2; masters++) {
            struct virtual_config config = config_of(masters, "fac2");
            config.spec.sync_points = points;
            config.reach = points % 3;
            assert_serial(&config);
        }
}
END_TEST

/* Boundary data that are too long for a control message go by themselves. */
START_TEST(boundary_data_may_be_long)
{
    for (unsigned masters = 0; masters <= 2; masters++) {
        struct virtual_config config = config_of(masters, "tss");
        config.count = 30;
        config.columns = 5000;
        config.spec.sync_points = 3;
        assert_serial(&config);
    }
}
END_TEST

START_TEST(there_may_be_few_rows)
{
    for (uint64_t rows = 0; rows <= WORKERS + 1; rows++)
        for (unsigned masters = 0; masters <= 2; masters++)
            for (unsigned k = 0; k < 2; k++) {
                struct virtual_config config = config_of(masters, k > 0 ? "gss" : "ss");
                config.count = rows;
                config.spec.power = rows % 2 ? RUN_POWER_MEASURE : RUN_POWER_EQUAL;
                assert_serial(&config);
            }
}
END_TEST

START_TEST(there_may_be_one_column)
{
    struct virtual_config config = config_of(1, "ss");
    config.columns = 1;
    assert_serial(&config);
}
END_TEST

/* A chunk that is smaller than a dependence is long would need two chunks before it. */
START_TEST(no_chunk_is_smaller_than_the_distance)
{
    static const char *const techniques[] = {"ss", "gss", "fac2", "rnd", "awf-c"};
    static const double speeds[WORKERS] = {1, 0.1, 5, 2};
    for (unsigned masters = 0; masters <= 2; masters++)
        for (uint64_t distance = 1; distance <= 40; distance += 13)
            for (unsigned i = 0; i < sizeof techniques / sizeof *techniques; i++) {
                struct virtual_config config = config_of(masters, techniques[i]);
                struct virtual_result result;
                config.distance = distance;
                config.count = ROWS + 1;
                config.speeds = speeds;
                config.spec.power = RUN_POWER_MEASURE;
                config.spec.weighting = SCHED_WEIGHTING_POWER;
                assert_serial(&config);
                struct virtual_cluster *cluster = cluster_ran(&config, &result);
                ck_assert_uint_ge(result.supermaster->config.spec->min_chunk, distance);
                ck_assert_uint_le(result.supermaster->cut.chunks, (config.count + distance - 1) / distance);
                virtual_free(cluster);
            }
}
END_TEST

/* One who computes all sends nothing. */
START_TEST(who_is_his_own_successor_sends_nothing)
{
    for (unsigned masters = 0; masters <= 1; masters++) {
        struct virtual_config config = config_of(masters, "css:chunk=7");
        struct virtual_result result;
        config.workers = 1;
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        ck_assert_int_eq(result.status, 0);
        ck_assert_uint_eq(result.handed_over, 0);
        ck_assert_uint_eq(result.reused, result.supermaster->cut.chunks - 1);
        virtual_free(cluster);
        assert_serial(&config);
    }
}
END_TEST

/* With as many steps as there are workers and one chunk each, the loop is done in about twice the time of one chunk; in
 * one step, one chunk after the other. */
START_TEST(chunks_overlap_by_steps)
{
    uint64_t end_ns[2];
    for (unsigned k = 0; k < 2; k++) {
        struct virtual_config config = config_of(0, "static");
        struct virtual_result result;
        config.cost_ns = NULL;
        config.columns = 16;
        config.spec.sync_points = k == 0 ? 1 : 16;
        config.latency_ns = config.service_ns = 10;
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        end_ns[k] = result.end_ns;
        virtual_free(cluster);
    }
    ck_assert_uint_ge(end_ns[0], ROWS * 1000);
    ck_assert_uint_le(end_ns[1], ROWS * 1000 / WORKERS * 19 / 16 + 5000);
}
END_TEST

/* --- ends --- */

START_TEST(a_drain_does_not_wait_for_what_may_never_come)
{
    unsigned drained = 0;
    for (unsigned masters = 0; masters <= 2; masters++)
        for (uint64_t at = 1; at < 2500000; at += 40000) {
            struct virtual_config config = config_of(masters, "gss");
            struct virtual_result result;
            config.drain_at_ns = at;
            config.drain_rank = masters + (unsigned)(at % WORKERS);
            struct virtual_cluster *cluster = cluster_ran(&config, &result);
            drained += result.status == EXIT_STATUS_DRAINED;
            ck_assert(result.status == EXIT_STATUS_DRAINED || result.status == EXIT_STATUS_DONE);
            ck_assert_uint_eq(result.misled, 0);
            ck_assert_uint_eq(result.wrong, 0);
            ck_assert_uint_lt(result.end_ns, at + 3000000);
            virtual_free(cluster);
        }
    ck_assert_uint_gt(drained, 20);
}
END_TEST

/* --- lost workers and masters --- */

/* The run ends in order, unless it is done. Returns whether all of the faults came to pass. */
static bool assert_ends(const struct virtual_config *config)
{
    struct virtual_result result;
    struct virtual_cluster *cluster = cluster_ran(config, &result);
    const struct supermaster *supermaster = result.supermaster;
    const char *text = supermaster->failure.text;
    const bool is_done = result.status == EXIT_STATUS_DONE;
    ck_assert_msg(is_done || result.status == EXIT_STATUS_FAILED, "%s with %u masters ends with %d: %s",
                  config->technique, config->masters, result.status, text);
    ck_assert_uint_eq(result.misled, 0);
    ck_assert_uint_eq(result.wrong, 0);
    ck_assert_uint_eq(result.drops, 0);
    ck_assert(!is_done || supermaster->ledger.digest == virtual_serial_checksum(config));
    ck_assert_msg(is_done || strstr(text, " was lost") != NULL, "%s", text);
    ck_assert(is_done || !supermaster_is_interrupted(supermaster)); /* without a journal */
    ck_assert_uint_le(result.executed, config->count);
    virtual_free(cluster);
    return result.hits == config->fault_count;
}

/* Behind each event that it handles, and in the middle of what it does then; others are lost after so many of theirs.
 */
static void assert_ends_whenever_lost(const struct virtual_config *config, unsigned rank, unsigned others,
                                      unsigned after_actions)
{
    bool hit = true;
    for (uint64_t event = 1; hit; event++) {
        struct virtual_fault faults[2 * WORKERS];
        struct virtual_config disturbed = *config;
        disturbed.faults = faults;
        disturbed.fault_count = 1 + others;
        disturbed.detect_ns = 1000;
        disturbed.fault_seed = event;
        for (unsigned i = 0; i <= others; i++)
            faults[i] = (struct virtual_fault){
                .type = VIRTUAL_KILL, .rank = rank + i, .at_event = event + 2 * i, .after_actions = after_actions};
        hit = assert_ends(&disturbed);
    }
}

START_TEST(a_lost_rank_ends_the_run_in_order)
{
    static const char *const techniques[] = {"fac2", "ss", "css:chunk=4", "static"};
    for (unsigned masters = 0; masters <= 2; masters++)
        for (unsigned i = 0; i < sizeof techniques / sizeof *techniques; i++)
            for (unsigned after_actions = 0; after_actions < 3; after_actions++) {
                struct virtual_config config = config_of(masters, techniques[i]);
                config.count = 40;
                config.collect = i % 2;
                config.slice_iterations = masters;
                assert_ends_whenever_lost(&config, masters + 1 + (i + after_actions) % WORKERS, 0, after_actions);
                if (masters > 0)
                    assert_ends_whenever_lost(&config, 1 + i % masters, 0, after_actions);
            }
}
END_TEST

START_TEST(several_ranks_may_be_lost)
{
    for (unsigned masters = 0; masters <= 2; masters++)
        for (unsigned others = 1; others < WORKERS; others++) {
            struct virtual_config config = config_of(masters, "css:chunk=3");
            config.count = 40;
            assert_ends_whenever_lost(&config, 1, others, others % 3);
        }
}
END_TEST

START_TEST(long_boundary_data_may_be_on_their_way)
{
    for (unsigned masters = 0; masters <= 2; masters++) {
        struct virtual_config config = config_of(masters, "css:chunk=3");
        config.count = 20;
        config.columns = 1000;
        config.spec.sync_points = 2;
        config.spec.ask_ahead = ASK_AHEAD_FIXED;
        config.spec.ask_ahead_chunks = 2;
        assert_ends_whenever_lost(&config, masters + 2, 1, 0);
        assert_ends_whenever_lost(&config, masters > 0 ? masters : 1, 0, 0);
    }
}
END_TEST

/* Nobody has any boundary data yet, nor does who was lost before the job began. */
START_TEST(before_the_first_chunk_a_lost_rank_costs_nothing)
{
    for (unsigned k = 0; k < 4; k++) {
        const unsigned masters = k < 3 ? k : 2;
        const struct virtual_fault fault = {.type = VIRTUAL_KILL, .rank = k < 3 ? masters + 2 : 1, .at_event = 2};
        struct virtual_config config = config_of(masters, "gss");
        struct virtual_result result;
        config.spec.power = RUN_POWER_MEASURE;
        config.faults = &fault;
        config.fault_count = 1;
        config.detect_ns = 1000;
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        ck_assert_int_eq(result.status, EXIT_STATUS_DONE);
        ck_assert_uint_eq(result.supermaster->losses.workers_lost + result.supermaster->losses.masters_lost, 1);
        ck_assert_uint_eq(result.supermaster->ledger.digest, virtual_serial_checksum(&config));
        virtual_free(cluster);
    }
}
END_TEST

/* --- helpers that die --- */

/* Some rows kill their helper once on each worker; where it is wanted the last row does each time. */
static enum virtual_outcome kill_helpers(void *context, unsigned rank, uint64_t row)
{
    (void)rank;
    bool last_too = context != NULL;
    return row % 7 == 2 ? VIRTUAL_FAILS : last_too && row == ROWS - 1 ? VIRTUAL_CRASHES : VIRTUAL_WORKS;
}

/* Deaths of helpers are told, and change nothing; without the last row the loop is done, too. */
START_TEST(helpers_that_die_cost_no_worker)
{
    static const char *const techniques[] = {"fac2", "ss", "css:chunk=50"};
    static char last_too;
    for (unsigned masters = 0; masters <= 2; masters++)
        for (unsigned i = 0; i < 3; i++)
            for (unsigned k = 0; k < 2; k++) {
                struct virtual_config config = config_of(masters, techniques[i]);
                struct virtual_result result;
                config.outcome = kill_helpers;
                config.context = k > 0 ? &last_too : NULL;
                config.cost_ns = NULL;
                config.collect = i > 0;
                config.slice_iterations = i == 1 ? 0 : 10;
                struct virtual_cluster *cluster = cluster_ran(&config, &result);
                const struct supermaster *supermaster = result.supermaster;
                ck_assert_msg(result.status == (k > 0 ? EXIT_STATUS_TASKS : EXIT_STATUS_DONE), "%s, %u masters: %d %s",
                              techniques[i], masters, result.status, supermaster->failure.text);
                ck_assert_uint_eq(result.misled, 0);
                ck_assert_uint_eq(result.wrong, 0);
                ck_assert_uint_eq(result.drops, 0);
                ck_assert_uint_eq(supermaster->ledger.done, ROWS - k);
                ck_assert_uint_eq(ranges_total(&supermaster->ledger.failed), k);
                ck_assert_uint_ge(supermaster->failures.seen, ROWS / 7);
                virtual_free(cluster);
            }
}
END_TEST

/* --- deaths in earlier runs --- */

enum { DEADLY = 50, TRIES = 3 };

static enum virtual_outcome kill_helper_once(void *context, unsigned rank, uint64_t row)
{
    (void)context, (void)rank;
    return row == DEADLY ? VIRTUAL_FAILS : VIRTUAL_WORKS;
}

/* A run, all of whose iterations are to be done, of a job that has a journal with this. */
static struct virtual_cluster *ran_after(unsigned masters, struct poison *deaths, struct virtual_config *config,
                                         struct virtual_result *result)
{
    static struct poison_set earlier;
    earlier = (struct poison_set){.items = deaths, .count = 1};
    *config = config_of(masters, "css:chunk=9");
    config->spec.retries = TRIES - 1;
    config->outcome = kill_helper_once;
    config->cost_ns = NULL;
    config->journal = true;
    config->deaths = deaths->count > 0 ? &earlier : NULL;
    return cluster_ran(config, result);
}

START_TEST(deaths_of_helpers_are_recorded)
{
    for (unsigned masters = 0; masters <= 2; masters++) {
        struct virtual_config config;
        struct virtual_result result;
        struct virtual_cluster *cluster = ran_after(masters, &(struct poison){0}, &config, &result);
        ck_assert_int_eq(result.status, EXIT_STATUS_DONE);
        ck_assert_uint_eq(result.deaths->count, 1);
        ck_assert_uint_eq(result.deaths->items[0].first, DEADLY);
        ck_assert_uint_eq(result.deaths->items[0].count, 1);
        ck_assert_uint_eq(result.deaths->items[0].failures, 1);
        virtual_free(cluster);
    }
}
END_TEST

/* The worker does not know of the tries before. */
START_TEST(the_last_try_of_all_runs_ends_the_run)
{
    for (unsigned masters = 0; masters <= 2; masters++)
        for (unsigned before = 1; before < TRIES; before++) {
            struct poison deaths = {.first = DEADLY, .count = 1, .failures = before};
            struct virtual_config config;
            struct virtual_result result;
            struct virtual_cluster *cluster = ran_after(masters, &deaths, &config, &result);
            const char *text = result.supermaster->failure.text;
            ck_assert_int_eq(result.status, before + 1 < TRIES ? EXIT_STATUS_DONE : EXIT_STATUS_FAILED);
            ck_assert_str_eq(text, before + 1 < TRIES ? ""
                                                      : "iteration 50 killed the child process: given up, and what "
                                                        "depends on it cannot be computed");
            ck_assert_uint_eq(result.misled + result.wrong, 0);
            virtual_free(cluster);
        }
}
END_TEST

START_TEST(what_has_died_too_often_ends_the_next_run_at_once)
{
    for (unsigned masters = 0; masters <= 2; masters++)
        for (unsigned k = 0; k < 2; k++) {
            struct poison deaths = {.first = DEADLY, .count = 1 + k, .failures = k > 0 ? TRIES : 0};
            struct virtual_config config;
            struct virtual_result result;
            deaths.deaths = k > 0 ? 0 : DEPENDENT_DEATHS_MAX;
            struct virtual_cluster *cluster = ran_after(masters, &deaths, &config, &result);
            ck_assert_int_eq(result.status, EXIT_STATUS_FAILED);
            ck_assert_str_eq(result.supermaster->failure.text,
                             k == 0 ? "what ran iteration 50 in earlier runs has died, and what depends on it cannot "
                                      "be computed (--resume failed tries it again)"
                                    : "what ran iterations 50 to 51 in earlier runs has died, and what depends on them "
                                      "cannot be computed (--resume failed tries them again)");
            ck_assert_uint_eq(result.executed, 0);
            virtual_free(cluster);
        }
}
END_TEST

START_TEST(the_last_row_is_given_up_before_the_next_run)
{
    for (unsigned masters = 0; masters <= 2; masters++) {
        struct poison deaths = {.first = ROWS - 1, .count = 1, .failures = TRIES};
        struct virtual_config config;
        struct virtual_result result;
        struct virtual_cluster *cluster = ran_after(masters, &deaths, &config, &result);
        ck_assert_int_eq(result.status, EXIT_STATUS_TASKS);
        ck_assert_uint_eq(result.supermaster->ledger.done, ROWS - 1);
        ck_assert_uint_eq(ranges_total(&result.supermaster->ledger.failed), 1);
        ck_assert_uint_eq(result.executed, ROWS - 1);
        ck_assert_uint_eq(result.misled + result.wrong + result.drops, 0);
        virtual_free(cluster);
    }
}
END_TEST

/* Nothing follows behind what is given up, and yet no chunk in front of it is smaller than the distance. */
START_TEST(no_chunk_is_smaller_than_the_distance_before_what_was_given_up)
{
    static const char *const techniques[] = {"ss", "gss", "fac2", "css:chunk=9", "static"};
    for (unsigned masters = 0; masters <= 2; masters++)
        for (uint64_t distance = 2; distance <= 20; distance += 3)
            for (unsigned i = 0; i < sizeof techniques / sizeof *techniques; i++) {
                struct poison deaths = {.first = ROWS - 1, .count = 1, .failures = TRIES};
                struct poison_set earlier = {.items = &deaths, .count = 1};
                struct virtual_config config = config_of(masters, techniques[i]);
                struct virtual_result result;
                config.distance = distance;
                config.spec.retries = TRIES - 1;
                config.journal = true;
                config.deaths = &earlier;
                struct virtual_cluster *cluster = cluster_ran(&config, &result);
                ck_assert_int_eq(result.status, EXIT_STATUS_TASKS);
                ck_assert_uint_eq(result.supermaster->ledger.done, ROWS - 1);
                ck_assert_uint_eq(result.misled + result.wrong + result.drops, 0);
                virtual_free(cluster);
            }
}
END_TEST

/* A run was lost whose chunks met at row 103, and the next one had done 100 rows. */
START_TEST(what_is_too_little_for_a_chunk_is_given_up_with_what_is_behind)
{
    enum { DONE = 100, DIED = 103, DISTANCE = 9 };
    for (unsigned masters = 0; masters <= 2; masters++) {
        struct poison deaths = {.first = DIED, .count = ROWS - DIED, .deaths = DEPENDENT_DEATHS_MAX};
        struct poison_set earlier = {.items = &deaths, .count = 1};
        struct virtual_config config = config_of(masters, "gss");
        struct virtual_result result;
        struct ranges done;
        ranges_init(&done);
        ck_assert_int_eq(ranges_add(&done, 0, DONE, NULL), 0);
        config.distance = DISTANCE;
        config.journal = true;
        config.deaths = &earlier;
        config.done = &done;
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        ck_assert_int_eq(result.status, EXIT_STATUS_TASKS);
        ck_assert_uint_eq(ranges_total(&result.supermaster->ledger.failed), ROWS - DONE);
        ck_assert_uint_eq(result.supermaster->failures.list[0].range.first, DONE);
        ck_assert_uint_eq(result.misled + result.wrong + result.drops, 0);
        virtual_free(cluster);
        ranges_fini(&done);
    }
}
END_TEST

/* Workers were lost with the row in earlier runs, and this one loses the last that may be. */
START_TEST(lost_workers_are_counted_over_runs)
{
    for (unsigned masters = 0; masters <= 1; masters++) {
        struct poison deaths = {.count = 1, .deaths = DEPENDENT_DEATHS_MAX - 1};
        struct poison_set earlier = {.items = &deaths, .count = 1};
        const struct virtual_fault fault = {.type = VIRTUAL_KILL, .rank = masters + 1, .at_ns = 5000000};
        struct virtual_config config = config_of(masters, "gss");
        struct virtual_result result;
        config.workers = 2;
        config.count = 1;
        config.cost_ns = NULL;
        config.iteration_ns = 50000000;
        config.detect_ns = 1000;
        config.journal = true;
        config.deaths = &earlier;
        config.faults = &fault;
        config.fault_count = 1;
        struct virtual_cluster *cluster = cluster_ran(&config, &result);
        ck_assert_int_eq(result.status, EXIT_STATUS_FAILED);
        ck_assert_str_eq(result.supermaster->failure.text,
                         "4 workers were lost while they computed iteration 0, and what depends on it cannot be "
                         "computed; --overwrite begins anew");
        ck_assert_uint_eq(result.deaths->count, 1);
        ck_assert_uint_eq(result.deaths->items[0].deaths, DEPENDENT_DEATHS_MAX);
        ck_assert(!supermaster_is_interrupted(result.supermaster));
        virtual_free(cluster);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dependent");
    TCase *all = tcase_create("dependent");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, every_technique_gives_the_serial_result);
    tcase_add_test(all, a_chosen_technique_gives_the_serial_result);
    tcase_add_test(all, it_does_not_matter_when_chunks_are_asked_for);
    tcase_add_test(all, any_number_of_sync_points_will_do);
    tcase_add_test(all, boundary_data_may_be_long);
    tcase_add_test(all, there_may_be_few_rows);
    tcase_add_test(all, there_may_be_one_column);
    tcase_add_test(all, no_chunk_is_smaller_than_the_distance);
    tcase_add_test(all, who_is_his_own_successor_sends_nothing);
    tcase_add_test(all, chunks_overlap_by_steps);
    tcase_add_test(all, a_drain_does_not_wait_for_what_may_never_come);
    tcase_add_test(all, a_lost_rank_ends_the_run_in_order);
    tcase_add_test(all, several_ranks_may_be_lost);
    tcase_add_test(all, long_boundary_data_may_be_on_their_way);
    tcase_add_test(all, before_the_first_chunk_a_lost_rank_costs_nothing);
    tcase_add_test(all, helpers_that_die_cost_no_worker);
    tcase_add_test(all, deaths_of_helpers_are_recorded);
    tcase_add_test(all, the_last_try_of_all_runs_ends_the_run);
    tcase_add_test(all, what_has_died_too_often_ends_the_next_run_at_once);
    tcase_add_test(all, the_last_row_is_given_up_before_the_next_run);
    tcase_add_test(all, no_chunk_is_smaller_than_the_distance_before_what_was_given_up);
    tcase_add_test(all, what_is_too_little_for_a_chunk_is_given_up_with_what_is_behind);
    tcase_add_test(all, lost_workers_are_counted_over_runs);
    suite_add_tcase(suite, all);
    return suite_run_together(suite);
}
