/* SPDX-License-Identifier: MIT */
/* The journal under virtual time: what a run records is stored by then, is recorded once, and is enough to go on from,
 * with any other masters, workers and technique; the checksum at the end is that of an undisturbed run. */
#include "common/config/run_spec.h"
#include "common/machine/machine.h"
#include "common/service/poison.h"
#include "common/util/error.h"
#include "common/util/random.h"
#include "common/util/ranges.h"
#include "deploy/simulate/virtual/cluster.h"
#include "supermaster/ledger.h"
#include "supermaster/supermaster.h"
#include "tests/lib/cluster.h"
#include "tests/lib/suite.h"

#include <string.h>

static const char *const techniques[] = {"static", "ss", "css:chunk=7", "gss", "tss", "fac2", "dtss", "dfss", "awf-b"};
enum { TECHNIQUES = sizeof techniques / sizeof *techniques };

struct state {
    struct ranges done;
    struct poison_set deaths;
    uint64_t digest;
    unsigned runs;
};

static void take_over(struct state *state, const struct virtual_result *result)
{
    for (size_t i = 0; i < ranges_length(result->journalled); i++) {
        const struct range *range = ranges_at(result->journalled, i);
        uint64_t added;
        ck_assert_int_eq(ranges_add(&state->done, range->first, range->count, &added), 0);
        ck_assert_uint_eq(added, range->count); /* nothing that was done before */
    }
    for (size_t i = 0; i < result->deaths->count; i++) {
        const struct poison *deaths = &result->deaths->items[i];
        ck_assert_int_eq(poison_forget(&state->deaths, deaths->first, deaths->count), 0);
        ck_assert_int_eq(poison_add(&state->deaths, deaths), 0);
    }
    for (size_t i = 0; i < ranges_length(&state->done); i++) {
        const struct range *range = ranges_at(&state->done, i);
        ck_assert_int_eq(poison_forget(&state->deaths, range->first, range->count), 0);
    }
    state->digest += result->journalled_digest;
    state->runs++;
}

/* One run from what is done. What it has recorded is added; returns its status. */
static int run(struct virtual_config *config, struct state *state)
{
    config->journal = true;
    config->done = &state->done;
    config->done_digest = state->digest;
    config->deaths = &state->deaths;
    uint64_t before = ranges_total(&state->done);
    struct virtual_result result;
    struct virtual_cluster *cluster = cluster_ran(config, &result);
    ck_assert_msg(result.status >= 0, "%s hangs", config->technique);
    ck_assert_uint_eq(result.wrong + result.stored_twice + result.journalled_early, 0);
    ck_assert_uint_eq(result.supermaster->resumed, before);
    uint64_t own = ranges_total(result.journalled);
    ck_assert_uint_eq(result.supermaster->ledger.done, before + own); /* at the end all that is done is recorded */
    ck_assert_uint_eq(result.supermaster->ledger.digest, state->digest + result.journalled_digest);
    ck_assert(config->masters == 0 || !config->sync || own == 0 || result.syncs > 0);
    take_over(state, &result);
    virtual_free(cluster);
    return result.status;
}

static struct virtual_config random_config(struct random *random, uint64_t count)
{
    return (struct virtual_config){
        .masters = (unsigned)random_between(random, 0, 3),
        .workers = (unsigned)random_between(random, 1, 9),
        .nodes = (unsigned)random_between(random, 1, 2),
        .technique = techniques[random_next(random) % TECHNIQUES],
        .spec.min_chunk = random_between(random, 1, 3),
        .first = 1000,
        .count = count,
        .spec.power = random_next(random) % 2 ? RUN_POWER_MEASURE : RUN_POWER_EQUAL,
        .collect = random_next(random) % 2,
        .sync = random_next(random) % 2,
        .latency_ns = 2000,
        .service_ns = 500,
    };
}

START_TEST(runs_that_are_drained_are_resumed_until_done)
{
    struct random random;
    random_init(&random, (uint64_t)_i);
    for (int trial = 0; trial < 40; trial++) {
        uint64_t count = random_between(&random, 0, 3000);
        struct state state = {0};
        int status = EXIT_STATUS_DRAINED;
        for (int runs = 0; status != EXIT_STATUS_DONE; runs++) {
            struct virtual_config config = random_config(&random, count);
            /* a run takes about 1 us for each iteration and worker, after the probe */
            config.drain_at_ns = runs < 20 ? 1 + random_between(&random, 0, 200 * count) : NEVER;
            config.drain_rank = (unsigned)random_between(&random, 0, config.masters + config.workers);
            status = run(&config, &state);
        }
        ck_assert_uint_eq(ranges_total(&state.done), count);
        ck_assert_uint_eq(state.digest, virtual_checksum(1000, count));
        ranges_fini(&state.done);
    }
}
END_TEST

START_TEST(a_store_that_fails_is_not_recorded)
{
    for (uint64_t fails = 1; fails < 60; fails += 7) {
        struct state state = {0};
        struct virtual_config config = {.masters = (unsigned)_i,
                                        .workers = 3,
                                        .nodes = 1,
                                        .technique = "ss",
                                        .spec.min_chunk = 1,
                                        .count = 200,
                                        .collect = true,
                                        .latency_ns = 2000,
                                        .service_ns = 500,
                                        .failing_store = fails};
        ck_assert_int_eq(run(&config, &state), EXIT_STATUS_FAILED);
        ck_assert_uint_lt(ranges_total(&state.done), 200);
        config.failing_store = 0;
        ck_assert_int_eq(run(&config, &state), EXIT_STATUS_DONE);
        ck_assert_uint_eq(state.digest, virtual_checksum(0, 200));
        ranges_fini(&state.done);
    }
}
END_TEST

START_TEST(a_complete_journal_leaves_nothing_to_do)
{
    struct state state = {0};
    struct virtual_config config = {.masters = (unsigned)_i,
                                    .workers = 3,
                                    .nodes = 1,
                                    .technique = "fac2",
                                    .spec.min_chunk = 1,
                                    .count = 200,
                                    .latency_ns = 2000,
                                    .service_ns = 500};
    ck_assert_int_eq(run(&config, &state), EXIT_STATUS_DONE);
    ck_assert_int_eq(run(&config, &state), EXIT_STATUS_DONE);
    ck_assert_uint_eq(ranges_total(&state.done), 200);
    ranges_fini(&state.done);
}
END_TEST

/* gss hands out the P-th part of what remains: of what remains of the loop, not of the loop. */
START_TEST(a_technique_cuts_what_is_left)
{
    struct ranges done;
    ranges_init(&done);
    ck_assert_int_eq(ranges_add(&done, 0, 600, NULL), 0);
    struct virtual_config config = {.workers = 4,
                                    .nodes = 1,
                                    .technique = "gss",
                                    .spec.min_chunk = 1,
                                    .count = 1000,
                                    .latency_ns = 2000,
                                    .service_ns = 500,
                                    .done = &done};
    struct virtual_result result;
    struct virtual_cluster *cluster = cluster_ran(&config, &result);
    ck_assert_int_eq(result.status, EXIT_STATUS_DONE);
    ck_assert_uint_eq(result.executed, 400);
    uint64_t chunks = result.supermaster->cut.chunks;
    virtual_free(cluster);
    config.done = NULL;
    config.count = 400;
    cluster = cluster_new(&config);
    result = virtual_run(cluster);
    ck_assert_uint_eq(chunks, result.supermaster->cut.chunks);
    virtual_free(cluster);
    ranges_fini(&done);
}
END_TEST

/* A journalled loop of 100,000 chunks of one iteration. */
static struct virtual_config short_chunks(unsigned masters)
{
    return (struct virtual_config){.masters = masters,
                                   .workers = 4,
                                   .nodes = 1,
                                   .technique = "ss",
                                   .spec.min_chunk = 1,
                                   .count = 100000,
                                   .latency_ns = 2000,
                                   .service_ns = 500,
                                   .journal = true};
}

/* 100,000 chunks in 0.05 s of virtual time and more make few writes: by time, not by chunk. */
START_TEST(groups_are_written_by_time)
{
    struct virtual_config config = short_chunks((unsigned)_i);
    struct virtual_result result;
    struct virtual_cluster *cluster = cluster_ran(&config, &result);
    ck_assert_int_eq(result.status, EXIT_STATUS_DONE);
    ck_assert_uint_eq(ranges_total(result.journalled), 100000);
    ck_assert_uint_le(result.journal_writes, 3 + result.end_ns / 50000000);
    ck_assert_uint_ge(result.journal_writes, result.end_ns / 60000000);
    virtual_free(cluster);
}
END_TEST

/* Whenever the supermaster is killed, all that it counts as done is recorded where iterations have effects, and what
 * has come in the last 50 ms is not where they have none. */
START_TEST(what_has_effects_is_recorded_at_once)
{
    uint64_t missing = 0;
    for (uint64_t at_ns = 1000000; at_ns < 4000000; at_ns += 300000) {
        const struct virtual_fault fault = {.type = VIRTUAL_KILL, .rank = 0, .at_ns = at_ns};
        struct virtual_config config = short_chunks((unsigned)_i / 2);
        config.no_speculation = _i % 2 == 0;
        config.faults = &fault;
        config.fault_count = 1;
        struct virtual_cluster *cluster = cluster_new(&config);
        const struct virtual_result result = virtual_run(cluster);
        ck_assert_uint_gt(result.supermaster->ledger.done, 0);
        missing += result.supermaster->ledger.done - ranges_total(result.journalled);
        virtual_free(cluster);
    }
    ck_assert(_i % 2 == 0 ? missing == 0 : missing > 100);
}
END_TEST

static enum virtual_outcome crash_at_77_and_150(void *context, unsigned rank, uint64_t iteration)
{
    (void)context, (void)rank;
    return iteration == 77 || iteration == 150 ? VIRTUAL_CRASHES : VIRTUAL_WORKS;
}

static struct virtual_config deadly_config(unsigned masters, unsigned workers)
{
    return (struct virtual_config){
        .masters = masters,
        .workers = workers,
        .nodes = 1,
        .technique = "css:chunk=20",
        .spec.min_chunk = 1,
        .spec.retries = 2,
        .count = 200,
        .collect = true,
        .latency_ns = 2000,
        .service_ns = 500,
        .outcome = crash_at_77_and_150,
    };
}

static void check_given_up(const struct state *state)
{
    struct poison found;
    ck_assert_uint_eq(ranges_total(&state->done), 198);
    ck_assert(!ranges_contains(&state->done, 77) && !ranges_contains(&state->done, 150));
    poison_look(&state->deaths, &(struct range){77, 1}, &found);
    ck_assert(found.deaths + found.failures > 2);
    poison_look(&state->deaths, &(struct range){150, 1}, &found);
    ck_assert(found.deaths + found.failures > 2);
    for (size_t i = 0; i < state->deaths.count; i++)
        ck_assert_uint_eq(state->deaths.items[i].count, 1);
}

/* With one worker a run ends with each death of it, and the next one knows more: with the third death of a chunk the
 * iteration is found. A run after that does not try again. */
START_TEST(deaths_count_from_run_to_run)
{
    struct state state = {0};
    int status = EXIT_STATUS_FAILED;
    while (status == EXIT_STATUS_FAILED) {
        struct virtual_config config = deadly_config((unsigned)_i, 1);
        ck_assert_uint_lt(state.runs, 8);
        status = run(&config, &state);
    }
    ck_assert_int_eq(status, EXIT_STATUS_TASKS);
    ck_assert_uint_eq(state.runs, 5); /* two for each of the two iterations, and the last */
    check_given_up(&state);
    for (int again = 0; again < 2; again++) {
        struct virtual_config config = deadly_config((unsigned)_i, 2);
        ck_assert_int_eq(run(&config, &state), EXIT_STATUS_TASKS);
        check_given_up(&state);
    }
    ranges_fini(&state.done);
    poison_fini(&state.deaths);
}
END_TEST

START_TEST(what_a_run_gave_up_the_next_one_does_not_try)
{
    struct state state = {0};
    struct virtual_config config = deadly_config((unsigned)_i, 6);
    ck_assert_int_eq(run(&config, &state), EXIT_STATUS_TASKS);
    check_given_up(&state);
    ck_assert_int_eq(run(&config, &state), EXIT_STATUS_TASKS);
    check_given_up(&state);
    for (size_t i = 0; i < state.deaths.count; i++) /* as with --resume failed */
        state.deaths.items[i] = (struct poison){state.deaths.items[i].first, 1, 2, 0, 0};
    config.outcome = NULL;
    ck_assert_int_eq(run(&config, &state), EXIT_STATUS_DONE);
    ck_assert_uint_eq(state.digest, virtual_checksum(0, 200));
    ck_assert_uint_eq(state.deaths.count, 0);
    ranges_fini(&state.done);
    poison_fini(&state.deaths);
}
END_TEST

/* Workers that are all lost while they probe, and those of which one has probed before the others are lost. */
START_TEST(deaths_in_a_probe_count_where_nobody_survives_it)
{
    const unsigned masters = (unsigned)_i % 2, workers = 3;
    const bool one_survives = _i / 2 > 0;
    struct virtual_fault faults[3];
    for (unsigned w = 0; w < workers; w++)
        faults[w] = (struct virtual_fault){
            .type = VIRTUAL_KILL, .rank = 1 + masters + w, .at_ns = w == 0 && one_survives ? 4300000 : 1000000};
    struct virtual_config config = deadly_config(masters, workers);
    config.outcome = NULL;
    config.count = 100000;
    config.spec.power = RUN_POWER_MEASURE;
    config.faults = faults;
    config.fault_count = workers;
    config.detect_ns = 1000;
    struct state state = {0};
    ck_assert_int_eq(run(&config, &state), EXIT_STATUS_FAILED);
    unsigned probed = 0;
    for (size_t i = 0; i < state.deaths.count; i++) {
        ck_assert_uint_eq(state.deaths.items[i].deaths, 1);
        probed += state.deaths.items[i].count == 1;
    }
    ck_assert_uint_eq(probed, one_survives ? 0 : 64);
    config.fault_count = 0;
    ck_assert_int_eq(run(&config, &state), EXIT_STATUS_DONE);
    ck_assert_uint_eq(state.digest, virtual_checksum(0, 100000));
    ck_assert_uint_eq(state.deaths.count, 0);
    ranges_fini(&state.done);
    poison_fini(&state.deaths);
}
END_TEST

static enum virtual_outcome crash_now_and_then(void *context, unsigned rank, uint64_t iteration)
{
    (void)context, (void)rank;
    return iteration % 97 == 5 ? VIRTUAL_CRASHES : VIRTUAL_WORKS;
}

/* With any line-up in each run, and runs that are drained: at last exactly what kills is given up. */
START_TEST(only_what_kills_is_given_up)
{
    struct random random;
    random_init(&random, (uint64_t)_i + 100);
    for (int trial = 0; trial < 20; trial++) {
        uint64_t count = random_between(&random, 1, 600), bad = 0;
        struct state state = {0};
        int status = EXIT_STATUS_FAILED;
        for (uint64_t i = 1000; i < 1000 + count; i++)
            bad += crash_now_and_then(NULL, 0, i) == VIRTUAL_CRASHES;
        for (int runs = 0; status == EXIT_STATUS_FAILED || status == EXIT_STATUS_DRAINED; runs++) {
            struct virtual_config config = random_config(&random, count);
            config.outcome = crash_now_and_then;
            config.spec.retries = 2;
            config.drain_at_ns = runs % 2 ? 1 + random_between(&random, 0, 200 * count) : NEVER;
            ck_assert_int_lt(runs, 60);
            status = run(&config, &state);
        }
        ck_assert_int_eq(status, bad > 0 ? EXIT_STATUS_TASKS : EXIT_STATUS_DONE);
        ck_assert_uint_eq(ranges_total(&state.done), count - bad);
        for (uint64_t i = 1000; i < 1000 + count; i++)
            ck_assert(ranges_contains(&state.done, i) == (crash_now_and_then(NULL, 0, i) != VIRTUAL_CRASHES));
        ranges_fini(&state.done);
        poison_fini(&state.deaths);
    }
}
END_TEST

/* An earlier run has given up the last iteration of a time step. The last worker that is still to probe dies: nobody
 * asks for anything any more. */
START_TEST(a_step_without_its_last_iteration_ends_the_run)
{
    struct poison known = {.first = 77, .count = 1, .failures = 3};
    struct poison_set deaths = {.items = &known, .count = 1, .capacity = 1};
    const struct virtual_fault fault = {.type = VIRTUAL_KILL, .rank = 3, .at_ns = 20000000};
    const double speeds[] = {1, 1, 0.00001};
    struct ranges done;
    struct virtual_result result;
    ranges_init(&done);
    ck_assert_int_eq(ranges_add(&done, 0, 77, NULL), 0);
    ck_assert_int_eq(ranges_add(&done, 78, 22, NULL), 0);
    struct virtual_config config = deadly_config(0, 3);
    config.outcome = NULL;
    config.spec.power = RUN_POWER_MEASURE;
    config.step_iterations = 100;
    config.steps_dependent = true;
    config.journal = true;
    config.done = &done;
    config.done_digest = virtual_checksum(0, 77) + virtual_checksum(78, 22);
    config.deaths = &deaths;
    config.speeds = speeds;
    config.faults = &fault;
    config.fault_count = 1;
    struct virtual_cluster *cluster = cluster_ran(&config, &result);
    ck_assert_int_eq(result.status, EXIT_STATUS_FAILED);
    ck_assert_ptr_nonnull(strstr(result.supermaster->failure.text, "time step 0 is not complete"));
    ck_assert_uint_eq(result.supermaster->losses.workers_lost, 1);
    virtual_free(cluster);
    ranges_fini(&done);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("resume");
    TCase *tests = tcase_create("all");
    tcase_set_timeout(tests, 100);
    tcase_add_loop_test(tests, runs_that_are_drained_are_resumed_until_done, 0, 10);
    tcase_add_loop_test(tests, a_store_that_fails_is_not_recorded, 0, 3);
    tcase_add_loop_test(tests, a_complete_journal_leaves_nothing_to_do, 0, 3);
    tcase_add_test(tests, a_technique_cuts_what_is_left);
    tcase_add_loop_test(tests, groups_are_written_by_time, 0, 2);
    tcase_add_loop_test(tests, what_has_effects_is_recorded_at_once, 0, 4);
    tcase_add_loop_test(tests, deaths_count_from_run_to_run, 0, 2);
    tcase_add_loop_test(tests, what_a_run_gave_up_the_next_one_does_not_try, 0, 3);
    tcase_add_loop_test(tests, deaths_in_a_probe_count_where_nobody_survives_it, 0, 4);
    tcase_add_loop_test(tests, only_what_kills_is_given_up, 0, 10);
    tcase_add_test(tests, a_step_without_its_last_iteration_ends_the_run);
    suite_add_tcase(suite, tests);
    return suite_run_together(suite);
}
